// What a CallQueue asks: which calls may share an interpreter, who gets one that becomes free, who
// is in line, and whose GIL stays free. Time is an argument, or a clock of this test's own.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "runtime/scheduling/expected_costs.h"
#include "runtime/scheduling/fair_turns.h"
#include "runtime/scheduling/free_gil_looks.h"
#include "runtime/scheduling/waiting_line.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;
using Cost = CallCost::Duration;

// ------------------------------------------------------- costs

TEST(ExpectedCosts, AreThoseOfAllInsideButTheOneWithPriority) {
  ExpectedCosts costs(2);
  EXPECT_EQ(costs.inside(0), Cost(0));
  costs.begin(0, Share::Alone, Cost(5000));
  costs.begin(0, Share::Beside, Cost(300));
  EXPECT_EQ(costs.inside(0), Cost(5300));
  EXPECT_EQ(costs.inside(1), Cost(0));
  ASSERT_TRUE(costs.claimPriority(0, Cost(50)));
  costs.begin(0, Share::Priority, Cost(50));
  EXPECT_EQ(costs.inside(0), Cost(5300));
  costs.end(0, Share::Alone, Cost(5000));
  EXPECT_EQ(costs.inside(0), Cost(300));
}

TEST(ExpectedCosts, PriorityIsForOneThatIsMuchCheaperAtATime) {
  ExpectedCosts costs(1);
  costs.begin(0, Share::Alone, Cost(800));
  EXPECT_FALSE(costs.claimPriority(0, Cost(0))) << "not known: perhaps it is expensive";
  EXPECT_FALSE(costs.claimPriority(0, Cost(101))) << "an eighth, and more";
  EXPECT_TRUE(costs.claimPriority(0, Cost(100)));
  EXPECT_FALSE(costs.claimPriority(0, Cost(100))) << "one has it";
  costs.end(0, Share::Priority, Cost(100));
  EXPECT_TRUE(costs.claimPriority(0, Cost(100)));
}

