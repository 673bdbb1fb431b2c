#include "reloader.h"

#include <cstdio>
#include <exception>

namespace service {

Reloader::Reloader(Model& model, Metrics& metrics)
    : model_(model),
      metrics_(metrics),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

void Reloader::request() {
  {
    const std::lock_guard lock(mutex_);
    requested_ = true;
  }
  changed_.notify_one();
}

void Reloader::work(const std::stop_token& stop) {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return requested_; })) return;
      if (stop.stop_requested()) return;
      requested_ = false;
    }
    reload();
  }
}

void Reloader::reload() {
  try {
    model_.reload();
    metrics_.countReload(true);
    std::fprintf(stderr, "05_service: reloaded the package\n");
  } catch (const std::exception& error) {
    metrics_.countReload(false);
    std::fprintf(stderr,
                 "05_service: the old model goes on serving; cannot reload the package: %s\n",
                 error.what());
  }
}

}  // namespace service
