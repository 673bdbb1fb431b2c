// How many interpreters a pool is to have, without one.
#include "runtime/pool/sizing_rules.h"

#include <gtest/gtest.h>

#include <chrono>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

constexpr SizingOptions kBoth{.growAfter = 100ms, .most = 8, .shrinkAfter = 1min, .least = 2};

TEST(SizingRules, KeepTheNumberWhereNothingIsGiven) {
  const SizingRules rules(SizingOptions{}, 4, 64);
  EXPECT_FALSE(rules.areOn());
  EXPECT_EQ(rules.wanted({.interpreters = 4, .waited = 1h, .sinceChange = 1h, .idle = 0}), 4u);
  EXPECT_EQ(rules.wanted({.interpreters = 4, .waited = {}, .sinceChange = 1h, .idle = 4}), 4u);
}

TEST(SizingRules, GrowByOneWhenACallHasWaited) {
  const SizingRules rules(kBoth, 2, 64);
  EXPECT_TRUE(rules.areOn());
  EXPECT_EQ(rules.wanted({.interpreters = 2, .waited = 99ms, .sinceChange = 1h, .idle = 0}), 2u);
  EXPECT_EQ(rules.wanted({.interpreters = 2, .waited = 100ms, .sinceChange = 1h, .idle = 0}), 3u);
  EXPECT_EQ(rules.wanted({.interpreters = 8, .waited = 1h, .sinceChange = 1h, .idle = 0}), 8u);
}

TEST(SizingRules, GiveTheNewOneTimeToHelpFirst) {
  const SizingRules rules(kBoth, 2, 64);
  EXPECT_EQ(rules.wanted({.interpreters = 3, .waited = 1h, .sinceChange = 50ms, .idle = 0}), 3u);
}

TEST(SizingRules, ShrinkByThoseThatHadNothingToDo) {
  const SizingRules rules(kBoth, 2, 64);
  EXPECT_EQ(rules.wanted({.interpreters = 8, .waited = {}, .sinceChange = 1h, .idle = 3}), 5u);
  EXPECT_EQ(rules.wanted({.interpreters = 8, .waited = {}, .sinceChange = 1h, .idle = 8}), 2u);
  EXPECT_EQ(rules.wanted({.interpreters = 8, .waited = {}, .sinceChange = 59s, .idle = 8}), 8u);
  EXPECT_EQ(rules.wanted({.interpreters = 8, .waited = 1ms, .sinceChange = 1h, .idle = 8}), 8u);
}

TEST(SizingRules, NeverEndWhatIsBelowTheLeast) {
  const SizingRules rules(kBoth, 2, 64);  // resized to one by hand since
  EXPECT_EQ(rules.wanted({.interpreters = 1, .waited = {}, .sinceChange = 1h, .idle = 1}), 1u);
}

TEST(SizingRules, StartOneAtOnceWhereThereIsNone) {
  SizingOptions options = kBoth;
  options.least = 0;
  const SizingRules rules(options, 2, 64);
  EXPECT_EQ(rules.wanted({.interpreters = 1, .waited = {}, .sinceChange = 1h, .idle = 1}), 0u);
  EXPECT_EQ(rules.wanted({.interpreters = 0, .waited = 0ms, .sinceChange = 0ms, .idle = 0}), 1u);
  EXPECT_EQ(rules.wanted({.interpreters = 0, .waited = {}, .sinceChange = 1h, .idle = 0}), 0u);
}

TEST(SizingRules, AreRefusedWhereTheyContradictEachOther) {
  const auto refused = [](const SizingOptions& options) {
    EXPECT_THROW(SizingRules(options, 4, 64), InvalidArgument);
  };
  refused({.growAfter = 1s, .most = 3});
  refused({.growAfter = 1s, .most = 65});
  refused({.shrinkAfter = 1s, .least = 5});
  refused({.shrinkAfter = 1s, .least = 0});  // none would come back
}

}  // namespace
}  // namespace multipy::runtime
