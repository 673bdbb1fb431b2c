// How a soak judges the growth of memory.
#include <gtest/gtest.h>

#include <cmath>

#include "memory.h"

namespace multipy::soak {
namespace {

/// Every ten seconds: `start` MB, `perHour` MB an hour more, and a wave of `noise` MB.
std::vector<Sample> samples(double seconds, double start, double perHour, double noise = 0) {
  std::vector<Sample> samples;
  for (double now = 0; now <= seconds; now += 10)
    samples.push_back({now, start + perHour * now / 3600 + noise * std::sin(now)});
  return samples;
}

TEST(Memory, FootprintIsThatOfThisProcess) {
  const Footprint now = footprint();
  EXPECT_GT(now.pss, 0);
  EXPECT_GE(now.rss, now.pss);
  EXPECT_GT(now.mappings, 10);
  EXPECT_GE(now.descriptors, 3);
  EXPECT_EQ(now.threads, 1);
}

TEST(Memory, GrowthIsTheSlopeInPercentOfTheMiddle) {
  const Growth found = growth(samples(3600, 950, 100), 0);
  EXPECT_NEAR(found.percentPerHour, 10, 0.01);
  EXPECT_NEAR(found.mbPerHour, 100, 0.1);
  EXPECT_LT(found.margin, 0.1);
  EXPECT_EQ(found.seconds, 3600);
}

TEST(Memory, WarmUpIsLeftOut) {
  auto all = samples(1800, 1000, 0);
  for (Sample& sample : all)
    if (sample.seconds < 600) sample.pss = sample.seconds;
  EXPECT_NEAR(growth(all, 600).percentPerHour, 0, 1e-9);
  EXPECT_EQ(growth(all, 600).seconds, 1200);
}

TEST(Memory, FewSamplesSayNothing) {
  const Growth found = growth(samples(80, 1000, 1e6), 0);
  EXPECT_EQ(found.seconds, 0);
  EXPECT_EQ(tooMuchGrowth(found), "");
}

TEST(Memory, SteadyGrowthOfALongRunIsTooMuch) {
  EXPECT_NE(tooMuchGrowth(growth(samples(3600, 1000, 40), 600)), "");
  EXPECT_EQ(tooMuchGrowth(growth(samples(3600, 1000, 10), 600)), "");
}

// Noise makes the interval wide, and what may be noise is not called growth.
TEST(Memory, NoiseIsNotGrowth) {
  const Growth found = growth(samples(900, 1000, 0, 100), 0);
  EXPECT_GT(found.margin, 2);
  EXPECT_EQ(tooMuchGrowth(found), "");
}

TEST(Memory, AShortRunIsJudgedByWhatHasGrown) {
  EXPECT_EQ(tooMuchGrowth(growth(samples(300, 1000, 1200), 0)), "");
  EXPECT_NE(tooMuchGrowth(growth(samples(300, 1000, 6000), 0)), "");
}

TEST(Memory, WarmUpIsAFifthOfTheRunWithinLimits) {
  EXPECT_EQ(warmUpSeconds(30), 60);
  EXPECT_EQ(warmUpSeconds(1200), 400);
  EXPECT_EQ(warmUpSeconds(36000), 1200);
}

}  // namespace
}  // namespace multipy::soak
