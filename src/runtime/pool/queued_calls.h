// Calls that no thread of the program waits for, and the threads that make them.
//
// There are as many threads as interpreters: more would only wait in the CallQueue. A call that
// finds none of them idle is in line here, by its priority; it leaves the line when a thread takes
// it, at its deadline, when a stop is requested of it, or with the line itself. Each of these
// happens at most once to a call, and one of them does.
//
// Threads: add() from any thread, which waits for nothing; stop() by the one that destroys the
// manager. The threads hold no GIL but that of the call which they make. A child of fork() has none
// of them and leaves all of this alone, the destructor too.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "multipy/runtime/call_options.h"
#include "runtime/pool/timer.h"

namespace multipy::runtime {

class QueuedCalls;

/// A call in line. One of its two functions is called, once, without a lock.
class QueuedCall {
 public:
  enum class Refusal { LineIsFull, DeadlinePassed, Stopped, ManagerGone };

  explicit QueuedCall(const CallOptions& of) : options(of) {}
  virtual ~QueuedCall() = default;
  /// By one of the threads.
  virtual void make() noexcept = 0;
  virtual void refuse(Refusal why) noexcept = 0;

  const CallOptions options;
  const CallOptions::Clock::time_point since = CallOptions::Clock::now();  // that it waits

 private:
  friend class QueuedCalls;
  struct Stop {
    QueuedCalls& calls;
    std::weak_ptr<QueuedCall> call;
    void operator()() const noexcept;
  };
  std::list<std::shared_ptr<QueuedCall>>::iterator place_;  // while it is in line
  bool inLine_ = false;                                     // guarded by the line's mutex
  Timer::Id expiry_ = 0;
  std::optional<std::stop_callback<Stop>> onStop_;
};

class QueuedCalls {
 public:
  /// `bounds` of those in line, of all and of each priority, beside those that `others` counts.
  QueuedCalls(Timer& timer, std::size_t threads, std::size_t most,
              const std::array<std::size_t, kCallPriorities>& mostOf,
              std::function<std::size_t()> others);
  ~QueuedCalls();
  QueuedCalls(const QueuedCalls&) = delete;
  QueuedCalls& operator=(const QueuedCalls&) = delete;

  enum class Added { Yes, LineIsFull, Ended };
  /// Throws EnvironmentError where no thread is to be had, and std::bad_alloc: it has not been
  /// added.
  Added add(std::shared_ptr<QueuedCall> call);
  /// From now on as many threads make calls; those that there are stay.
  void allowThreads(std::size_t most) noexcept;
  /// Refuses those in line, waits for those being made, and takes no more.
  void stop() noexcept;

  std::size_t inLine() const noexcept;
  /// Since when the one waits that has waited for longest. Nothing: none does.
  std::optional<CallOptions::Clock::time_point> oldest() const noexcept;
  std::array<std::size_t, kCallPriorities> inLineByPriority() const noexcept;

 private:
  friend class QueuedCall;
  using Line = std::list<std::shared_ptr<QueuedCall>>;

  void work() noexcept;
  std::shared_ptr<QueuedCall> takeFirst() MULTIPY_REQUIRES(mutex_);
  /// Takes it out of the line. False: it is in there no more.
  bool take(QueuedCall& call) MULTIPY_REQUIRES(mutex_);
  void end(const std::shared_ptr<QueuedCall>& call, QueuedCall::Refusal why) noexcept;
  void endSoon(const std::shared_ptr<QueuedCall>& call, QueuedCall::Refusal why);
  void watch(const std::shared_ptr<QueuedCall>& call);
  void unwatch(QueuedCall& call) noexcept;
  bool isFull(CallPriority priority) const MULTIPY_REQUIRES(mutex_);
  void startThread() MULTIPY_REQUIRES(mutex_);

  Timer& timer_;
  const std::size_t most_;
  const std::array<std::size_t, kCallPriorities> mostOf_;
  const std::function<std::size_t()> others_;

  mutable base::Mutex mutex_;
  base::Condition added_;
  std::array<Line, kCallPriorities> lines_ MULTIPY_GUARDED_BY(mutex_);
  std::size_t mostThreads_ MULTIPY_GUARDED_BY(mutex_);
  std::size_t size_ MULTIPY_GUARDED_BY(mutex_) = 0;
  std::size_t idle_ MULTIPY_GUARDED_BY(mutex_) = 0;
  bool ended_ MULTIPY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace multipy::runtime
