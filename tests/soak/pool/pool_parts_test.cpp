// The parts of the pool's soak that judge see what is wrong.
#include <gtest/gtest.h>

#include <string>

#include "../checks.h"
#include "ledger.h"
#include "metrics_page.h"
#include "versions.h"

namespace multipy::soak::pool {
namespace {

class LedgerTest : public testing::Test {
 protected:
  Faults faults;
  Ledger ledger{faults};
  const CallId id = ledger.open("compute");
};

TEST_F(LedgerTest, ACallThatBeginsOnceAndHasOneOutcomeIsRight) {
  ledger.begun(id);
  ledger.ended(id);
  EXPECT_EQ(ledger.open(), 1);
  ledger.close(id, End::Value);
  EXPECT_EQ(ledger.open(), 0);
  EXPECT_EQ(ledger.outcomes(), 1);
  EXPECT_EQ(ledger.counts().pool[static_cast<std::size_t>(End::Value)], 1);
  EXPECT_EQ(faults.byKind(), "");
}

TEST_F(LedgerTest, ADoubledCallIsSeen) {
  ledger.begun(id);
  ledger.begun(id);
  EXPECT_EQ(faults.byKind(), "doubled call 1");
}

TEST_F(LedgerTest, ASecondOutcomeIsSeen) {
  ledger.close(id, End::DeadlineInLine);
  ledger.close(id, End::CancelledInLine);
  EXPECT_EQ(faults.byKind(), "second outcome 1");
  EXPECT_EQ(ledger.outcomes(), 1);
}

TEST_F(LedgerTest, ACallThatBeginsAfterItsOutcomeIsSeen) {
  ledger.close(id, End::DeadlineInLine);
  ledger.begun(id);
  EXPECT_EQ(faults.byKind(), "begun after its outcome 1");
}

TEST_F(LedgerTest, AnOutcomeThatIsNotWhatWasDoneIsSeen) {
  ledger.begun(id);
  ledger.close(id, End::QueueFull);
  const CallId other = ledger.open("compute");
  ledger.close(other, End::Value);
  EXPECT_EQ(faults.byKind(), "outcome that is not what was done 2");
}

TEST_F(LedgerTest, AForgottenCallHasNoOutcome) {
  ledger.forget(id);
  EXPECT_EQ(ledger.open(), 0);
  EXPECT_FALSE(ledger.oldest());
  ledger.begun(id);
  EXPECT_EQ(faults.byKind(), "");
  ledger.close(id, End::Value);
  EXPECT_EQ(faults.byKind(), "second outcome 1");
}

TEST(VersionsTest, OneThatWasRetiredBeforeACallMayNotAnswerIt) {
  Versions versions;
  versions.introduce(0);
  const auto before = versions.now();
  versions.introduce(1);
  EXPECT_TRUE(versions.mayAnswer(0, before));
  EXPECT_TRUE(versions.mayAnswer(1, before));
  versions.retire(0);
  EXPECT_TRUE(versions.mayAnswer(0, before)) << "it was made before that";
  EXPECT_FALSE(versions.mayAnswer(0, versions.now()));
  EXPECT_TRUE(versions.mayAnswer(1, versions.now()));
  EXPECT_FALSE(versions.mayAnswer(2, before));
}

TEST(MetricsPageTest, HasWhatMustNotFall) {
  const MetricsPage page(
      "# HELP a x\n# TYPE a counter\na{b=\"c d\"} 3\n"
      "# HELP g x\n# TYPE g gauge\ng{} 3\n"
      "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 5\nh_sum{} 7.5\n"
      "h_count{} 5\n");
  EXPECT_EQ(page.counters().size(), 5u);
  EXPECT_EQ(page.counters().at("a{b=\"c d\"}"), 3);
}

TEST(MetricsPageTest, WhatIsNoPageIsSeen) {
  for (const char* text : {"", "a 3\n", "# TYPE a counter\nb 3\n", "# TYPE a counter\na x\n",
                           "# TYPE a counter\na{} 3\na{} 3\n",
                           "# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"2\"} 1\n",
                           "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_count{} 3\n"})
    EXPECT_THROW(MetricsPage{std::string(text)}, WrongAnswer) << text;
}

}  // namespace
}  // namespace multipy::soak::pool
