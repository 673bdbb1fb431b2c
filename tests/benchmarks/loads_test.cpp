// The loads of benchmarks/program: what arrives when, and that nothing is lost.
#include "loads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace multipy::benchmark {
namespace {

class Counting : public Target {
 public:
  void call(int, long number) override {
    ++calls;
    const std::lock_guard lock(mutex_);
    numbers.insert(number);
  }
  std::atomic<int> calls{0};
  std::set<long> numbers;

 private:
  std::mutex mutex_;
};

class Slow : public Target {
 public:
  void call(int, long) override { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
};

class Failing : public Target {
 public:
  explicit Failing(int after) : left_(after) {}
  void call(int, long) override {
    if (left_-- <= 0) throw std::runtime_error("no more");
  }

 private:
  std::atomic<int> left_;
};

TEST(Arrivals, HaveTheRateThatWasAskedFor) {
  const auto times = arrivals(1000, 20, 1, 1);
  EXPECT_NEAR(static_cast<double>(times.size()) / 20, 1000, 50);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_LT(times.back(), 20);
  EXPECT_EQ(times, arrivals(1000, 20, 1, 1));
  EXPECT_NE(times, arrivals(1000, 20, 1, 2));
}

TEST(Arrivals, ComeInBursts) {
  const auto times = arrivals(1000, 20, 8, 1);
  EXPECT_NEAR(static_cast<double>(times.size()) / 20, 1000, 150);
  EXPECT_EQ(times.size(), 8 * std::set<double>(times.begin(), times.end()).size());
}

TEST(Arrivals, AreAtLeastOne) { EXPECT_EQ(arrivals(1e-6, 0.001, 3, 1).size(), 3U); }

TEST(Arrivals, WantARate) { EXPECT_THROW(arrivals(0, 1, 1, 1), std::runtime_error); }

TEST(Percentiles, AreValuesThatOccurred) {
  std::vector<double> values;
  for (int i = 1000; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(percentiles(values), (std::vector<double>{500, 950, 990, 999}));
  EXPECT_EQ(percentiles({7}), (std::vector<double>{7, 7, 7, 7}));
}

TEST(Serving, AnswersEachRequestOnceAndNoneBeforeItArrives) {
  Counting first, second;
  const std::vector<double> times = {0, 0.001, 0.002, 0.002, 0.005};
  const auto served = serve({{first, 3, times}, {second, 1, times}});
  ASSERT_EQ(served.size(), 2U);
  for (const Times& stream : served) {
    ASSERT_EQ(stream.latency.size(), times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_GE(stream.queueing[i], 0);
      EXPECT_GE(stream.compute[i], 0);
      EXPECT_NEAR(stream.latency[i], stream.queueing[i] + stream.compute[i], 1e-3);
    }
  }
  EXPECT_EQ(first.calls, 3 * 3 + 5);  // each thread's calls to warm up, then the requests
  EXPECT_EQ(second.calls, 3 + 5);
  EXPECT_EQ(second.numbers.size(), 3U + 5U);
}

TEST(Serving, CountsTheTimeThatARequestWaitsForAThread) {
  Slow slow;
  const auto served = serve({{slow, 1, {0, 0, 0}}});
  EXPECT_GE(served[0].queueing[1], 2000);
  EXPECT_GE(served[0].queueing[2], 4000);
  EXPECT_GE(served[0].compute[2], 2000);
}

TEST(Serving, ThrowsWhatACallThrows) {
  Failing atOnce(0), later(5);
  EXPECT_THROW(serve({{atOnce, 2, {0, 0}}}), std::runtime_error);
  EXPECT_THROW(serve({{later, 1, {0, 0, 0, 0}}}), std::runtime_error);
}

TEST(Throughput, CountsCallsAndThrowsWhatTheyThrow) {
  Counting counting;
  EXPECT_GT(throughput(counting, 2, 0.01), 0);
  EXPECT_GT(counting.calls, 2 * 3);
  Failing atOnce(0), later(100);
  EXPECT_THROW(throughput(atOnce, 2, 10), std::runtime_error);
  EXPECT_THROW(throughput(later, 2, 10), std::runtime_error);
}

}  // namespace
}  // namespace multipy::benchmark
