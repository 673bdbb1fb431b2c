#include "interpreter/libc/once.h"

#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <vector>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/exported.h"
#include "interpreter/common/python_version.h"

namespace multipy {
namespace {

using Thread = unsigned long;  // as threading.get_ident() gives it

Thread thisThread() { return reinterpret_cast<Thread>(pthread_self()); }

// Initialisers that run, and threads that wait for them. One that there was no memory to note
// is run as it would be without this.
class Initializers {
 public:
  enum class Found { kNone, kOwn, kOther };

  /// Notes that this thread runs the object's, unless one is running already.
  Found begin(const void* object) noexcept {
    const base::Lock lock(mutex_);
    if (const auto other = runningOf(object))
      return *other == thisThread() ? Found::kOwn : Found::kOther;
    note(running_, object);
    return Found::kNone;
  }

  void end(const void* object) noexcept {
    {
      const base::Lock lock(mutex_);
      forget(running_, object);
    }
    ends_.fetch_add(1);
    ends_.notify_all();
  }

  /// Notes that this thread waits for the object's, as long as one is running.
  class Waiting {
   public:
    Waiting(Initializers& all, const void* object) noexcept : all_(all), object_(object) {
      const base::Lock lock(all_.mutex_);
      note(all_.waiting_, object_);
    }
    ~Waiting() {
      const base::Lock lock(all_.mutex_);
      forget(all_.waiting_, object_);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Initializers& all_;
    const void* object_;
  };

  /// Until another thread's has ended.
  void wait(const void* object) noexcept {
    const Waiting waiting(*this, object);
    for (;;) {
      const int ends = ends_.load();
      {
        const base::Lock lock(mutex_);
        if (!runningOf(object)) return;
      }
      ends_.wait(ends);
    }
  }

  void forgetOtherThreads() noexcept {
    const base::Lock lock(mutex_);
    for (auto* notes : {&running_, &waiting_})
      std::erase_if(*notes, [](const Note& each) { return each.thread != thisThread(); });
  }

  bool isRunningOne(Thread thread) noexcept {
    const base::Lock lock(mutex_);
    return std::ranges::any_of(running_, [&](const Note& each) { return each.thread == thread; });
  }

  /// Which thread runs what this one waits for.
  std::optional<Thread> waitedForBy(Thread thread) noexcept {
    const base::Lock lock(mutex_);
    for (const Note& each : waiting_) {
      if (each.thread != thread) continue;
      if (const auto other = runningOf(each.object); other && *other != thread) return other;
    }
    return std::nullopt;
  }

 private:
  struct Note {
    const void* object;  // a pthread_once_t, or the guard of a static variable
    Thread thread;
  };

  static void note(std::vector<Note>& notes, const void* object) noexcept try {
    notes.push_back({object, thisThread()});
  } catch (const std::exception&) {
  }

  static void forget(std::vector<Note>& notes, const void* object) noexcept {
    const auto last = std::find_if(notes.rbegin(), notes.rend(), [&](const Note& each) {
      return each.object == object && each.thread == thisThread();
    });
    if (last != notes.rend()) notes.erase(std::next(last).base());
  }

  std::optional<Thread> runningOf(const void* object) const noexcept MULTIPY_REQUIRES(mutex_) {
    const auto found = std::ranges::find(running_, object, &Note::object);
    return found == running_.end() ? std::nullopt : std::optional(found->thread);
  }

  base::ForkMutex mutex_;
  std::vector<Note> running_ MULTIPY_GUARDED_BY(mutex_);
  std::vector<Note> waiting_ MULTIPY_GUARDED_BY(mutex_);
  std::atomic<int> ends_{0};  // how many have ended
};

// (Also asked by private libraries where the process exits before this interpreter was ended.)
Initializers& initializers() { return base::neverDestroyed<Initializers>(); }

class Running {
 public:
  explicit Running(const void* object) noexcept : object_(object) { initializers().begin(object_); }
  ~Running() { initializers().end(object_); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  const void* object_;
};

// What runOnce() is about to run in this thread.
struct Once {
  const void* object;
  void (*initialize)();
};
constinit thread_local Once next{};

void initializeNext() {
  const Once once = next;
  const Running running(once.object);
  once.initialize();
}

int runOnce(pthread_once_t* object, void (*initialize)()) {
  // The value that the C libraries of Linux leave there. Were it another one, each call would
  // be noted.
  constexpr int kDone = 2;
  if (__atomic_load_n(object, __ATOMIC_ACQUIRE) == kDone) return 0;
  const Initializers::Waiting waiting(initializers(), object);
  next = {object, initialize};
  return pthread_once(object, initializeNext);
}

// This thread has this interpreter's GIL.
bool hasGil() {
  PyThreadState* const mine = Py_IsInitialized() ? PyGILState_GetThisThreadState() : nullptr;
  return mine && mine == attachedThreadState();
}

bool beginStatic(abi::__guard* guard) {
  Initializers& all = initializers();
  Initializers::Found found;
  while ((found = all.begin(guard)) == Initializers::Found::kOther) {
    PyThreadState* const state = hasGil() ? PyEval_SaveThread() : nullptr;
    all.wait(guard);
    if (state) PyEval_RestoreThread(state);
  }
  if (abi::__cxa_guard_acquire(guard) != 0) return true;
  if (found == Initializers::Found::kNone) all.end(guard);
  return false;
}

}  // namespace

void forgetInitializersOfOthers() noexcept { initializers().forgetOtherThreads(); }

PyObject* isInitializing(PyObject*, PyObject*) {
  return PyBool_FromLong(initializers().isRunningOne(thisThread()));
}

PyObject* initializerWaitedFor(PyObject*, PyObject* thread) {
  const Thread number = PyLong_AsUnsignedLong(thread);
  if (PyErr_Occurred()) return nullptr;
  if (const auto other = initializers().waitedForBy(number)) return PyLong_FromUnsignedLong(*other);
  Py_RETURN_NONE;
}

}  // namespace multipy

// Private copies of libraries call these in place of the ones without "multipy_".
extern "C" {

MULTIPY_EXPORT int multipy_pthread_once(pthread_once_t* object, void (*initialize)()) {
  return multipy::runOnce(object, initialize);
}

MULTIPY_EXPORT int multipy___cxa_guard_acquire(abi::__guard* guard) {
  return multipy::beginStatic(guard) ? 1 : 0;
}

MULTIPY_EXPORT void multipy___cxa_guard_release(abi::__guard* guard) noexcept {
  abi::__cxa_guard_release(guard);
  multipy::initializers().end(guard);
}

MULTIPY_EXPORT void multipy___cxa_guard_abort(abi::__guard* guard) noexcept {
  abi::__cxa_guard_abort(guard);
  multipy::initializers().end(guard);
}

}  // extern "C"
