// A pool's figures as a page of text, without a pool.
#include "runtime/pool/pool_page.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

PoolMoment moment(std::uint64_t calls, std::chrono::steady_clock::duration when) {
  PoolMoment moment{{}, {}, std::chrono::steady_clock::time_point(when)};
  InterpreterStats& one = moment.stats.interpreters.emplace_back();
  one.interpreter = 7;
  one.calls = calls;
  one.age = 3725s;
  one.heapBytes = 12'300'000;
  one.users = 1;
  one.errors = {{"ValueError", 2}};
  one.running = {
      {.id = 1, .interpreter = 7, .model = "model.pkl of bert.pt", .age = 120ms, .stack = {}}};
  moment.stats.callsOfRetired = 50;
  moment.stats.waiting = {0, 3, 0};
  return moment;
}

TEST(PoolPage, ShowsRatesSinceTheLastOne) {
  const PoolMoment before = moment(100, 10s), now = moment(120, 12s);
  const std::string page = poolPage(now, &before);
  EXPECT_NE(page.find("1 interpreters, 1 busy, 3 calls waiting, ready"), std::string::npos) << page;
  EXPECT_NE(page.find("calls 10.0/s of 170"), std::string::npos) << page;
  EXPECT_NE(page.find("model.pkl of bert.pt for 120 ms"), std::string::npos) << page;
  EXPECT_NE(page.find("1h02m"), std::string::npos) << page;
  EXPECT_NE(page.find("12.3 MB"), std::string::npos) << page;
}

TEST(PoolPage, HasNoRatesAtFirst) {
  const std::string page = poolPage(moment(100, 10s), nullptr);
  EXPECT_NE(page.find("calls - of 150"), std::string::npos) << page;
}

TEST(PoolPage, SaysWhatIsWrong) {
  PoolMoment now = moment(1, 1s);
  now.health = {.ready = false, .reasons = {"interpreter 7 is broken: torch"}};
  now.stats.interpreters[0].whyBroken = "torch\nis damaged";
  const std::string page = poolPage(now, nullptr);
  EXPECT_NE(page.find("NOT READY"), std::string::npos) << page;
  EXPECT_NE(page.find("\ninterpreter 7 is broken: torch\n"), std::string::npos) << page;
  EXPECT_NE(page.find("BROKEN: torch is damaged\n"), std::string::npos) << page;
}

TEST(Quantile, IsTheBoundUnderWhichThatPartLies) {
  DurationHistogram histogram;
  EXPECT_FALSE(quantile(histogram, 0.5));
  histogram.counts[0] = 90;
  histogram.counts[3] = 9;
  histogram.counts.back() = 1;
  EXPECT_EQ(quantile(histogram, 0.5), DurationHistogram::kBounds[0]);
  EXPECT_EQ(quantile(histogram, 0.95), DurationHistogram::kBounds[3]);
  EXPECT_FALSE(quantile(histogram, 1.0)) << "above the last bound";
}

}  // namespace
}  // namespace multipy::runtime
