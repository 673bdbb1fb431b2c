// What the service counts beside what the pool counts (prometheusText(manager.stats())).
//
// Threads: every member from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace service {

class Metrics {
 public:
  void countResponse(int status);
  void countReload(bool succeeded);

  /// In Prometheus' text format.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<int, std::uint64_t> responses_;  // by status
  std::uint64_t reloads_ = 0;
  std::uint64_t failedReloads_ = 0;
};

}  // namespace service
