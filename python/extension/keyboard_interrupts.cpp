#include "keyboard_interrupts.h"

#include <Python.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include "base/mutex.h"
#include "gil.h"
#include "interpreter/common/reference.h"

namespace multipy::host {
namespace {

class Watch {
 public:
  Watch() {
    if (::pipe2(pipe_, O_CLOEXEC) != 0) return;
    // The handler must not wait, and the thread has nothing else to do.
    ::fcntl(pipe_[1], F_SETFL, O_NONBLOCK);
    sigset_t all, mine;  // signals are for the program's threads
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mine);
    try {
      std::thread([this] { read(); }).detach();
      isThere_ = true;
    } catch (const std::system_error&) {
      for (const int each : pipe_) ::close(each);
    }
    ::pthread_sigmask(SIG_SETMASK, &mine, nullptr);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  bool isThere() const { return isThere_; }
  int descriptor() const { return pipe_[1]; }

  void begin(const std::stop_source& call, int programs) {
    const base::Lock lock(mutex_);
    call_ = call;
    programs_ = programs;
  }
  void end() {
    const base::Lock lock(mutex_);
    call_ = std::stop_source(std::nostopstate);
  }

  /// In a child of fork(): what is written there is lost, where it came to the parent.
  void replacePipe() {
    if (!isThere_) return;
    const int nowhere = ::open("/dev/null", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    for (const int each : pipe_) ::dup3(nowhere, each, O_CLOEXEC);
    ::close(nowhere);
  }

 private:
  void read() noexcept {
    for (;;) {
      unsigned char signal = 0;
      const ssize_t count = ::read(pipe_[0], &signal, 1);
      if (count == 1)
        take(signal);
      else if (count == 0 || errno != EINTR)
        return;
    }
  }

  void take(unsigned char signal) noexcept {
    std::stop_source call(std::nostopstate);
    {
      const base::Lock lock(mutex_);
      call = call_;
      // As CPython's handler, which does not look at the result either.
      if (programs_ >= 0) {
        [[maybe_unused]] const auto written = ::write(programs_, &signal, 1);
      }
    }
    if (signal == SIGINT && call.stop_possible() && raisesKeyboardInterrupt()) call.request_stop();
  }

  static bool raisesKeyboardInterrupt() noexcept {
    const PyGILState_STATE gil = takeGil();
    bool result = false;
    {
      const auto module = Reference::take(PyImport_ImportModule("_signal"));
      const auto usual = Reference::take(
          module ? PyObject_GetAttrString(module.get(), "default_int_handler") : nullptr);
      const auto now = Reference::take(
          usual ? PyObject_CallMethod(module.get(), "getsignal", "i", SIGINT) : nullptr);
      if (!now) PyErr_Clear();
      result = now && now.get() == usual.get();
    }
    PyGILState_Release(gil);
    return result;
  }

  int pipe_[2] = {-1, -1};
  bool isThere_ = false;
  base::Mutex mutex_;
  // Of the main thread: what it waits for, and where its signals went before.
  std::stop_source call_ MULTIPY_GUARDED_BY(mutex_){std::nostopstate};
  int programs_ MULTIPY_GUARDED_BY(mutex_) = -1;
};

// With the GIL. Never destroyed: its thread is there to the last.
Watch* watch = nullptr;

constexpr int kNone = -1;
constexpr int kFailed = -2;

// signal.set_wakeup_fd(): the one that there was before.
int exchangeDescriptor(int descriptor) {
  static PyObject* const set = [] {
    const auto module = Reference::take(PyImport_ImportModule("_signal"));
    return module ? PyObject_GetAttrString(module.get(), "set_wakeup_fd") : nullptr;
  }();
  const auto given = Reference::take(set ? PyLong_FromLong(descriptor) : nullptr);
  const auto before = Reference::take(given ? PyObject_CallOneArg(set, given.get()) : nullptr);
  if (!before) PyErr_Clear();  // not Python's main thread, or the program has closed it meanwhile
  return before ? static_cast<int>(PyLong_AsLong(before.get())) : kFailed;
}

bool isMainThread() {
  static thread_local const bool is = ::getpid() == ::gettid();
  return is;
}

// The thread is the parent's.
void forgetParents() {
  if (!watch) return;
  watch->replacePipe();
  watch = nullptr;
}

}  // namespace

void prepareKeyboardInterrupts() {
  static const int done = ::pthread_atfork(nullptr, nullptr, forgetParents);
  (void)done;
}

KeyboardInterrupts::KeyboardInterrupts(runtime::CallOptions& options) {
  if (!isMainThread()) return;
  if (!watch) watch = new Watch;
  if (!watch->isThere()) return;
  const int before = exchangeDescriptor(watch->descriptor());
  if (before == kFailed || before == watch->descriptor()) return;  // the second: within another one
  programs_ = before;
  stop_ = std::stop_source();
  options.stop = stop_.get_token();
  watch->begin(stop_, programs_);
}

KeyboardInterrupts::~KeyboardInterrupts() {
  if (!stop_.stop_possible()) return;
  const ErrorsAside callsOwn;
  if (exchangeDescriptor(programs_) == kFailed) exchangeDescriptor(kNone);
  watch->end();
}

void KeyboardInterrupts::raise() const {
  if (!stop_.stop_requested()) return;
  ErrorsAside callsOwn;
  if (PyErr_CheckSignals() != 0) callsOwn.forget();
}

}  // namespace multipy::host
