#include "process/signal_handlers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>

#include "base/mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"

namespace multipy::process {
namespace {

constexpr int kSignals = NSIG;
constexpr int kPatienceMs = 200;  // of an interpreter's end with a handler that is running

/// With or without SA_SIGINFO: like the kernel, we pass three arguments in any case.
using Handler = void (*)(int, siginfo_t*, void*);

const auto kIgnore = reinterpret_cast<Handler>(reinterpret_cast<void*>(SIG_IGN));

bool isIgnore(Handler handler) { return handler == kIgnore; }
bool isFunction(Handler handler) { return handler && !isIgnore(handler); }

/// Those that a thread brings upon itself.
constexpr std::array kThreadsOwn = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGTRAP,
                                    SIGSYS,  SIGABRT, SIGPIPE, SIGXFSZ};

bool isThreadsOwn(int number) {
  return std::find(kThreadsOwn.begin(), kThreadsOwn.end(), number) != kThreadsOwn.end();
}

// Constant-initialised and never destroyed: signals arrive whenever they like. All is
// changed with the mutex, and what is atomic is read by handlers without it. A table that
// was made for a slot serves all of its interpreters, one after the other. A child of fork()
// never takes the mutex (isChild): to start Python is to ask for signals already.
constinit base::Mutex mutex;

/// What one party, the program or an interpreter, wants done with each signal.
class Actions {
 public:
  void set(int number, const struct sigaction& action) MULTIPY_REQUIRES(mutex) {
    wanted_[number] = action;
    once_[number] = (action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0;
    called_[number] = action.sa_sigaction;
  }
  void clear(int number) MULTIPY_REQUIRES(mutex) { set(number, {}); }
  /// SIG_DFL if there is nothing.
  struct sigaction get(int number) const MULTIPY_REQUIRES(mutex) {
    return called_[number].load() ? wanted_[number] : (struct sigaction){};
  }

  /// A handler for one call (SA_RESETHAND) has had it.
  bool isSpent(int number) const { return once_[number] && !called_[number].load(); }

  // --- from a handler
  Handler handler(int number) const { return called_[number].load(); }
  void call(int number, siginfo_t* info, void* context) {
    ++running_;
    const Handler handler =
        once_[number] ? called_[number].exchange(nullptr) : called_[number].load();
    if (isFunction(handler)) handler(number, info, context);
    --running_;
  }
  bool running() const { return running_ != 0; }

 private:
  std::array<struct sigaction, kSignals> wanted_ MULTIPY_GUARDED_BY(mutex){};
  std::array<std::atomic<Handler>, kSignals> called_{};
  std::array<std::atomic<bool>, kSignals> once_{};
  std::atomic<int> running_{0};
};

constinit Actions programs;
constinit PerInterpreter<std::atomic<Actions*>> interpreters{};
constinit std::array<bool, kSignals> ignoredByUs MULTIPY_GUARDED_BY(mutex){};
constinit std::atomic<pid_t> process{0};  // whose tables these are

/// No handler of this thread's, which might want the mutex that this thread has.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_;
};

Actions* actionsOf(InterpreterId slot) {
  return slot.isInterpreter() ? interpreters[slot].load() : nullptr;
}

/// Made by fork(), or by vfork(), which shares the memory of these tables with us.
bool isChild() {
  const pid_t owner = process.load();
  return owner != 0 && owner != ::getpid();
}

// --- what the kernel calls

void endByDefault(int number, const siginfo_t* info) {
  struct sigaction standard {};
  ::sigaction(number, &standard, nullptr);
  // A fault comes again by itself when the thread goes on where it was.
  const bool comesAgain = info->si_code > 0 && number != SIGPIPE && number != SIGXFSZ;
  if (!comesAgain) ::raise(number);
}

void deliverToThread(int number, siginfo_t* info, void* context) {
  Actions* actions = actionsOf(Ownership::entered());
  if (!actions || !actions->handler(number)) actions = &programs;
  if (actions->handler(number))
    actions->call(number, info, context);
  else
    endByDefault(number, info);
}

bool isAnyHandlerThere(int number) {
  if (isFunction(programs.handler(number))) return true;
  return std::any_of(interpreters.begin(), interpreters.end(), [&](const auto& slot) {
    const Actions* actions = slot.load();
    return actions && isFunction(actions->handler(number));
  });
}

int lookAtPrograms(int number) MULTIPY_REQUIRES(mutex);
int install(int number) MULTIPY_REQUIRES(mutex);

/// When the last handler was for one call, the next signal is to do what it does without
/// us. (A thread that has the lock is changing actions: then it is done at the next signal.)
void putProgramsBack(int number) {
  const WithoutSignals without;
  if (!mutex.try_lock()) return;
  const base::Lock lock(mutex, std::adopt_lock);
  if (lookAtPrograms(number) == 0 && !isAnyHandlerThere(number)) install(number);
}

void deliverToAll(int number, siginfo_t* info, void* context) {
  programs.call(number, info, context);
  if (isChild()) {  // the other interpreters are the parent's
    if (Actions* own = actionsOf(Ownership::entered())) own->call(number, info, context);
    return;
  }
  for (const auto& slot : interpreters)
    if (Actions* actions = slot.load()) actions->call(number, info, context);
  if (!isAnyHandlerThere(number)) putProgramsBack(number);
}

void deliver(int number, siginfo_t* info, void* context) {
  const int error = errno;
  if (isThreadsOwn(number))
    deliverToThread(number, info, context);
  else
    deliverToAll(number, info, context);
  errno = error;
}

bool isOurs(const struct sigaction& action) { return action.sa_sigaction == deliver; }

// --- with the lock

/// What the program has set by itself since we looked last becomes its action.
int lookAtPrograms(int number) {
  struct sigaction now {};
  if (::sigaction(number, nullptr, &now) != 0) return errno;
  const bool ours = isOurs(now) || (ignoredByUs[number] && isIgnore(now.sa_sigaction));
  if (!ours) programs.set(number, now);
  return 0;
}

/// One action for all who have a handler: a system call goes on, say, if none wants it
/// interrupted.
class Combined {
 public:
  void add(const struct sigaction& action) {
    flags_ &= action.sa_flags;
    ::sigorset(&mask_, &mask_, &action.sa_mask);
  }
  struct sigaction action() const {
    struct sigaction ours {};
    ours.sa_sigaction = deliver;
    ours.sa_flags = flags_ | SA_SIGINFO | SA_ONSTACK;
    ours.sa_mask = mask_;
    return ours;
  }

