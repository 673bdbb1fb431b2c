// What the tests of private spaces have in common.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "loader/private_space.h"
#include "loader/texts.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {

inline constexpr const char* kCounter = "int count(void) { static int n; return ++n; }";

/// With copies on disk and with copies in memory.
class PrivateSpaceTest : public ::testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<IsolationPolicy> newPolicy() const {
    return std::make_shared<IsolationPolicy>(
        std::vector<std::filesystem::path>{bench_ / "site-packages"});
  }
  std::shared_ptr<CopyCache> newCache() const {
    return GetParam() ? CopyCache::inMemory() : CopyCache::in(bench_ / "cache");
  }
  std::unique_ptr<LivingSpace> newSpace(int slot) const {
    return std::make_unique<LivingSpace>(bench_, slot, policy_, cache_);
  }
  std::filesystem::path build(const std::string& name, const std::string& source,
                              const std::string& flags = "") const {
    return bench_.build(name, source, flags);
  }
  /// "-lNAME" from a directory below the bench.
  std::string link(const std::string& directory, const std::string& library) const {
    return "-L'" + (bench_ / directory).string() + "' -l:" + library;
  }

  Workbench bench_;
  std::shared_ptr<IsolationPolicy> policy_ = newPolicy();
  std::shared_ptr<CopyCache> cache_ = newCache();
};

inline std::string errorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const runtime::LoadError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace multipy::loader::testing
