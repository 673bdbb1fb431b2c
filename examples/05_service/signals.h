// Signals without handlers: blocked in every thread, and taken by the one that waits for them.
//
// A handler interrupts a thread at any point and may do next to nothing there. Here signals are
// plain values that one thread takes one after the other, and may do anything about. For that they
// have to be blocked before any other thread is started, since threads inherit what is blocked.
//
// So do processes that Python code of the model starts: one that must react to SIGTERM unblocks it
// (`subprocess.Popen(..., preexec_fn=...)`), or is ended with SIGKILL.
#pragma once

#include <csignal>
#include <initializer_list>

namespace service {

class Signals {
 public:
  /// Blocks these in the calling thread and in all that it starts. First thing in main().
  explicit Signals(std::initializer_list<int> numbers);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The next one; it waits for it. One that came earlier is not lost. Several of one kind that
  /// came since the last wait() are one.
  int wait();

  /// From now on they do what they do by default, which is to end the process.
  void release();

 private:
  sigset_t set_;
};

}  // namespace service
