#include "integrations/triton/cancellation.h"

#include <chrono>

#include "integrations/triton/errors.h"
#include "integrations/triton/request_batch.h"

namespace multipy::triton {

CancellationWatch::CancellationWatch() {
  thread_ = std::jthread([this](const std::stop_token& end) { watch(end); });
}

void CancellationWatch::watch(const std::stop_token& end) {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, end, [&] { return watched_ != nullptr; })) {
    const auto stillWatched = [&, watched = watched_] { return watched_ != watched; };
    if (changed_.wait_for(lock, end, 10ms, stillWatched) || end.stop_requested()) continue;
    try {
      // (Under the mutex: the requests stay until its Watched has been destroyed.)
      if (watched_->requests_.isCancelled()) watched_->stop_.request_stop();
    } catch (...) {
      logIfError(currentError().release(), "ask whether requests are cancelled");
      watched_ = nullptr;
    }
  }
}

CancellationWatch::Watched::Watched(CancellationWatch& watch, const RequestBatch& requests)
    : watch_(watch), requests_(requests) {
  const std::lock_guard lock(watch_.mutex_);
  watch_.watched_ = this;
  watch_.changed_.notify_one();
}

CancellationWatch::Watched::~Watched() {
  const std::lock_guard lock(watch_.mutex_);
  watch_.watched_ = nullptr;
  watch_.changed_.notify_one();
}

}  // namespace multipy::triton
