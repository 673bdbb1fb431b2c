// Reloads the model when asked to, by a thread of its own, so that the one that takes signals goes
// on doing that: loading takes its time.
//
// Asked while a reload is under way, it reloads once more after that one, since the file may have
// been replaced since it was read.
//
// Threads: request() from any thread. The destructor waits for a reload that is under way.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "metrics.h"
#include "model.h"

namespace service {

class Reloader {
 public:
  Reloader(Model& model, Metrics& metrics);

  void request();

 private:
  void work(const std::stop_token& stop);
  void reload();

  Model& model_;
  Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool requested_ = false;  // guarded by mutex_
  std::jthread thread_;     // the last: it uses all of the above
};

}  // namespace service
