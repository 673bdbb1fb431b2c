// The figures of multipy's own pools, in the page of metrics that the server shows: all that
// prometheusText() has of them, with the labels `model`, `version` and `pool`. Of a histogram there
// are `..._sum` and `..._count` only: the server takes no counts that were made elsewhere.
//
// They are read once a second, by one thread for all pools, which waits for no GIL.
//
// Threads: ShownPools are made and destroyed by any thread.
#pragma once

#include <multipy/runtime/pool_stats.h>

#include <functional>
#include <memory>
#include <string>

namespace multipy::triton {

/// Whose pool it is.
struct PoolLabels {
  std::string model, version;
  std::string pool;  // of which the model has one, or one for each instance
};

/// A pool whose figures are shown, for as long as this lives.
class ShownPool {
 public:
  /// `stats` is called by another thread until the destructor has returned.
  ShownPool(PoolLabels labels, std::function<runtime::PoolStats()> stats);
  ShownPool(const ShownPool&) = delete;
  ShownPool& operator=(const ShownPool&) = delete;
  ~ShownPool();

 private:
  class Metrics;
  class Reader;
  std::shared_ptr<Reader> reader_;
  std::unique_ptr<Metrics> metrics_;
};

}  // namespace multipy::triton
