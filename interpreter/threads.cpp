// Threads that Python starts belong to the interpreter that started them: code
// that asks the host for the current interpreter (torch's dispatcher, autograd)
// must get the right answer there too. Linked with --wrap=pthread_create, so
// that CPython's own calls come here.
//
// They are counted as well. Finalising waits for the non-daemon ones only; a
// daemon thread may sleep in a system call for as long as it likes, and returns
// from there into this library's code.
#include "interpreter/threads.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "interpreter/host_connection.h"
#include "interpreter/python_version.h"

namespace {

class StartedThreads {
 public:
  void starting() {
    const std::lock_guard lock(mutex_);
    ++running_;
  }
  void notStarted() {
    const std::lock_guard lock(mutex_);
    --running_;
  }
  /// By the thread itself, which still has to get out of here.
  void ending() noexcept {
    const std::lock_guard lock(mutex_);
    --running_;
    ending_.push_back(::gettid());
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    std::erase_if(ending_, [](pid_t thread) {
      return ::access(("/proc/self/task/" + std::to_string(thread)).c_str(), F_OK) != 0;
    });
    return running_ + ending_.size();
  }

 private:
  std::mutex mutex_;
  std::size_t running_ = 0;    // guarded by mutex_
  std::vector<pid_t> ending_;  // guarded by mutex_; left the function below, perhaps not gone yet
};

// Not destroyed: threads may end after the static destructors of this library.
StartedThreads& started() {
  static auto* const threads = new StartedThreads;
  return *threads;
}

struct Start {
  void* (*run)(void*);
  void* argument;
};

constinit thread_local bool startedByPython = false;

void* runInInterpreter(void* given) {
  // Also when the thread ends by pthread_exit, as CPython's daemon threads do:
  // that unwinds the stack.
  struct Ending {
    ~Ending() { started().ending(); }
  } const ending;
  startedByPython = true;
  const std::unique_ptr<Start> start(static_cast<Start*>(given));
  const auto* host = multipy::host();
  host->setCurrent(host->slot);
  return start->run(start->argument);
}

}  // namespace

std::size_t multipy::liveThreads() { return started().count(); }

extern "C" int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

extern "C" int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                     void* (*run)(void*), void* argument) {
  auto start = std::make_unique<Start>(Start{run, argument});
  started().starting();
  const int error = __real_pthread_create(thread, attributes, runInInterpreter, start.get());
  if (error == 0)
    start.release();  // NOLINT: the new thread owns it now
  else
    started().notStarted();
  return error;
}

#if MULTIPY_PYTHON_HANGS_THREADS
// Overrides CPython's own of the same name (Python/thread_pthread.h), which the
// build makes weak. A thread of the host's never comes here: the host enters no
// interpreter that has been finalised.
extern "C" void PyThread_hang_thread() {
  if (startedByPython) pthread_exit(nullptr);
  for (;;) pause();
}
#endif
