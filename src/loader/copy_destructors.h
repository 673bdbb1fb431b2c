// The destructors (DT_FINI_ARRAY) of private copies in a child of fork().
//
// exit() runs the destructors of all loaded libraries. In a child, those of a library that has
// threads may wait for one that is not there: OpenBLAS's joins its own. Its handler of
// pthread_atfork() would have ended them before, but handlers of private code run only when
// its own interpreter forks (interpreter/libc/fork_handlers.cpp): no others can be used in the
// child. So there the others' destructors do not run.
//
// Threads: add() and remove() under the loading lock; skipInChild() in the child, by its
// only thread: it takes no lock and no memory.
#pragma once

#include <link.h>

#include "base/interpreter_id.h"

namespace multipy::loader {

class CopyDestructors {
 public:
  /// Of a copy that has been opened. Without memory they run in children, too.
  static void add(InterpreterId slot, void* handle) noexcept;
  /// Before it is closed.
  static void remove(void* handle) noexcept;
  /// In a child: none runs but those of `forked`, the interpreter that has forked, or none().
  static void skipInChild(InterpreterId forked) noexcept;
};

/// The entry of an object's dynamic section with this tag; null if it has none. (Writable: ld.so
/// looks at DT_FINI_ARRAYSZ when it runs the destructors.)
ElfW(Dyn) * dynamicEntry(const link_map& object, ElfW(Sxword) tag) noexcept;

}  // namespace multipy::loader
