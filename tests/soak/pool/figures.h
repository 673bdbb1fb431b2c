// What the pool says of itself while it is called, and whether that can be: counters never go
// backwards, and are in the end what the calls came to.
//
// Threads: one.
#pragma once

#include <map>
#include <string>

#include "ledger.h"
#include "pool.h"

namespace multipy::soak::pool {

class Figures {
 public:
  explicit Figures(Pool& pool, std::size_t mostInterpreters, double longestSeconds)
      : pool_(pool), most_(mostInterpreters), longest_(longestSeconds) {}

  /// Reads stats(), prometheusText() and health(), and the ledger's oldest call.
  void look();
  /// When no call is under way any more: all of them are counted, each once.
  void compareWithOutcomes();

  long looks() const noexcept { return looks_; }
  long notReady() const noexcept { return notReady_; }
  /// "29 serve, 2 leave, 1 condemned; 17 by hand, ..." of the last look.
  std::string summary() const;
  /// What has been counted, for the end.
  std::string totals() const;

 private:
  using Counters = std::map<std::string, double>;
  void checkStats(const runtime::PoolStats& stats);
  void checkPage(const runtime::PoolStats& stats);
  void mayNotFall(Counters& before, Counters now, const std::string& where);
  void checkOldest();

  Pool& pool_;
  const std::size_t most_;
  const double longest_;
  long looks_ = 0, notReady_ = 0;
  CallId lastOldest_ = 0;
  Counters stats_, page_;
  runtime::PoolStats last_;
};

}  // namespace multipy::soak::pool
