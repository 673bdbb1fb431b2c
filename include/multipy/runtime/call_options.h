// What a program can ask of one call, or of the wait for a session: until when, by whom it may be
// ended, and which others it goes before.
//
//   CallOptions options;
//   options.deadline = CallOptions::in(200ms);
//   options.stop = source.get_token();
//   at::IValue y = model.call({x}, options);
//
// Waiting ends at the deadline, or when a stop is requested, with DeadlineExceededError or
// CancelledError; nothing of the call has been run then. A call that is running then is
// interrupted: multipy.Interrupted, a BaseException, is raised in its thread, at the next bytecode
// or in the call that blocks it (time.sleep, a lock, a socket, a child process). Code that handles
// it and returns a result has its result returned. C code that neither returns nor asks
// PyErr_CheckSignals() is out of reach: the calling thread is there until it ends.
//
// A call waits for an interpreter that is free, leaves its GIL free, or does something much longer.
// One with a deadline does not go in beside a call that keeps the GIL, as others do after a while.
//
// Threads: plain values. A std::stop_source may be asked from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>

namespace multipy::runtime {

/// Which of the calls that wait in line goes first; those of one priority in the order in which
/// they came. A steady stream of more important calls keeps less important ones waiting. How soon a
/// running call gets on does not depend on it.
enum class CallPriority { Low, Normal, High };
inline constexpr std::size_t kCallPriorities = 3;

struct CallOptions {
  using Clock = std::chrono::steady_clock;  // of deadlines

  /// None: it waits, and runs, for as long as it takes.
  std::optional<Clock::time_point> deadline;
  std::stop_token stop;                          // a stop that is requested of it ends the call
  CallPriority priority = CallPriority::Normal;  // its place in line
  /// Only an interpreter that no other call or session uses will do. (Another one may still join it
  /// there.) From inside an interpreter it makes no difference.
  bool alone = false;
  /// Whether deadline and stop also end it once it runs.
  bool interrupt = true;
  /// Whether what interrupts it also interrupts the threads that its Python code has started, and
  /// those that these have, as far as they run then. Threads that were there before, such as those
  /// of a pool, are let alone.
  bool interruptThreads = false;
  std::string tag;  // what observers are told of it, such as a request's id (PoolObserver)

  /// The point in time `patience` from now; of a negative one, now.
  static Clock::time_point in(Clock::duration patience) noexcept {
    const auto now = Clock::now();
    if (patience <= Clock::duration::zero()) return now;
    return patience < Clock::time_point::max() - now ? now + patience : Clock::time_point::max();
  }
};

}  // namespace multipy::runtime
