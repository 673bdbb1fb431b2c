// The fuzzers' little sister, for every day and every compiler: a subject's seeds, and many
// damaged ones, always the same. Run it under AddressSanitizer and
// UndefinedBehaviorSanitizer too.
#include <gtest/gtest.h>

#include <array>
#include <typeinfo>

#include "fuzz/mutations.h"
#include "fuzz/subject.h"

namespace multipy::fuzz {
namespace {

TEST(Mutations, SeedsAreAccepted) {
  const auto all = seeds();
  ASSERT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(exercise(all[i]), Outcome::Accepted) << "seed " << i;
}

TEST(Mutations, AnEmptyInputIsNoFinding) { EXPECT_NO_THROW(exercise({})); }

TEST(Mutations, OfSeedsAreAcceptedOrRefused) {
  Mutator mutator(seeds(), words(), 1);
  std::array<int, 2> outcomes{};
  for (int i = 0; i < MULTIPY_MUTATIONS; ++i) {
    const Bytes mutated = mutator.next();
    try {
      ++outcomes[static_cast<std::size_t>(exercise(mutated))];
    } catch (const std::exception& error) {
      FAIL() << "mutation " << i << ": " << typeid(error).name() << ": " << error.what();
    }
  }
  // Mutations that are all refused, or all harmless, would prove little.
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::Refused)], MULTIPY_MUTATIONS / 50);
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::Accepted)], MULTIPY_MUTATIONS / 50);
}

}  // namespace
}  // namespace multipy::fuzz