 private:
  int flags_ = SA_RESTART | SA_NODEFER | SA_NOCLDSTOP | SA_NOCLDWAIT;
  sigset_t mask_{};
};

int install(int number) {
  Combined combined;
  bool called = false, ignored = false;
  for (const auto& slot : interpreters) {
    const Actions* actions = slot.load();
    if (!actions || !actions->handler(number)) continue;
    const struct sigaction action = actions->get(number);
    if (isFunction(action.sa_sigaction)) {
      called = true;
      combined.add(action);
    } else {
      ignored = true;
    }
  }
  struct sigaction next = programs.get(number);
  const bool isDefault = !next.sa_sigaction;
  if (isFunction(next.sa_sigaction)) combined.add(next);
  // Ignored by some interpreters' threads, and the program has a handler for the others.
  called |= ignored && isThreadsOwn(number) && isFunction(next.sa_sigaction);
  ignoredByUs[number] = !called && ignored && isDefault;
  if (called)
    next = combined.action();
  else if (ignoredByUs[number])
    next.sa_handler = SIG_IGN;
  return ::sigaction(number, &next, nullptr) == 0 ? 0 : errno;
}

struct sigaction seenBy(const Actions* own, int number) MULTIPY_REQUIRES(mutex) {
  if (own && own->handler(number)) return own->get(number);
  const struct sigaction theirs = programs.get(number);
  const bool calledAnyway = isFunction(theirs.sa_sigaction) && !isThreadsOwn(number);
  return calledAnyway ? (struct sigaction){} : theirs;
}

int change(Actions& own, int number, const struct sigaction& action) MULTIPY_REQUIRES(mutex) {
  const struct sigaction before = own.get(number);
  const bool isPrograms =
      isFunction(action.sa_sigaction) && action.sa_sigaction == programs.get(number).sa_sigaction;
  own.set(number, isPrograms ? (struct sigaction){} : action);
  const int error = install(number);
  if (error) own.set(number, before);
  return error;
}

int changeInChild(InterpreterId slot, int number, const struct sigaction* action,
                  struct sigaction* old) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
  struct sigaction before {};
  if (::sigaction(number, action, &before) != 0) return errno;
  if (old) *old = isOurs(before) ? seenBy(actionsOf(slot), number) : before;
  return 0;
}

}  // namespace

int changeSignalAction(InterpreterId slot, int number, const struct sigaction* action,
                       struct sigaction* old) noexcept {
  // (The resident copy's libraries belong to the process.)
  if (!slot.isInterpreter() || number <= 0 || number >= kSignals)
    return ::sigaction(number, action, old) == 0 ? 0 : errno;
  if (isChild()) return changeInChild(slot, number, action, old);
  const WithoutSignals without;
  const base::Lock lock(mutex);
  process = ::getpid();
  if (const int error = lookAtPrograms(number)) return error;
  Actions* own = actionsOf(slot);
  if (action && !own) {
    own = new (std::nothrow) Actions;
    if (!own) return ENOMEM;
    interpreters[slot] = own;
  }
  const struct sigaction seen = seenBy(own, number);
  if (action)
    if (const int error = change(*own, number, *action)) return error;
  if (old) *old = seen;
  return 0;
}

bool isProgramsHandler(int number, void (*handler)(int)) noexcept {
  struct sigaction now {};
  if (::sigaction(number, nullptr, &now) != 0) return false;
  const Handler called = isOurs(now) ? programs.handler(number) : now.sa_sigaction;
  return reinterpret_cast<void*>(called) == reinterpret_cast<void*>(handler);
}

bool forgetSignalActions(InterpreterId slot) noexcept {
  Actions* own = actionsOf(slot);
  if (!own || isChild()) return true;
  {
    const WithoutSignals without;
    const base::Lock lock(mutex);
    for (int number = 1; number < kSignals; ++number) {
      if (!own->handler(number) && !own->isSpent(number)) continue;
      lookAtPrograms(number);
      own->clear(number);
      install(number);
    }
  }
  for (int left = kPatienceMs; own->running(); --left) {
    if (left == 0) return false;
    ::usleep(1000);
  }
  return true;
}

}  // namespace multipy::process
