// Threads that Python starts belong to the interpreter that started them: code
// that asks the host for the current interpreter (torch's dispatcher, autograd)
// must get the right answer there too. Linked with --wrap=pthread_create, so
// that CPython's own calls come here. So do those of private libraries, which have
// multipy_pthread_create in place of pthread_create, and the like for std::thread,
// whose call of pthread_create lies in libstdc++.
//
// They are counted as well, since they run private code. Finalising waits for
// Python's non-daemon ones only; a daemon thread may sleep in a system call for as
// long as it likes, and returns from there into this library's code. The threads of
// libraries (pools, above all) end when destructors end them, or never.

// libstdc++ 14 hides std::thread::_State, which is part of its ABI, from who does not
// define this.
#define _GLIBCXX_THREAD_IMPL 1
#include "interpreter/libc/threads.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/exported.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/common/python_version.h"
#include "interpreter/cpython/call_threads.h"
#include "interpreter/cpython/import_gates.h"
#include "interpreter/cpython/threads_outside.h"
#include "interpreter/libc/thread_ends.h"

namespace {

class StartedThreads {
 public:
  /// Throws bad_alloc. For its end, and to be counted, the thread needs no memory then.
  void starting() {
    const multipy::base::Lock lock(mutex_);
    if (const std::size_t all = running_ + 1 + ending_.size(); all > ending_.capacity())
      ending_.reserve(std::max(all, 2 * ending_.capacity()));
    ++running_;
  }
  void notStarted() {
    const multipy::base::Lock lock(mutex_);
    --running_;
  }
  /// By the thread itself, which still has to get out of here.
  void ending() noexcept {
    const multipy::base::Lock lock(mutex_);
    --running_;
    if (ending_.size() >= kManyEnding) forgetEnded();
    ending_.push_back(::gettid());
  }
  std::size_t count() {
    const multipy::base::Lock lock(mutex_);
    forgetEnded();
    return running_ + ending_.size();
  }

 private:
  static constexpr std::size_t kManyEnding = 100;

  void forgetEnded() noexcept MULTIPY_REQUIRES(mutex_) {
    std::erase_if(ending_, [](pid_t thread) {
      char path[40];
      std::snprintf(path, sizeof path, "/proc/self/task/%d", static_cast<int>(thread));
      return ::access(path, F_OK) != 0;
    });
  }

  multipy::base::ForkMutex mutex_;
  std::size_t running_ MULTIPY_GUARDED_BY(mutex_) = 0;
  // They have left the function below and are perhaps not gone yet.
  std::vector<pid_t> ending_ MULTIPY_GUARDED_BY(mutex_);
};

// Not destroyed: threads may end after the static destructors of this library.
// (Two types, since there is one such object of each.)
class OfPython : public StartedThreads {};
class OfLibraries : public StartedThreads {};
StartedThreads& startedByPython() { return multipy::base::neverDestroyed<OfPython>(); }
StartedThreads& startedByLibraries() { return multipy::base::neverDestroyed<OfLibraries>(); }

constinit thread_local bool ofInterpreter = false;

/// In a thread that has been started: from now on it is one of this interpreter.
class InInterpreter {
 public:
  explicit InInterpreter(StartedThreads& counter) : counter_(counter) {
    const auto* host = multipy::host();
    host->setCurrent(host->slot);
    ofInterpreter = true;
  }
  // Also when the thread ends by pthread_exit, which unwinds the stack (thread_ends.cpp).
  ~InInterpreter() { counter_.ending(); }
  InInterpreter(const InInterpreter&) = delete;
  InInterpreter& operator=(const InInterpreter&) = delete;

 private:
  StartedThreads& counter_;
};

struct Start {
  void* (*run)(void*);
  void* argument;
  StartedThreads* counter;
  std::uint64_t import, call;  // those of the starting thread
};

/// The same for std::thread.
class StateInInterpreter : public std::thread::_State {
 public:
  explicit StateInInterpreter(std::thread::_State_ptr inner) : inner_(std::move(inner)) {}
  void _M_run() override {
    const InInterpreter inside(startedByLibraries());
    const multipy::WithinImport same(import_);
    const multipy::StartedInCall started(call_);
    inner_->_M_run();
    inner_.reset();  // what it holds may be private libraries' as well
  }

 private:
  std::thread::_State_ptr inner_;
  const std::uint64_t import_ = multipy::importToken();
  const std::uint64_t call_ = multipy::callOfThread();
};

}  // namespace

void* multipy::runInInterpreter(void* given) {
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  const InInterpreter inside(*start->counter);
  if (start->counter == &startedByPython()) thisThreadIsPythons();
  const WithinImport same(start->import);
  const StartedInCall started(start->call);
  return start->run(start->argument);
}

std::size_t multipy::liveThreads() { return startedByPython().count(); }
std::size_t multipy::libraryThreads() { return startedByLibraries().count(); }
bool multipy::startedHere() noexcept { return ofInterpreter; }

extern "C" int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

static int create(StartedThreads& counter, pthread_t* thread, const pthread_attr_t* attributes,
                  void* (*run)(void*), void* argument) try {
  auto start = std::make_unique<Start>(
      Start{run, argument, &counter, multipy::importToken(), multipy::callOfThread()});
  counter.starting();
  const int error =
      __real_pthread_create(thread, attributes, multipy::runInInterpreter, start.get());
  if (error == 0)
    start.release();  // NOLINT: the new thread owns it now
  else
    counter.notStarted();
  return error;
} catch (const std::bad_alloc&) {
  return EAGAIN;  // as pthread_create() says that it has no memory for a stack
}

extern "C" int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                     void* (*run)(void*), void* argument) {
  return create(startedByPython(), thread, attributes, run, argument);
}

// Private copies of libraries call these in place of the ones without "multipy_".
extern "C" MULTIPY_EXPORT int multipy_pthread_create(pthread_t* thread,
                                                     const pthread_attr_t* attributes,
                                                     void* (*run)(void*), void* argument) {
  return create(startedByLibraries(), thread, attributes, run, argument);
}

// std::thread::_M_start_thread(_State_ptr, void (*)())
#define MULTIPY_START_THREAD \
  _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
#define MULTIPY_JOINED(a, b) a##b
#define MULTIPY_WITH_PREFIX(name) MULTIPY_JOINED(multipy_, name)

extern "C" void MULTIPY_START_THREAD(std::thread*, std::thread::_State_ptr, void (*)());

extern "C" MULTIPY_EXPORT void MULTIPY_WITH_PREFIX(MULTIPY_START_THREAD)(
    std::thread* self, std::thread::_State_ptr state, void (*depend)()) {
  startedByLibraries().starting();
  try {
    MULTIPY_START_THREAD(self, std::make_unique<StateInInterpreter>(std::move(state)), depend);
  } catch (...) {
    startedByLibraries().notStarted();
    throw;
  }
}
