// The signal that ends a blocking system call of one thread with EINTR, for who is to look at
// something else then (interpreter/cpython/interrupts.h).
//
// Which. A real-time signal, since those have no meaning of their own: the first from SIGRTMIN + 10
// up whose action is the default one, SIGRTMAX and the two below left out. The lowest and the
// highest are what programs take that do not look. setWakeSignal() chooses another one, or none.
//
// When. Its handler, which does nothing to the program, is installed at the first
// WakeableThread::wake(): a program that interrupts no call has none. It stays until the process
// ends, since a signal may be under way at any time and would end the process. Where the program
// puts a handler of its own in its place, the next free signal is taken. An interpreter whose code
// asks for the signal has its handler called for each wake, too, and wakes go on
// (signal_handlers.h).
//
// What it does to others. Only the thread that is woken gets it. The handler is without SA_RESTART,
// so whatever system call that thread is in fails with EINTR, in C code of libraries as well.
//
// Threads that block it (pthread_sigmask) are not woken. wake() says so from the second time on,
// and sends no further one until the first has been taken: real-time signals are queued, and the
// kernel has a limit on all that wait.
#pragma once

#include <pthread.h>

#include <atomic>

namespace multipy::process {

/// Chooses the signal: one that nothing else in the program uses, or 0 for none. Before the first
/// wake(). From any thread. Throws InvalidArgument: there is no such signal, or it has a handler.
void setWakeSignal(int number);
/// The one that is used, or 0: none so far, or none is to be had. Any thread.
int wakeSignal() noexcept;

enum class Woken {
  Sent,      // the signal is under way
  NotTaken,  // the last one still is: the thread blocks it, or has not run since
  NoSignal,  // none is free, or the program wants none
};

/// The calling thread, as one that others may wake. Made by that thread and destroyed before it
/// ends; costs no system call.
class WakeableThread {
 public:
  WakeableThread() noexcept;
  /// One that lives until the calling thread ends.
  static const WakeableThread& ofThisThread() noexcept;
  WakeableThread(const WakeableThread&) = delete;
  WakeableThread& operator=(const WakeableThread&) = delete;

  /// Ends the blocking system call that the thread is in. One that it is about to begin is not
  /// reached: repeat it for as long as there is a reason. By any thread, while this object lives.
  Woken wake() const noexcept;

 private:
  const pthread_t thread_;
  std::atomic<bool>& underWay_;  // the thread's own
};

}  // namespace multipy::process
