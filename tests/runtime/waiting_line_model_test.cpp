// The line compared with the plainest one there is, a sorted list, in every order in which up to
// eight things can happen to it: calls of each priority that come, and leave from each place in
// line (their deadline has passed, or a stop was requested), interpreters that are given or become
// free, first ones that look by themselves or sleep.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/scheduling/waiting_line.h"

namespace multipy::runtime {
namespace {

using Time = CallOptions::Clock::time_point;

/// Where a longer line can differ, so does one of three.
constexpr std::size_t kMostInLine = 3;
constexpr int kMostActs = 8;

class Pair {
 public:
  struct Act {
    std::string name;
    std::function<bool(Pair&)> happens;  // false: it cannot happen now
  };

  bool comes(CallPriority priority) {
    if (model_.size() == kMostInLine) return false;
    Waiter& waiter = waiters_.emplace_back(priority, Time(std::chrono::seconds(++clock_)));
    const auto before =
        std::ranges::find_if(model_, [&](const Waiter* each) { return each->priority < priority; });
    if (before == model_.begin()) awake_ = false;
    model_.insert(before, &waiter);
    line_.add(waiter);
    return true;
  }
  bool leaves(std::size_t place) {
    if (place >= model_.size()) return false;
    Waiter* const waiter = model_[place];
    if (place == 0) awake_ = false;
    model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(place));
    line_.remove(*waiter);
    EXPECT_EQ(waiter->given, -1);
    return true;
  }
  bool isGiven() {
    if (model_.empty()) return false;
    Waiter* const waiter = model_.front();
    model_.erase(model_.begin());
    awake_ = false;
    line_.giveFirst(5);
    EXPECT_EQ(waiter->given, 5);
    return true;
  }
  bool isCalled() {
    for (const Waiter* each : model_) const_cast<Waiter*>(each)->called = false;
    line_.callFirst();
    for (std::size_t i = 0; i < model_.size(); ++i)
      EXPECT_EQ(model_[i]->called, i == 0 && !awake_) << i;
    awake_ = awake_ || !model_.empty();
    return true;
  }
  bool sleeps() {
    if (model_.empty() || !awake_) return false;
    line_.firstIsAwake(false);
    awake_ = false;
    return true;
  }

  void expectTheSame() const {
    ASSERT_EQ(line_.size(), model_.size());
    ASSERT_EQ(line_.first(), model_.empty() ? nullptr : model_.front());
    std::array<std::size_t, kCallPriorities> sizes{};
    std::optional<Time> oldest;
    std::size_t place = 0;
    for (const Waiter* each = line_.first(); each; each = each->behind, ++place) {
      ASSERT_LT(place, model_.size());
      ASSERT_EQ(each, model_[place]);
      ++sizes[static_cast<std::size_t>(each->priority)];
      if (!oldest || each->since < *oldest) oldest = each->since;
    }
    ASSERT_EQ(place, model_.size());
    for (std::size_t i = 0; i < sizes.size(); ++i)
      ASSERT_EQ(line_.size(static_cast<CallPriority>(i)), sizes[i]);
    ASSERT_EQ(line_.oldest(), oldest);
  }

 private:
  WaitingLine line_;
  std::deque<Waiter> waiters_;
  std::vector<Waiter*> model_;
  bool awake_ = false;
  int clock_ = 0;
};

std::vector<Pair::Act> allActs() {
  std::vector<Pair::Act> acts;
  const auto add = [&](std::string name, std::function<bool(Pair&)> happens) {
    acts.push_back({std::move(name), std::move(happens)});
  };
  for (int i = 0; i < static_cast<int>(kCallPriorities); ++i)
    add("comes " + std::to_string(i),
        [i](Pair& pair) { return pair.comes(static_cast<CallPriority>(i)); });
  for (std::size_t i = 0; i < kMostInLine; ++i)
    add("leaves " + std::to_string(i), [i](Pair& pair) { return pair.leaves(i); });
  add("is given", [](Pair& pair) { return pair.isGiven(); });
  add("is called", [](Pair& pair) { return pair.isCalled(); });
  add("sleeps", [](Pair& pair) { return pair.sleeps(); });
  return acts;
}

TEST(WaitingLine, IsASortedListInEveryOrderOfWhatCanHappen) {
  const std::vector<Pair::Act> acts = allActs();
  std::size_t orders = 0;
  std::vector<std::size_t> order;
  // Each one again from an empty line: a line cannot be copied.
  const std::function<void()> goOn = [&] {
    for (std::size_t next = 0; next < acts.size(); ++next) {
      order.push_back(next);
      Pair pair;
      bool happened = true;
      for (const std::size_t each : order) happened = happened && acts[each].happens(pair);
      if (happened) {
        ++orders;
        std::string trace;
        for (const std::size_t each : order) trace += acts[each].name + ", ";
        SCOPED_TRACE(trace);
        pair.expectTheSame();
        if (testing::Test::HasFailure()) return;
        if (order.size() < kMostActs) goOn();
        if (testing::Test::HasFailure()) return;
      }
      order.pop_back();
    }
  };
  goOn();
  EXPECT_GT(orders, 100'000u);
}

}  // namespace
}  // namespace multipy::runtime
