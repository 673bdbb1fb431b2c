// What tests expect of texts: EXPECT_TRUE(contains(error, "undefined symbol")).
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace multipy::loader::testing {

inline ::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

inline ::testing::AssertionResult beginsWith(const std::string& text, const std::string& part) {
  if (text.starts_with(part)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "\"" << text << "\" does not begin with \"" << part << "\"";
}

}  // namespace multipy::loader::testing
