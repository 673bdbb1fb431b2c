// What ends a call: the records of calls under way, the timer, and how often a call is interrupted.
#include "runtime/pool/call_ending.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "runtime/pool/call_records.h"
#include "runtime/pool/timer.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// ------------------------------------------------------- records

TEST(CallRecords, ShowWhatIsUnderWayInEachPlace) {
  CallRecords records(2);
  const std::string *const a = keptName("a"), *const b = keptName("b");
  EXPECT_TRUE(records.underWay(0).empty());
  EXPECT_FALSE(records.longest(2));
  int state = 0;
  CallRecord first(records, 0, true, a, &state);
  CallRecord beside(records, 0, false, b, nullptr);
  CallRecord other(records, 1, true, b, nullptr);
  const auto here = records.underWay(0);
  ASSERT_EQ(here.size(), 2u);
  EXPECT_EQ(here[0].id, first.id());
  EXPECT_EQ(*here[0].model, "a");
  EXPECT_EQ(here[0].threadState, &state);
  EXPECT_EQ(here[0].thread, ::pthread_self());
  EXPECT_EQ(here[1].id, beside.id());
  EXPECT_EQ(CallRecords::placeOf(first.id()), 0);
  EXPECT_EQ(CallRecords::placeOf(beside.id()), 0);
  EXPECT_EQ(CallRecords::placeOf(other.id()), 1);
  ASSERT_TRUE(records.longest(2));
  EXPECT_LE(records.longest(2)->begun, here[1].begun);
  EXPECT_EQ(records.made(0), 0u) << "they may still turn out not to begin";
  for (CallRecord* each : {&first, &beside, &other}) each->countAsMade();
  EXPECT_EQ(records.made(0), 2u);
  EXPECT_EQ(records.made(1), 1u);
}

TEST(CallRecords, ACallThatIsOverIsNotTakenForTheNext) {
  CallRecords records(1);
  for (const bool alone : {true, false}) {
    CallId over = 0;
    {
      const CallRecord call(records, 0, alone, keptName("a"), nullptr);
      over = call.id();
      EXPECT_TRUE(records.isUnderWay(over));
    }
    const CallRecord next(records, 0, alone, keptName("a"), nullptr);
    EXPECT_NE(next.id(), over);
    EXPECT_FALSE(records.isUnderWay(over));
    records.markInterrupted(over, EndReason::Deadline);
    EXPECT_EQ(next.interrupted(), EndReason::None);
  }
}

TEST(CallRecords, TheFirstReasonOfAnInterruptStays) {
  CallRecords records(1);
  const CallRecord call(records, 0, true, keptName("a"), nullptr);
  records.markInterrupted(call.id(), EndReason::Stopped);
  records.markInterrupted(call.id(), EndReason::Deadline);
  EXPECT_EQ(call.interrupted(), EndReason::Stopped);
  EXPECT_EQ(records.find(call.id())->interrupted, EndReason::Stopped);
}

TEST(CallRecords, AreReadWhileCallsComeAndGo) {
  CallRecords records(1);
  std::atomic<bool> done = false;
  const std::string *const a = keptName("a"), *const b = keptName("b");
  std::jthread caller([&] {
    for (int i = 0; i < 50'000; ++i) {
      const CallRecord call(records, 0, true, i % 2 ? a : b, i % 2 ? &done : nullptr);
    }
    done = true;
  });
  while (!done)
    for (const CallUnderWay& call : records.underWay(0))
      ASSERT_EQ(call.model == a, call.threadState == &done) << "a mixture of two calls";
}

// ------------------------------------------------------- the timer

TEST(Timer, CallsEachAtItsTimeAndInTheirOrder) {
  Timer timer;
  std::mutex mutex;
  std::vector<int> called;
  std::promise<void> last;
  const auto now = Clock::now();
  const auto add = [&](int which, Clock::duration in) {
    timer.at(now + in, [&, which, in] {
      EXPECT_GE(Clock::now(), now + in);
      const std::lock_guard lock(mutex);
      called.push_back(which);
      if (which == 4) last.set_value();
    });
  };
  add(4, 30ms);
  add(2, 10ms);
  add(3, 10ms);
  add(1, -5ms);
  last.get_future().wait();
  EXPECT_EQ(called, (std::vector{1, 2, 3, 4}));
}

TEST(Timer, WhatIsCancelledOrLeftAtTheEndIsNotCalled) {
  std::atomic<int> called = 0;
  {
    Timer timer;
    const auto cancelled = timer.at(Clock::now() + 20ms, [&] { ++called; });
    timer.cancel(cancelled);
    timer.cancel(cancelled);
    timer.cancel(0);
    timer.at(Clock::now() + 1h, [&] { ++called; });
    std::promise<void> passed;
    timer.at(Clock::now() + 30ms, [&] { passed.set_value(); });
    passed.get_future().wait();
  }
  EXPECT_EQ(called, 0);
}

