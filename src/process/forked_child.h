// Are we in a child of fork() made after multipy was first used?
//
// In such a child only the thread that forked exists. The interpreters' GILs may
// be held, for ever, by threads that do not, and so may any mutex that the fork did not
// take (base/fork_mutex.h). So nothing may be waited for there, and this must be
// asked before each operation; it costs one load, since the kernel itself clears the mark
// in the child.
#pragma once

namespace multipy::process {

/// True if this process was forked off after it was first asked.
bool inForkedChild() noexcept;

}  // namespace multipy::process
