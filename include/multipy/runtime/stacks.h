// What every Python thread of every interpreter is doing, from C++.
//
//   std::cerr << toText(dumpStacks());
//
// An interpreter's stacks are taken with its GIL held, for as long as it takes to
// copy file, line and function of each frame. Where the GIL is not had in time
// (code of an extension that does not give it up), the stacks are those of a
// snapshot: the process is forked, and the child, which shares no memory that it
// could harm, walks them as CPython's faulthandler does. Such stacks may be cut
// short or, rarely, torn, and have no thread names.
//
// Threads: from any thread, also from one that is inside an interpreter (its GIL is
// given up meanwhile), and from several at once. Not from a signal handler.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace multipy::runtime {

struct StackFrame {      // a function that has been called
  std::string file;      // of the code, as Python has it
  int line = 0;          // that is being executed
  std::string function;  // qualified, from CPython 3.11 on, where the GIL was had
};

struct ThreadStack {               // one Python thread
  unsigned long thread = 0;        // threading.get_ident(): its pthread_t
  std::string name;                // threading.Thread.name; empty where Python knows none
  std::vector<StackFrame> frames;  // innermost first
};

struct InterpreterStacks {  // one interpreter
  int interpreter = 0;      // Interpreter::slot()
  /// Its GIL was not had in time; the stacks are those of a snapshot.
  bool busy = false;
  /// Why there are no stacks, or why they may be incomplete. Else empty.
  std::string note;
  /// Threads that are executing Python code, or wait in something it called.
  std::vector<ThreadStack> threads;
};

struct StackDumpOptions {  // how hard dumpStacks() tries
  /// How long to wait for the GILs, all at once. Running Python code gives its GIL up
  /// after 5 ms (sys.setswitchinterval), so this is for code that does not.
  std::chrono::milliseconds patience{200};
  /// Off: a busy interpreter is reported without stacks, and no fork is made.
  bool snapshots = true;
};

/// Of all live interpreters of this process, by number. HandleError in a child of fork().
std::vector<InterpreterStacks> dumpStacks(const StackDumpOptions& options = {});

/// For a log: one line a frame, as Python's own tracebacks have them.
std::string toText(const std::vector<InterpreterStacks>& stacks);

}  // namespace multipy::runtime