TEST(ExpectedCosts, CallsThatTakeAboutAsLongMayShareAtOnceOthersLater) {
  ExpectedCosts costs(1);
  EXPECT_TRUE(costs.mayJoin(0, Cost(100), 0ns)) << "nothing is known to be inside";
  costs.begin(0, Share::Alone, Cost(1000));
  EXPECT_TRUE(costs.mayJoin(0, Cost(0), 0ns)) << "nothing is known of it";
  EXPECT_TRUE(costs.mayJoin(0, Cost(200), 0ns));
  EXPECT_TRUE(costs.mayJoin(0, Cost(7000), 0ns));
  // Much cheaper: once it has waited for eight times what it takes itself.
  EXPECT_FALSE(costs.mayJoin(0, Cost(100), 799us));
  EXPECT_TRUE(costs.mayJoin(0, Cost(100), 800us));
  // Much costlier: for eight times what the one inside takes.
  EXPECT_FALSE(costs.mayJoin(0, Cost(20'000), 7999us));
  EXPECT_TRUE(costs.mayJoin(0, Cost(20'000), 8000us));
}

TEST(ExpectedCosts, PatienceGrowsWithTheCostliestInterpreter) {
  ExpectedCosts costs(3);
  EXPECT_EQ(costs.patience(3), 100ms);
  costs.begin(1, Share::Alone, Cost(50'000));
  EXPECT_EQ(costs.patience(3), 400ms);
  costs.begin(2, Share::Alone, Cost(90'000));
  EXPECT_EQ(costs.patience(2), 400ms) << "the third is not given out";
}

// ------------------------------------------------------- turns

constexpr int kSpare = 1;

TEST(FairTurns, AnInterpreterGoesToTheFirstInLineOnceAMillisecond) {
  FairTurns turns(2, kSpare);
  const SchedulingTime start = SchedulingTime{} + 1h;
  turns.given(0, start);
  turns.given(1, start - 5ms);
  const auto next = [&](int where, SchedulingTime now) {
    return turns.next(where, now, Cost(500), true);
  };
  EXPECT_EQ(next(0, start + 1ms), FairTurns::Next::Anyone);
  EXPECT_EQ(next(0, start + 1001us), FairTurns::Next::First);
  EXPECT_EQ(next(1, start), FairTurns::Next::First) << "each interpreter has its own turns";
}

TEST(FairTurns, OfShortCallsTheFirstInLineIsWokenAndTakesPart) {
  FairTurns turns(1, kSpare), withoutSpareCore(1, 0);
  const SchedulingTime late = SchedulingTime{} + 1h;
  EXPECT_EQ(turns.next(0, late, Cost(99), true), FairTurns::Next::WokenToo);
  EXPECT_EQ(turns.next(0, late, Cost(100), true), FairTurns::Next::First);
  EXPECT_EQ(turns.next(0, late, Cost(0), true), FairTurns::Next::First) << "not known";
  EXPECT_EQ(withoutSpareCore.next(0, late, Cost(99), true), FairTurns::Next::First)
      << "there is no core to spin on";
}

TEST(FairTurns, AThreadThatDoesNotComeBackLeavesItsPlaceToOneThatIsWoken) {
  FairTurns turns(1, kSpare);
  const SchedulingTime start = SchedulingTime{} + 1h;
  turns.given(0, start);
  EXPECT_EQ(turns.next(0, start, Cost(500), true), FairTurns::Next::Anyone);
  EXPECT_EQ(turns.next(0, start, Cost(500), false), FairTurns::Next::WokenToo);
}

TEST(ReturningThread, IsOneThatComesBackToTheSameQueueAtOnce) {
  const int queue = 0, another = 0;
  const SchedulingTime start = SchedulingTime{} + 1h;
  const auto comesBack = [&](const void* to, std::chrono::nanoseconds after) {
    ReturningThread::left(&queue, start);
    EXPECT_TRUE(ReturningThread::isAway());
    ReturningThread::came(to, start + after);
    EXPECT_FALSE(ReturningThread::isAway());
    return ReturningThread::cameBack();
  };
  EXPECT_TRUE(comesBack(&queue, 19us));
  EXPECT_FALSE(comesBack(&queue, 20us));
  EXPECT_FALSE(comesBack(&another, 1us));
}

// ------------------------------------------------------- the line

TEST(WaitingLine, GivesInTheOrderOfArrival) {
  WaitingLine line;
  Waiter a, b, c;
  EXPECT_EQ(line.first(), nullptr);
  for (Waiter* each : {&a, &b, &c}) line.add(*each);
  EXPECT_EQ(line.first(), &a);
  line.giveFirst(3);
  EXPECT_EQ(a.given, 3);
  EXPECT_EQ(line.first(), &b);
  line.remove(*line.first());
  EXPECT_EQ(b.given, -1);
  line.giveFirst(1);
  EXPECT_EQ(c.given, 1);
  EXPECT_EQ(line.first(), nullptr);
  Waiter d;
  line.add(d);
  EXPECT_EQ(line.first(), &d) << "an empty line is one like a new one";
}

TEST(WaitingLine, PutsTheMoreImportantBeforeTheOthersAndBehindTheirLike) {
  WaitingLine line;
  Waiter low(CallPriority::Low), normal(CallPriority::Normal), high(CallPriority::High),
      later(CallPriority::High), last(CallPriority::Normal);
  for (Waiter* each : {&low, &normal, &high, &later, &last}) line.add(*each);
  EXPECT_EQ(line.size(), 5u);
  EXPECT_EQ(line.size(CallPriority::High), 2u);
  for (Waiter* each : {&high, &later, &normal, &last, &low}) {
    EXPECT_EQ(line.first(), each);
    line.giveFirst(0);
  }
  EXPECT_EQ(line.size(), 0u);
  EXPECT_EQ(line.size(CallPriority::Normal), 0u);
}

TEST(WaitingLine, CanBeLeftFromEveryPlaceInIt) {
  for (int leaves = 0; leaves < 3; ++leaves) {
    WaitingLine line;
    std::array<Waiter, 3> waiters;
    for (Waiter& each : waiters) line.add(each);
    line.remove(waiters[static_cast<std::size_t>(leaves)]);
    for (int i = 0; i < 3; ++i) {
      if (i == leaves) continue;
      ASSERT_EQ(line.first(), &waiters[static_cast<std::size_t>(i)]) << leaves;
      line.remove(*line.first());
    }
    EXPECT_EQ(line.first(), nullptr);
    EXPECT_EQ(line.size(), 0u);
    Waiter another;
    line.add(another);
    EXPECT_EQ(line.first(), &another);
  }
}

TEST(WaitingLine, CallsTheFirstOnlyWhereItDoesNotLookByItself) {
  WaitingLine line;
  line.callFirst();  // nothing happens
  Waiter a, b;
  line.add(a);
  line.add(b);
  line.firstIsAwake(true);
  line.callFirst();
  EXPECT_FALSE(a.called);
  line.firstIsAwake(false);
  line.callFirst();
  EXPECT_TRUE(a.called);
  a.called = false;
  line.callFirst();
  EXPECT_FALSE(a.called) << "it has been called and looks";
  line.remove(*line.first());
  line.callFirst();
  EXPECT_TRUE(b.called) << "of that nothing is known";
}

// ------------------------------------------------------- looks

/// Each look at it takes a microsecond.
struct CountingClock {
  using duration = std::chrono::microseconds;
  using time_point = std::chrono::time_point<CountingClock, duration>;
  static time_point now() { return time_point(++ticks * 1us); }
  static inline std::int64_t ticks = 0;
};

class Looks : public testing::Test {
 protected:
  /// One look at interpreters in which so many calls are and the GIL is free (0: it is held).
  int look(const std::function<std::uint64_t(int)>& glance, std::size_t limit = 2) {
    int joined = -1;
    looks.look(
        limit, glance, [&] { return other; },
        [&](int where) {
          if (refused.contains(where)) return false;
          joined = where;
          return true;
        });
    return joined;
  }

  FreeGilLooks<CountingClock> looks{0};
  bool other = false;
  std::set<int> refused;
};

TEST_F(Looks, FindWhereOneCallLeavesTheGilFreeTwice) {
  const auto secondIsFree = [](int where) -> std::uint64_t { return where == 1; };
  EXPECT_EQ(look(secondIsFree), -1);
  EXPECT_EQ(look(secondIsFree), 1);
}

TEST_F(Looks, TakeLongerWhereSeveralCallsAreInside) {
  const auto twoAreIn = [](int where) -> std::uint64_t { return where == 0 ? 2 : 0; };
  for (int time = 0; time < 3; ++time) EXPECT_EQ(look(twoAreIn), -1);
  EXPECT_EQ(look(twoAreIn), 0);
}

TEST_F(Looks, BeginAnewWhereTheGilWasHeldOnce) {
  int glances = 0;
  const auto free = [](int) -> std::uint64_t { return 1; };
  EXPECT_EQ(look(free), -1);
  EXPECT_EQ(look([&](int) -> std::uint64_t { return ++glances != 3; }, 1), -1);
  EXPECT_GE(glances, 3);
  EXPECT_EQ(look(free, 1), -1);
  EXPECT_EQ(look(free, 1), 0);
}

TEST_F(Looks, LastAndGlanceAgainAndAgain) {
  int glances = 0;
  const auto before = CountingClock::ticks;
  look([&](int) -> std::uint64_t { return ++glances; }, 1);
  EXPECT_GE(CountingClock::ticks - before, 16);
  EXPECT_GE(glances, 3);
}

TEST_F(Looks, EndWhenSomethingBetterHasBeenFound) {
  other = true;
  int glances = 0;
  EXPECT_EQ(look([&](int) -> std::uint64_t { return ++glances; }), -1);
  EXPECT_EQ(glances, 0);
}

TEST_F(Looks, GoOnToTheNextWhereOneMayNotBeJoined) {
  refused = {0};
  const auto free = [](int) -> std::uint64_t { return 1; };
  EXPECT_EQ(look(free), -1);
  EXPECT_EQ(look(free), 1);
}

TEST_F(Looks, AreAtFourInterpretersAtMostFromTheOwnOneOn) {
  FreeGilLooks<CountingClock> from6{6};
  std::set<int> seen;
  from6.look(
      8, [&](int where) -> std::uint64_t { return seen.insert(where), 0; }, [] { return false; },
      [](int) { return true; });
  EXPECT_EQ(seen, (std::set{6, 7, 0, 1}));
}

}  // namespace
}  // namespace multipy::runtime
