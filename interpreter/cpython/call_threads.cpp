#include "interpreter/cpython/call_threads.h"

#include <utility>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/cpython/interrupts.h"

namespace multipy {

constinit static thread_local std::uint64_t callOfThis = 0;

/// Those that run. No Python code, and no wait for the GIL, while its mutex is held.
class ThreadsInCalls {
 public:
  void add(StartedInCall& thread) {
    const base::Lock lock(mutex_);
    thread.next_ = first_;
    first_ = &thread;
  }
  void remove(StartedInCall& thread) {
    const base::Lock lock(mutex_);
    StartedInCall** at = &first_;
    while (*at != &thread) at = &(*at)->next_;
    *at = thread.next_;
  }
  bool isOne(std::uint64_t call, unsigned long python) {
    const base::Lock lock(mutex_);
    for (const StartedInCall* each = first_; each; each = each->next_)
      if (each->call_ == call && each->python_ == python) return true;
    return false;
  }
  void wake(std::uint64_t call) {
    const base::Lock lock(mutex_);  // with which none of them ends
    for (const StartedInCall* each = first_; each; each = each->next_)
      if (each->call_ == call) host()->wake(each->wakeable_);
  }

 private:
  base::ForkMutex mutex_;
  StartedInCall* first_ MULTIPY_GUARDED_BY(mutex_) = nullptr;
};

static ThreadsInCalls& threadsInCalls() { return base::neverDestroyed<ThreadsInCalls>(); }

std::uint64_t callOfThread() noexcept { return callOfThis; }

std::uint64_t setCallOfThread(std::uint64_t call) noexcept {
  return std::exchange(callOfThis, call);
}

StartedInCall::StartedInCall(std::uint64_t call) noexcept : call_(call) {
  callOfThis = call;
  if (call == 0) return;
  python_ = PyThread_get_thread_ident();
  wakeable_ = host()->thisThread();
  threadsInCalls().add(*this);
}

StartedInCall::~StartedInCall() {
  if (call_ != 0) threadsInCalls().remove(*this);
}

// (A thread that has ended may have left a state with the number of one that runs: it is of no
// account what is pending in there.)
std::size_t interruptThreadsOf(std::uint64_t call) {
  std::size_t found = 0;
  PyThreadState* each = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  for (; each; each = PyThreadState_Next(each))
    if (threadsInCalls().isOne(call, each->thread_id) && interruptThread(each)) ++found;
  return found;
}

void wakeThreadsOf(std::uint64_t call) { threadsInCalls().wake(call); }

}  // namespace multipy
