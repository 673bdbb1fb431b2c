// Signals that several interpreters and the program want. Interpreters are numbers here:
// no Python is needed.
#include "process/signal_handlers.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/interpreter_id.h"
#include "process/ownership.h"

namespace {
thread_local multipy::InterpreterId entered;
}

// In place of src/process/ownership.cpp: the interpreter that the thread is in.
multipy::InterpreterId multipy::process::Ownership::entered() noexcept { return ::entered; }

namespace multipy::process {
namespace {

constexpr int kProgram = 7;  // behind the interpreters
std::array<std::atomic<int>, 8> calls{};

template <int party>
void count(int) {
  ++calls[party];
}

struct sigaction actionOf(void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

struct sigaction inKernel(int number) {
  struct sigaction action {};
  EXPECT_EQ(sigaction(number, nullptr, &action), 0);
  return action;
}

struct sigaction ask(int slot, int number, const struct sigaction& action) {
  struct sigaction old {};
  EXPECT_EQ(changeSignalAction(InterpreterId(slot), number, &action, &old), 0);
  return old;
}

struct sigaction seen(int slot, int number) {
  struct sigaction action {};
  EXPECT_EQ(changeSignalAction(InterpreterId(slot), number, nullptr, &action), 0);
  return action;
}

/// How often each party has been called since it was asked last.
std::vector<int> called() {
  std::vector<int> counts;
  for (auto& each : calls) counts.push_back(each.exchange(0));
  return counts;
}
std::vector<int> only(std::initializer_list<int> parties) {
  std::vector<int> counts(calls.size());
  for (const int party : parties) ++counts[party];
  return counts;
}

class SignalHandlers : public testing::Test {
 protected:
  void SetUp() override {
    called();
    entered = InterpreterId::none();
  }
  void TearDown() override {
    for (int slot = 0; slot < 4; ++slot) EXPECT_TRUE(forgetSignalActions(InterpreterId(slot)));
    for (const int number : {SIGUSR1, SIGUSR2, SIGPIPE, SIGSEGV, SIGCHLD}) signal(number, SIG_DFL);
  }
};

TEST_F(SignalHandlers, ReachTheProgramAndEveryInterpreterThatAsked) {
  struct sigaction programs = actionOf(count<kProgram>, SA_RESTART);
  sigaddset(&programs.sa_mask, SIGUSR2);
  sigaction(SIGUSR1, &programs, nullptr);
  EXPECT_EQ(ask(0, SIGUSR1, actionOf(count<0>)).sa_handler, SIG_DFL);
  EXPECT_EQ(ask(2, SIGUSR1, actionOf(count<2>)).sa_handler, SIG_DFL);
  raise(SIGUSR1);
  EXPECT_EQ(called(), only({kProgram, 0, 2}));

  EXPECT_EQ(ask(2, SIGUSR1, actionOf(SIG_DFL)).sa_handler, count<2>);
  raise(SIGUSR1);
  EXPECT_EQ(called(), only({kProgram, 0}));

  EXPECT_TRUE(forgetSignalActions(InterpreterId(0)));
  raise(SIGUSR1);
  EXPECT_EQ(called(), only({kProgram}));
  const struct sigaction now = inKernel(SIGUSR1);
  EXPECT_EQ(now.sa_handler, count<kProgram>);
  EXPECT_EQ(now.sa_flags & SA_RESTART, SA_RESTART);
  EXPECT_EQ(sigismember(&now.sa_mask, SIGUSR2), 1);
}

TEST_F(SignalHandlers, AreNotInstalledByAQuestion) {
  EXPECT_EQ(seen(0, SIGUSR1).sa_handler, SIG_DFL);
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_DFL);
  signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(seen(0, SIGUSR1).sa_handler, SIG_IGN);
}

TEST_F(SignalHandlers, SeeTheirOwnActionWhole) {
  struct sigaction wanted = actionOf(count<1>, SA_RESTART | SA_NOCLDSTOP);
  sigaddset(&wanted.sa_mask, SIGUSR2);
  ask(1, SIGCHLD, wanted);
  const struct sigaction found = seen(1, SIGCHLD);
  EXPECT_EQ(found.sa_handler, count<1>);
  EXPECT_EQ(found.sa_flags, SA_RESTART | SA_NOCLDSTOP);
  EXPECT_EQ(sigismember(&found.sa_mask, SIGUSR2), 1);
  EXPECT_EQ(seen(0, SIGCHLD).sa_handler, SIG_DFL);
}

TEST_F(SignalHandlers, InterruptCallsIfOneOfThemWantsIt) {
  ask(0, SIGUSR1, actionOf(count<0>, SA_RESTART | SA_NODEFER));
  EXPECT_EQ(inKernel(SIGUSR1).sa_flags & (SA_RESTART | SA_NODEFER), SA_RESTART | SA_NODEFER);
  struct sigaction other = actionOf(count<1>);
  sigaddset(&other.sa_mask, SIGUSR2);
  ask(1, SIGUSR1, other);
  const struct sigaction both = inKernel(SIGUSR1);
  EXPECT_EQ(both.sa_flags & (SA_RESTART | SA_NODEFER), 0);
  EXPECT_EQ(sigismember(&both.sa_mask, SIGUSR2), 1);
}

TEST_F(SignalHandlers, ToldToIgnoreASignalTakeItFromNobody) {
  ask(0, SIGUSR1, actionOf(SIG_IGN));
  raise(SIGUSR1);  // would end the process
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_IGN);
  EXPECT_EQ(seen(0, SIGUSR1).sa_handler, SIG_IGN);
  EXPECT_EQ(seen(1, SIGUSR1).sa_handler, SIG_DFL);

