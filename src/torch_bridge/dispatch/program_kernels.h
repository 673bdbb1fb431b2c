// What the program's own Python has registered with torch's dispatcher before there was a router:
// by itself, as C++ does. Interpreters must neither call its kernels nor stumble over its names.
//
//   kernels      stay where they are. A route is put over each place (operator, key) that has one:
//                the program's threads are led to it, and interpreters past it (kernel_lookup.h).
//   schemas      interpreters do not see them, as they do not see each other's; one that defines
//                the same becomes a further user. The schema stays for ever then.
//   namespaces   interpreters may own one that the program's Python owns.
//
// Python's can be told from C++'s: kernels by the type of their functor, the others by the
// file that torch notes for each.
//
// Not seen: fallthroughs and backend fallbacks.
//
// Threads: all functions from any thread.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <string>

namespace multipy::bridge {

/// Is it a Python kernel that the dispatcher itself has? (Interpreters' are in routes.)
bool isProgramsKernel(const c10::impl::AnnotatedKernel& kernel);
/// Of what torch notes for a library or schema, "registered at <file>:<line>": is it Python's?
bool isFromPython(const std::string& debug);

struct Definition;

/// A schema that the program's Python has defined is from now on shared as interpreters' are, and
/// stays. False if it has gone.
bool shareProgramsDefinition(const c10::OperatorName& name, Definition& definition);
/// Has the program's Python not taken it back? Of one that it had before there was a router.
bool isStillPrograms(const Definition& definition, const c10::OperatorName& name);

/// Writes down the schemas of the program's Python and puts routes over its kernels. Takes the
/// registration lock.
void adoptRegistrations();

}  // namespace multipy::bridge
