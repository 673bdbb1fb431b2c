// Ends a call of execute() when all its clients have gone. Triton tells a backend of that only when
// it is asked, so one thread asks, a hundred times a second, while a call is under way.
//
// Threads: watch() by one thread at a time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace multipy::triton {

class RequestBatch;

class CancellationWatch {
 public:
  CancellationWatch();

  /// As long as this lives, the requests are watched; `stop` is asked when all are cancelled.
  class Watched {
   public:
    Watched(CancellationWatch& watch, const RequestBatch& requests);
    ~Watched();
    std::stop_token token() const { return stop_.get_token(); }

   private:
    friend class CancellationWatch;
    CancellationWatch& watch_;
    const RequestBatch& requests_;
    std::stop_source stop_;
  };

 private:
  void watch(const std::stop_token& end);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Watched* watched_ = nullptr;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace multipy::triton