  ask(1, SIGUSR1, actionOf(count<1>));
  raise(SIGUSR1);
  EXPECT_EQ(called(), only({1}));
  ask(1, SIGUSR1, actionOf(SIG_DFL));
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_IGN);
  ask(0, SIGUSR1, actionOf(SIG_DFL));
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_DFL);

  signal(SIGUSR1, count<kProgram>);
  ask(0, SIGUSR1, actionOf(SIG_IGN));
  raise(SIGUSR1);
  EXPECT_EQ(called(), only({kProgram}));
}

TEST_F(SignalHandlers, OfFaultsAreTheThreadsInterpretersAlone) {
  signal(SIGSEGV, count<kProgram>);
  EXPECT_EQ(ask(0, SIGSEGV, actionOf(count<0>)).sa_handler, count<kProgram>);
  ask(1, SIGSEGV, actionOf(count<1>));
  for (const int slot : {0, 1}) {
    entered = InterpreterId(slot);
    raise(SIGSEGV);
    EXPECT_EQ(called(), only({slot}));
  }
  for (const InterpreterId slot : {InterpreterId(2), InterpreterId::none()}) {
    entered = slot;
    raise(SIGSEGV);
    EXPECT_EQ(called(), only({kProgram}));
  }
}

// As faulthandler and others do, to hand a fault on.
TEST_F(SignalHandlers, ThatPutBackWhatTheyFoundGiveUp) {
  signal(SIGSEGV, count<kProgram>);
  const struct sigaction found = ask(0, SIGSEGV, actionOf(count<0>));
  ask(0, SIGSEGV, found);
  EXPECT_EQ(inKernel(SIGSEGV).sa_handler, count<kProgram>);
  entered = InterpreterId(0);
  raise(SIGSEGV);
  EXPECT_EQ(called(), only({kProgram}));
}

TEST_F(SignalHandlers, IgnoredInAnInterpretersThreadsAreNotInOthers) {
  signal(SIGPIPE, count<kProgram>);
  ask(0, SIGPIPE, actionOf(SIG_IGN));
  entered = InterpreterId(0);
  raise(SIGPIPE);
  EXPECT_EQ(called(), only({}));
  entered = InterpreterId(1);
  raise(SIGPIPE);
  EXPECT_EQ(called(), only({kProgram}));
  ask(0, SIGPIPE, actionOf(SIG_DFL));

  // Where the program has none, programs that are started inherit it.
  signal(SIGPIPE, SIG_DFL);
  ask(0, SIGPIPE, actionOf(SIG_IGN));
  EXPECT_EQ(inKernel(SIGPIPE).sa_handler, SIG_IGN);
  ask(1, SIGPIPE, actionOf(count<1>));
  entered = InterpreterId(0);
  raise(SIGPIPE);
  EXPECT_EQ(called(), only({}));
  const auto inThird = [] {
    entered = InterpreterId(2);
    raise(SIGPIPE);
  };
  EXPECT_EXIT(inThird(), testing::KilledBySignal(SIGPIPE), "");
}

TEST_F(SignalHandlers, OfOthersDoNotKeepAFaultFromEndingTheProcess) {
  ask(0, SIGSEGV, actionOf(count<0>));
  const auto fault = [] {
    entered = InterpreterId(1);
    void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile char*>(page) = 1;
  };
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(SignalHandlers, SetByTheProgramLaterComeFirst) {
  ask(0, SIGUSR1, actionOf(count<0>));
  signal(SIGUSR1, count<kProgram>);
  raise(SIGUSR1);
  EXPECT_EQ(called(), only({kProgram}));
  ask(1, SIGUSR1, actionOf(count<1>));
  raise(SIGUSR1);
  EXPECT_EQ(called(), only({kProgram, 0, 1}));
  signal(SIGUSR1, count<kProgram>);
  EXPECT_TRUE(forgetSignalActions(InterpreterId(0)));
  EXPECT_TRUE(forgetSignalActions(InterpreterId(1)));
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, count<kProgram>);
}

TEST_F(SignalHandlers, ForOneCallAreCalledOnce) {
  ask(0, SIGUSR1, actionOf(count<0>, static_cast<int>(SA_RESETHAND)));
  ask(1, SIGUSR1, actionOf(count<1>));
  raise(SIGUSR1);
  raise(SIGUSR1);
  EXPECT_EQ(called()[0], 1);
  EXPECT_EQ(seen(0, SIGUSR1).sa_handler, SIG_DFL);
}

