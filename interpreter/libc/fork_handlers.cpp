#include "interpreter/libc/fork_handlers.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/cpython/gil_priority.h"
#include "interpreter/cpython/python_heap.h"
#include "interpreter/cpython/threads_outside.h"
#include "interpreter/libc/once.h"

namespace multipy {
namespace {

using Handler = void (*)();

struct ForkHandlers {
  Handler prepare, inParent, inChild;
  const void* library;
  std::uint64_t number;  // from 1
};

// Handlers run without the lock: they may register others, and wait for threads that do.
class Registered {
 public:
  void add(ForkHandlers handlers) {
    const base::Lock lock(mutex_);
    handlers.number = last_ + 1;
    all_.push_back(handlers);
    ++last_;
  }
  void forget(const void* library) {
    const base::Lock lock(mutex_);
    std::erase_if(all_, [&](const ForkHandlers& each) { return each.library == library; });
  }
  std::uint64_t last() {
    const base::Lock lock(mutex_);
    return last_;
  }
  std::optional<ForkHandlers> newestBefore(std::uint64_t number) {
    const base::Lock lock(mutex_);
    const auto next = std::find_if(all_.rbegin(), all_.rend(),
                                   [&](const ForkHandlers& each) { return each.number < number; });
    return next == all_.rend() ? std::nullopt : std::optional(*next);
  }
  std::optional<ForkHandlers> oldestAfter(std::uint64_t number) {
    const base::Lock lock(mutex_);
    const auto next = std::find_if(all_.begin(), all_.end(),
                                   [&](const ForkHandlers& each) { return each.number > number; });
    return next == all_.end() ? std::nullopt : std::optional(*next);
  }

 private:
  base::ForkMutex mutex_;
  std::vector<ForkHandlers> all_ MULTIPY_GUARDED_BY(mutex_);  // by number
  std::uint64_t last_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

Registered& registered() { return base::neverDestroyed<Registered>(); }

// This thread's fork that is under way, and the handlers that take part in it: those
// registered meanwhile do not.
constinit thread_local bool forking = false;
constinit thread_local std::uint64_t lastOfFork = 0;

void prepare() {
  lastOfFork = registered().last();
  auto next = registered().newestBefore(lastOfFork + 1);
  for (; next; next = registered().newestBefore(next->number))
    if (next->prepare) next->prepare();
  host()->lockForFork();
  base::ForkLock::takeAll();
  lockPriorityForFork();
  lockPythonHeapForFork();
  forking = true;
}

void finish(bool inChild) {
  if (!forking) return;
  forking = false;
  unlockPythonHeapAfterFork(inChild);
  unlockPriorityAfterFork(inChild);
  if (inChild) forgetThreadsOutside();
  base::ForkLock::giveAllBack(inChild);
  if (inChild) forgetInitializersOfOthers();
  host()->unlockAfterFork(inChild);
  auto next = registered().oldestAfter(0);
  for (; next && next->number <= lastOfFork; next = registered().oldestAfter(next->number))
    if (const Handler handler = inChild ? next->inChild : next->inParent) handler();
}

void inParent() { finish(false); }
void inChild() { finish(true); }

}  // namespace

void watchForks() { host()->setForkHandlers(host()->context, prepare, inParent, inChild); }

void forgetForkHandlers(const void* library) { registered().forget(library); }

}  // namespace multipy

// What pthread_atfork() calls, which is linked into each library. Private copies call
// this one in place of the one without "multipy_".
extern "C" __attribute__((visibility("default"))) int multipy___register_atfork(void (*prepare)(),
                                                                                void (*inParent)(),
                                                                                void (*inChild)(),
                                                                                void* library) try {
  multipy::registered().add({prepare, inParent, inChild, library, 0});
  return 0;
} catch (const std::exception&) {
  return ENOMEM;
}
