#include "runtime/scheduling/expected_costs.h"

#include <algorithm>

namespace multipy::runtime {
namespace {

using std::chrono::microseconds;

// A call is costlier by so much that another one need not wait for its end.
constexpr std::uint32_t kMuchCostlier = 8;

// Patience: eight times what the calls are expected to take, and not less than this.
constexpr unsigned kTimesExpected = 8;
constexpr microseconds kLeastPatience{100'000};

microseconds manyTimes(std::uint32_t cost) noexcept {
  return microseconds(std::uint64_t{cost} * kTimesExpected);
}

}  // namespace

bool ExpectedCosts::claimPriority(int where, Cost cost) noexcept {
  if (cost.count() == 0) return false;  // perhaps it is expensive itself
  if (inside(where).count() / kMuchCostlier < cost.count()) return false;
  return !of_[where].priority.exchange(true);
}

bool ExpectedCosts::mayJoin(int where, Cost cost, std::chrono::nanoseconds waited) const noexcept {
  const std::uint32_t mine = cost.count(), theirs = inside(where).count();
  const bool alike =
      mine == 0 || theirs == 0 || (mine / kMuchCostlier < theirs && theirs / kMuchCostlier < mine);
  return alike || waited >= manyTimes(std::min(mine, theirs));
}

microseconds ExpectedCosts::patience(std::size_t interpreters) const noexcept {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < interpreters; ++i)
    most = std::max(most, inside(static_cast<int>(i)).count());
  return std::max(kLeastPatience, manyTimes(most));
}

}  // namespace multipy::runtime