TEST_F(SignalHandlers, ForOneCallLeaveTheSignalAsTheyFoundIt) {
  const auto once = actionOf(count<0>, static_cast<int>(SA_RESETHAND));
  signal(SIGUSR2, SIG_IGN);
  for (const int number : {SIGUSR1, SIGUSR2, SIGPIPE}) ask(0, number, once);
  entered = InterpreterId(0);
  for (const int number : {SIGUSR1, SIGUSR2, SIGPIPE}) raise(number);
  EXPECT_EQ(called()[0], 3);
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_DFL);
  EXPECT_EQ(inKernel(SIGUSR2).sa_handler, SIG_IGN);
  EXPECT_TRUE(forgetSignalActions(InterpreterId(0)));
  EXPECT_EQ(inKernel(SIGPIPE).sa_handler, SIG_DFL);
}

TEST_F(SignalHandlers, GetWhatTheKernelKnows) {
  static std::atomic<int> code;
  struct sigaction wanted {};
  wanted.sa_sigaction = [](int, siginfo_t* info, void* context) {
    code = context ? info->si_code : 0;
  };
  wanted.sa_flags = SA_SIGINFO;
  ask(0, SIGUSR1, wanted);
  errno = EDOM;
  raise(SIGUSR1);
  EXPECT_EQ(errno, EDOM);
  EXPECT_EQ(code, SI_TKILL);
}

TEST_F(SignalHandlers, RefuseWhatTheSystemRefuses) {
  const struct sigaction wanted = actionOf(count<0>);
  for (const int number : {SIGKILL, SIGSTOP, 0, -1, NSIG, 1000}) {
    EXPECT_EQ(changeSignalAction(InterpreterId(0), number, &wanted, nullptr), EINVAL) << number;
    EXPECT_EQ(changeSignalAction(InterpreterId::none(), number, &wanted, nullptr), EINVAL)
        << number;
  }
  EXPECT_EQ(seen(0, SIGKILL).sa_handler, SIG_DFL);
}

TEST_F(SignalHandlers, MayBeChangedByAHandler) {
  static std::atomic<int> ended;
  ask(0, SIGUSR1, actionOf([](int) {
        const struct sigaction none = actionOf(SIG_DFL);
        changeSignalAction(InterpreterId(0), SIGUSR1, &none, nullptr);
        ++ended;
      }));
  raise(SIGUSR1);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_DFL);
}

TEST_F(SignalHandlers, ThatAreRunningKeepAnInterpreterFromBeingUnloaded) {
  static std::atomic<bool> running, mayEnd;
  ask(0, SIGUSR1, actionOf([](int) {
        running = true;
        while (!mayEnd) usleep(1000);
      }));
  std::thread thread([] { raise(SIGUSR1); });
  while (!running) usleep(1000);
  EXPECT_FALSE(forgetSignalActions(InterpreterId(0)));
  EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_DFL);
  mayEnd = true;
  thread.join();
  EXPECT_TRUE(forgetSignalActions(InterpreterId(0)));
}

// What subprocess and libuv do before exec.
TEST_F(SignalHandlers, InAChildAreTheChildsOwn) {
  signal(SIGUSR1, SIG_IGN);
  ask(0, SIGUSR2, actionOf(count<0>));
  const struct sigaction none = actionOf(SIG_DFL);
  for (const auto start : {fork, vfork}) {
    const pid_t child = start();
    if (child == 0) {
      struct sigaction old {};
      const bool ok = changeSignalAction(InterpreterId(0), SIGUSR2, &none, &old) == 0 &&
                      old.sa_handler == count<0> &&
                      changeSignalAction(InterpreterId(0), SIGUSR1, &none, &old) == 0 &&
                      old.sa_handler == SIG_IGN && inKernel(SIGUSR1).sa_handler == SIG_DFL &&
                      inKernel(SIGUSR2).sa_handler == SIG_DFL;
      _exit(ok ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(seen(0, SIGUSR2).sa_handler, count<0>);
    EXPECT_EQ(inKernel(SIGUSR1).sa_handler, SIG_IGN);
  }
  raise(SIGUSR2);
  EXPECT_EQ(called(), only({0}));
}

TEST_F(SignalHandlers, InAChildAreNotOtherInterpreters) {
  for (const int slot : {0, 1})
    ask(slot, SIGUSR1, slot == 0 ? actionOf(count<0>) : actionOf(count<1>));
  entered = InterpreterId(1);
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(called() == only({1}) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SignalHandlers, ComeAndGoWhileSignalsRain) {
  ask(0, SIGUSR1, actionOf(count<0>));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (const InterpreterId slot : {InterpreterId(1), InterpreterId(2), InterpreterId(3)})
    threads.emplace_back([&, slot] {
      while (!stop) {
        const struct sigaction wanted = actionOf(count<1>);
        changeSignalAction(slot, SIGUSR1, &wanted, nullptr);
        forgetSignalActions(slot);
      }
    });
  constexpr int kRain = 20000;
  for (int n = 0; n < kRain; ++n) kill(getpid(), SIGUSR1), raise(SIGUSR1);
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_GE(called()[0], kRain);  // those of raise(), which do not run into one
}

}  // namespace
}  // namespace multipy::process
