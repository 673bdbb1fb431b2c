// What an interpreter does around a fork() of a thread that is inside it.
//
// libc is given one set of handlers for all interpreters, which stays where it is. A set that an
// interpreter gave to libc by itself would be called by forks of every thread, also just when
// the interpreter is unloaded: libc keeps no lock while it calls one (glibc since 2.36).
//
// Threads: a thread that forks calls those of its own interpreter, which cannot be unloaded
// meanwhile.
#pragma once

#include "base/interpreter_id.h"

namespace multipy::process {

struct ForkHandlers {
  void (*prepare)() = nullptr;
  void (*inParent)() = nullptr;
  void (*inChild)() = nullptr;
};

/// Before a thread can be inside the interpreter. In place of those of the one that had the number
/// before. The resident copy's are not wanted: no thread is ever in it. (Without memory for it,
/// forks are as in a program that knows nothing of interpreters.)
void setForkHandlers(InterpreterId slot, const ForkHandlers& handlers) noexcept;

}  // namespace multipy::process
