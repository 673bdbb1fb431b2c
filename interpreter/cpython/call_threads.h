// Which call a thread belongs to: the threads that Python code of one call has started, and those
// that these have started, can be interrupted with it.
//
// The host numbers the calls for which it wants to know. A thread inherits the number of the one
// that starts it (interpreter/libc/threads.cpp) and keeps it until it ends, also when the call has
// ended. A thread that was there before, of a pool for one, belongs to no later call that gives it
// work.
//
// Threads: as each function says.
#pragma once

#include <cstddef>
#include <cstdint>

namespace multipy {

/// The calling thread's call; 0: none. With or without the GIL.
std::uint64_t callOfThread() noexcept;
/// The calling thread belongs to that one from now on. Returns the one of before.
std::uint64_t setCallOfThread(std::uint64_t call) noexcept;

/// In a thread that Python or a private library has started: it belongs to that call, and is found,
/// for as long as this lives.
class StartedInCall {
 public:
  explicit StartedInCall(std::uint64_t call) noexcept;
  ~StartedInCall();
  StartedInCall(const StartedInCall&) = delete;
  StartedInCall& operator=(const StartedInCall&) = delete;

 private:
  friend class ThreadsInCalls;
  const std::uint64_t call_;
  unsigned long python_ = 0;        // the thread's number, as in its PyThreadState
  const void* wakeable_ = nullptr;  // the host's: HostServices::thisThread
  StartedInCall* next_ = nullptr;
};

/// Of those that run: multipy.Interrupted is pending in each. How many there are. With the GIL; no
/// exception is raised.
std::size_t interruptThreadsOf(std::uint64_t call);
/// Ends the blocking system calls that they are in. Any thread, with or without the GIL.
void wakeThreadsOf(std::uint64_t call);

}  // namespace multipy