TEST(Timer, AFunctionMayAddAndCancelOthers) {
  Timer timer;
  std::promise<void> done;
  std::atomic<int> called = 0;
  const auto later = timer.at(Clock::now() + 1h, [&] { ++called; });
  std::function<void()> again = [&] {
    if (++called == 5) {
      timer.cancel(later);
      done.set_value();
      return;
    }
    timer.at(Clock::now(), again);
  };
  timer.at(Clock::now(), again);
  done.get_future().wait();
  EXPECT_EQ(called, 5);
}

TEST(Timer, TakesFunctionsFromManyThreads) {
  Timer timer;
  std::atomic<int> called = 0, cancelled = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          const auto id =
              timer.at(Clock::now() + std::chrono::microseconds(i % 50), [&] { ++called; });
          if (i % 5 == 0) {
            timer.cancel(id);
            ++cancelled;
          }
        }
      });
  }
  while (called < 2000 - cancelled) std::this_thread::yield();
  timer.stop();
  EXPECT_LE(called, 2000);
}

// ------------------------------------------------------- ending calls

/// Interpreters whose one call ends as the test says.
struct Pretended : Interpreters {
  void interrupt(CallId, EndReason why) noexcept override {
    reason = why;
    ++interrupts;
    interrupts.notify_all();
  }
  bool isUnderWay(CallId) const noexcept override { return underWay; }
  void giveUp(CallId) noexcept override {
    interruptsBefore = interrupts.load();
    ++givenUp;
    givenUp.notify_all();
  }
  std::atomic<bool> underWay{true};
  std::atomic<int> interrupts{0}, givenUp{0}, interruptsBefore{0};
  std::atomic<EndReason> reason{EndReason::None};
};

TEST(CallEnding, InterruptsAgainAndAgainUntilTheCallIsOver) {
  Pretended interpreters;
  Timer timer;
  CallEnding ending(timer, interpreters, 1h);
  ending.endAt(Clock::now(), 7, EndReason::Deadline);
  while (interpreters.interrupts < 4) std::this_thread::yield();
  EXPECT_EQ(interpreters.reason, EndReason::Deadline);
  EXPECT_EQ(interpreters.givenUp, 0);
  ending.over(7);
  std::promise<void> passed;
  timer.at(Clock::now(), [&] { passed.set_value(); });
  passed.get_future().wait();
  const int before = interpreters.interrupts;
  std::this_thread::sleep_for(40ms);
  EXPECT_EQ(interpreters.interrupts, before);
}

TEST(CallEnding, LeavesACallAloneThatIsOverInTime) {
  Pretended interpreters;
  Timer timer;
  CallEnding ending(timer, interpreters, 1h);
  ending.endAt(Clock::now() + 10ms, 1, EndReason::Deadline);
  ending.over(1);
  interpreters.underWay = false;
  ending.endAt(Clock::now() + 10ms, 2, EndReason::Deadline);  // not told to be over
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(interpreters.interrupts, 0);
}

TEST(CallEnding, TheEarlierTimeCounts) {
  Pretended interpreters;
  Timer timer;
  CallEnding ending(timer, interpreters, 1h);
  ending.endAt(Clock::now() + 1h, 1, EndReason::Deadline);
  ending.endAt(Clock::now(), 1, EndReason::Stopped);
  ending.endAt(Clock::now() + 2h, 1, EndReason::ByHand);
  interpreters.interrupts.wait(0);
  EXPECT_EQ(interpreters.reason, EndReason::Stopped);
}

TEST(CallEnding, GivesTheInterpreterUpOnceWhenTheGracePeriodIsOver) {
  Pretended interpreters;
  Timer timer;
  CallEnding ending(timer, interpreters, 20ms);
  const auto begun = Clock::now();
  ending.endAt(begun, 1, EndReason::Deadline);
  interpreters.givenUp.wait(0);
  EXPECT_GE(Clock::now() - begun, 20ms);
  EXPECT_GE(interpreters.interruptsBefore, 3) << "2, 4, 8 ms, and at the end of the period";
  const int before = interpreters.interrupts;
  while (interpreters.interrupts < before + 1) std::this_thread::yield();
  EXPECT_EQ(interpreters.givenUp, 1) << "the interrupts go on";
}

TEST(CallEnding, PausesAreShortAtFirstAndNeverLong) {
  EXPECT_EQ(CallEnding::pause(1), 2ms);
  EXPECT_EQ(CallEnding::pause(5), 32ms);
  for (int tries : {6, 7, 100, 1'000'000}) EXPECT_EQ(CallEnding::pause(tries), 100ms);
}

}  // namespace
}  // namespace multipy::runtime
