// Waking a blocking system call of one thread. Each test in a process of its own: which signal is
// used is decided once.
#include "process/wake_signal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/interpreter_id.h"
#include "multipy/runtime/Exception.h"
#include "process/signal_handlers.h"

namespace multipy::process {
namespace {

using namespace std::chrono_literals;

std::atomic<int> handled{0};
void count(int) { ++handled; }

bool isFree(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

/// Sleeps until it is woken.
class Sleeper {
 public:
  explicit Sleeper(bool blocksSignals = false) : thread_([=, this] { run(blocksSignals); }) {
    while (!self_.load()) std::this_thread::yield();
  }
  ~Sleeper() { thread_.join(); }

  const WakeableThread& thread() const { return *self_.load(); }
  bool isAwake() const { return awake_; }
  /// As its users do: again and again. (A thread that has not run since the last signal has not
  /// taken it.)
  Woken wakeUntilAwake() const {
    Woken last = Woken::NoSignal;
    while (!awake_ && (last = thread().wake()) != Woken::NoSignal) std::this_thread::sleep_for(1ms);
    return awake_ ? Woken::Sent : last;
  }

 private:
  void run(bool blocksSignals) {
    if (blocksSignals) {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, nullptr);
    }
    const WakeableThread self;
    self_ = &self;
    const timespec time{blocksSignals ? 0 : 3600, 300'000'000};
    const int result = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
    awake_ = result == EINTR;
    std::this_thread::sleep_for(50ms);  // while others may still use `self`
  }

  std::atomic<const WakeableThread*> self_{nullptr};
  std::atomic<bool> awake_{false};
  std::thread thread_;
};

#define IN_A_PROCESS(function) \
  EXPECT_EXIT((function(), _exit(testing::Test::HasFailure())), testing::ExitedWithCode(0), "")

void wakes() {
  EXPECT_EQ(wakeSignal(), 0);
  EXPECT_TRUE(isFree(SIGRTMIN + 10)) << "nothing is installed before the first need";
  Sleeper sleeper;
  EXPECT_EQ(wakeSignal(), 0);
  EXPECT_EQ(sleeper.wakeUntilAwake(), Woken::Sent);
  EXPECT_EQ(wakeSignal(), SIGRTMIN + 10);
}
TEST(WakeSignal, EndsABlockingCallWithEintr) { IN_A_PROCESS(wakes); }

void takesTheNextFree() {
  signal(SIGRTMIN + 10, count);
  Sleeper sleeper;
  EXPECT_EQ(sleeper.wakeUntilAwake(), Woken::Sent);
  EXPECT_EQ(wakeSignal(), SIGRTMIN + 11);
  EXPECT_EQ(handled, 0);
}
TEST(WakeSignal, IsOneThatHasNoHandler) { IN_A_PROCESS(takesTheNextFree); }

void givesWay() {
  { EXPECT_EQ(Sleeper().wakeUntilAwake(), Woken::Sent); }
  signal(SIGRTMIN + 10, count);
  { EXPECT_EQ(Sleeper().wakeUntilAwake(), Woken::Sent); }
  EXPECT_EQ(wakeSignal(), SIGRTMIN + 11);
  EXPECT_EQ(handled, 0);
}
TEST(WakeSignal, ChangesWhereTheProgramTakesItForItself) { IN_A_PROCESS(givesWay); }

void isChosen() {
  EXPECT_THROW(setWakeSignal(SIGKILL + 1000), runtime::InvalidArgument);
  signal(SIGUSR1, count);
  EXPECT_THROW(setWakeSignal(SIGUSR1), runtime::InvalidArgument);
  setWakeSignal(SIGUSR2);
  Sleeper sleeper;
  EXPECT_EQ(sleeper.wakeUntilAwake(), Woken::Sent);
  EXPECT_EQ(wakeSignal(), SIGUSR2);
  EXPECT_THROW(setWakeSignal(SIGRTMIN + 1), runtime::InvalidArgument);
}
TEST(WakeSignal, CanBeChosenByTheProgram) { IN_A_PROCESS(isChosen); }

void isNone() {
  setWakeSignal(0);
  const WakeableThread self;
  EXPECT_EQ(self.wake(), Woken::NoSignal);
  EXPECT_TRUE(isFree(SIGRTMIN + 10));
}
TEST(WakeSignal, CanBeNone) { IN_A_PROCESS(isNone); }

void isSharedWithAnInterpreter() {
  { EXPECT_EQ(Sleeper().wakeUntilAwake(), Woken::Sent); }
  struct sigaction theirs {
  }, before{};
  theirs.sa_handler = count;
  theirs.sa_flags = SA_RESTART;
  const InterpreterId interpreter(3);
  ASSERT_EQ(changeSignalAction(interpreter, SIGRTMIN + 10, &theirs, &before), 0);
  EXPECT_EQ(before.sa_handler, SIG_DFL);
  { EXPECT_EQ(Sleeper().wakeUntilAwake(), Woken::Sent); }
  EXPECT_EQ(wakeSignal(), SIGRTMIN + 10);
  EXPECT_GT(handled, 0);
  theirs.sa_handler = SIG_IGN;
  ASSERT_EQ(changeSignalAction(interpreter, SIGRTMIN + 10, &theirs, &before), 0);
  { EXPECT_EQ(Sleeper().wakeUntilAwake(), Woken::Sent); }
  EXPECT_TRUE(forgetSignalActions(interpreter));
  { EXPECT_EQ(Sleeper().wakeUntilAwake(), Woken::Sent); }
  EXPECT_EQ(wakeSignal(), SIGRTMIN + 10);
}
TEST(WakeSignal, IsNotBrokenByAnInterpreterThatWantsIt) { IN_A_PROCESS(isSharedWithAnInterpreter); }

void isNotQueued() {
  Sleeper sleeper(true);
  EXPECT_EQ(sleeper.thread().wake(), Woken::Sent);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sleeper.thread().wake(), Woken::NotTaken);
  EXPECT_FALSE(sleeper.isAwake());
}
TEST(WakeSignal, IsSentOnceToAThreadThatBlocksIt) { IN_A_PROCESS(isNotQueued); }

}  // namespace
}  // namespace multipy::process
