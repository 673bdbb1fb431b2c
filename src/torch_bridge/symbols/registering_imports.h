// What libtorch_python registers with torch or sets there, as far as its symbol
// table tells: the functions of torch's shared libraries that it calls and whose
// names say so. Each changes state that may exist once per process, so each has
// been looked at, and is routed (abi/redirects.def) or listed with the reason
// why it need not be (known_registrations.txt). One that is neither belongs to a
// torch that has not been looked at.
//
// A name can only be judged by its words. A function that changes the process's
// state and is called otherwise is not found so.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "elf/shared_object.h"

namespace multipy::bridge {

/// True for a name whose last part says that it registers, sets, enables, installs
/// or overrides something, or adds a callback: "at::Context::setQEngine".
bool soundsLikeRegistering(const std::string& qualifiedName);

/// Imports of `libtorchPython` that are not in the table of redirected symbols and
/// sound like registering: qualified names without parameters, sorted.
std::vector<std::string> registeringImports(const elf::SharedObject& libtorchPython);

/// The names in such a file, one a line; # begins a comment. Throws Error where it
/// cannot be read.
std::set<std::string> knownRegistrations(const std::filesystem::path& file);

/// One line for each registering import that is not known.
std::vector<std::string> registrationDifferences(const elf::SharedObject& libtorchPython,
                                                 const std::set<std::string>& known);

}  // namespace multipy::bridge
