#include "process/wake_signal.h"

#include <signal.h>

#include <cerrno>
#include <string>

#include "base/mutex.h"
#include "multipy/runtime/Exception.h"
#include "process/signal_handlers.h"

namespace multipy::process {
namespace {

// How many of the lowest and of the highest real-time signals are left to others.
constexpr int kLowestLeftOut = 10, kHighestLeftOut = 3;
constexpr int kNone = 0;

// The signal has been sent to this thread and has not come.
constinit thread_local std::atomic<bool> underWay{false};

// Constant-initialised and never destroyed: the handler runs whenever a signal comes. A forked
// child has the handler, too.
constinit base::Mutex mutex;
constinit std::atomic<int> installed{kNone};  // changed with the mutex
constinit std::atomic<bool> chosen{false};    // by setWakeSignal()
constinit int theChosen MULTIPY_GUARDED_BY(mutex) = kNone;

void wakeUp(int) { underWay.store(false, std::memory_order_relaxed); }

bool hasDefaultAction(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
         now.sa_handler == SIG_DFL;
}

bool isInPlace(int number) { return number != kNone && isProgramsHandler(number, wakeUp); }

bool install(int number) {
  struct sigaction action {};
  action.sa_handler = wakeUp;
  action.sa_flags = SA_ONSTACK;
  ::sigfillset(&action.sa_mask);
  return ::sigaction(number, &action, nullptr) == 0;
}

int firstFree() {
  for (int number = SIGRTMIN + kLowestLeftOut; number <= SIGRTMAX - kHighestLeftOut; ++number)
    if (hasDefaultAction(number)) return number;
  return kNone;
}

// The signal whose handler is ours now.
int signalToSend() {
  if (const int number = installed.load(); isInPlace(number)) return number;
  const base::Lock lock(mutex);
  if (isInPlace(installed.load())) return installed.load();  // by another thread
  const int number = chosen.load() ? theChosen : firstFree();
  const bool usable = number != kNone && hasDefaultAction(number) && install(number);
  installed.store(usable ? number : kNone);
  return installed.load();
}

}  // namespace

void setWakeSignal(int number) {
  const base::Lock lock(mutex);
  const std::string doing = "choosing signal " + std::to_string(number) + " to wake threads: ";
  if (installed.load() != kNone)
    throw runtime::InvalidArgument(doing + "signal " + std::to_string(installed.load()) +
                                   " is in use already; choose before the first interrupt");
  if (number != kNone && !hasDefaultAction(number))
    throw runtime::InvalidArgument(doing + "found no signal of that number whose action is the " +
                                   "default one; expected one that nothing else uses, or 0");
  theChosen = number;
  chosen.store(true);
}

int wakeSignal() noexcept { return installed.load(); }

WakeableThread::WakeableThread() noexcept : thread_(::pthread_self()), underWay_(underWay) {}

const WakeableThread& WakeableThread::ofThisThread() noexcept {
  thread_local const WakeableThread thread;
  return thread;
}

Woken WakeableThread::wake() const noexcept {
  const int number = signalToSend();
  if (number == kNone) return Woken::NoSignal;
  if (underWay_.exchange(true)) return Woken::NotTaken;
  if (::pthread_kill(thread_, number) == 0) return Woken::Sent;
  underWay_.store(false);  // EAGAIN: too many signals wait in the system
  return Woken::NotTaken;
}

}  // namespace multipy::process
