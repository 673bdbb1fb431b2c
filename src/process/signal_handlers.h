// Handlers of signals, for several interpreters and the program.
//
// A process has one handler for each signal, so of several copies of a library that each
// want SIGCHLD (libuv, for its child processes) only the last would have it, and with it
// would go the program's own. Therefore what an interpreter does with sigaction() or
// signal() ends here. Each interpreter has its own table of actions, the program has
// whatever it set itself, and while an interpreter wants a signal, the handler in the
// kernel is ours and calls what they want:
//
//   - Signals sent to the process (SIGCHLD, SIGINT, SIGUSR1, ...): the program's handler,
//     then that of each interpreter that has one.
//   - Signals that a thread brings upon itself (SIGSEGV, SIGPIPE, ...): the action of the
//     interpreter that the thread is in, if it has one, else the program's.
//
// What an interpreter wants ignored is ignored by the process, and by programs that it
// starts, where no interpreter has a handler and the program has left the signal as it was.
//
// Nothing is installed before an interpreter's code asks for it. When the last one takes
// its wish back (SIG_DFL, or what it had found) or ends, the program's own action is
// there again as it was. A handler that the program sets meanwhile has the signal alone,
// until an interpreter asks again: it is then the one that is called first.
//
// Threads: all functions from any thread, and from handlers. Children made by fork() or
// vfork() do as they like: there sigaction() is the system's.
#pragma once

#include <signal.h>

#include "base/interpreter_id.h"

namespace multipy::process {

/// sigaction(2) for the interpreter in `slot`. 0 or an errno value.
///
/// `old` is this interpreter's own action. Where it has none: the program's, but for a
/// handler of a signal to the process, which is called in any case: SIG_DFL.
int changeSignalAction(InterpreterId slot, int number, const struct sigaction* action,
                       struct sigaction* old) noexcept;

/// Does `handler`, which the program has set for that signal, run when it comes? By itself, or
/// called by ours beside interpreters' handlers.
bool isProgramsHandler(int number, void (*handler)(int)) noexcept;

/// At an interpreter's end: takes all of its wishes back. False if one of its handlers is
/// still running after a moment; its code must not be unloaded then.
bool forgetSignalActions(InterpreterId slot) noexcept;

}  // namespace multipy::process
