// When an interpreter is to be replaced, without one.
#include "runtime/pool/replacement_rules.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

TEST(ReplacementRules, GiveEachInterpreterLimitsOfItsOwn) {
  ReplacementOptions options;
  options.afterCalls = 1000;
  options.afterTime = 10s;
  options.afterHeapBytes = 100;
  options.jitter = 0.2;
  const ReplacementRules rules(options);
  EXPECT_EQ(rules.limits(0).calls, 1000u);
  EXPECT_EQ(rules.limits(1).calls, 800u);
  EXPECT_EQ(rules.limits(0.5).age, 9s);
  EXPECT_EQ(rules.limits(0.5).heapBytes, 90u);
  EXPECT_TRUE(rules.haveLimits());
}

TEST(ReplacementRules, HaveNoLimitWhereNoneIsGiven) {
  const ReplacementRules rules(ReplacementOptions{});
  EXPECT_FALSE(rules.haveLimits());
  EXPECT_FALSE(
      rules.reason({.calls = 1'000'000, .age = 1000h, .heapBytes = SIZE_MAX}, rules.limits(1)));
}

TEST(ReplacementRules, KeepALimitALimitWhateverTheJitter) {
  ReplacementOptions options;
  options.afterCalls = 1;
  options.jitter = 1;
  EXPECT_EQ(ReplacementRules(options).limits(1).calls, 1u);
}

TEST(ReplacementRules, RefuseWhatIsNoTimeAndNoShare) {
  ReplacementOptions early, hasty, unclear;
  early.afterTime = -5s;
  hasty.grace = -1ns;
  unclear.jitter = std::numeric_limits<double>::quiet_NaN();
  for (const ReplacementOptions& options : {early, hasty, unclear})
    EXPECT_THROW(ReplacementRules{options}, InvalidArgument);
  unclear.jitter = 5;
  EXPECT_THROW(ReplacementRules{unclear}, InvalidArgument);
}

TEST(ReplacementRules, SayWhy) {
  const ReplacementRules rules(ReplacementOptions{});
  const ReplacementRules::Limits limits{.calls = 10, .age = 1s, .heapBytes = 100};
  EXPECT_FALSE(rules.reason({.calls = 9, .age = 999ms, .heapBytes = 99}, limits));
  EXPECT_EQ(rules.reason({.calls = 10}, limits), ReplacementReason::Calls);
  EXPECT_EQ(rules.reason({.age = 1s}, limits), ReplacementReason::Age);
  EXPECT_EQ(rules.reason({.heapBytes = 100}, limits), ReplacementReason::Heap);
  EXPECT_EQ(rules.reason({.calls = 10, .isBroken = true}, limits), ReplacementReason::Broken);
}

TEST(ReplacementRules, LeaveABrokenOneWhereThatIsWanted) {
  ReplacementOptions options;
  options.whenBroken = false;
  EXPECT_FALSE(ReplacementRules(options).reason({.isBroken = true}, {}));
}

TEST(ReplacementRules, WaitLongerAfterEachFailure) {
  EXPECT_EQ(ReplacementRules::pause(1), 1s);
  EXPECT_EQ(ReplacementRules::pause(2), 2s);
  EXPECT_EQ(ReplacementRules::pause(6), 32s);
  EXPECT_EQ(ReplacementRules::pause(7), 60s);
  EXPECT_EQ(ReplacementRules::pause(1000), 60s);
}

}  // namespace
}  // namespace multipy::runtime
