#include "runtime/pool/timer.h"

#include <string>
#include <system_error>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {

Timer::Id Timer::at(Time when, std::function<void()> function) {
  const base::Lock lock(mutex_);
  if (stopped_) return 0;
  if (!thread_.joinable()) try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      throw EnvironmentError(
          std::string("cannot watch over a call's deadline: no thread is to be had: ") +
          error.what() + "; raise the limit of threads (ulimit -u), or give no deadline");
    }
  const Id id = ++lastId_;
  times_.emplace(id, when);
  try {
    waiting_.emplace(std::pair(when, id), std::move(function));
  } catch (...) {
    times_.erase(id);
    throw;
  }
  if (waiting_.begin()->first.second == id) changed_.notifyOne();
  return id;
}

void Timer::cancel(Id id) noexcept {
  if (id == 0) return;
  std::function<void()> dropped;  // what it holds may take the lock as it goes
  const base::Lock lock(mutex_);
  const auto time = times_.find(id);
  if (time == times_.end()) return;
  auto node = waiting_.extract({time->second, id});
  if (node) dropped = std::move(node.mapped());
  times_.erase(time);
}

void Timer::run() noexcept {
  const base::Lock lock(mutex_);
  while (!stopped_) {
    if (waiting_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    const auto first = waiting_.begin();
    const Time when = first->first.first;
    if (when > std::chrono::steady_clock::now()) {
      changed_.waitUntil(mutex_, when);
      continue;
    }
    auto node = waiting_.extract(first);
    times_.erase(node.key().second);
    mutex_.unlock();
    node.mapped()();
    node = {};
    mutex_.lock();
  }
}

void Timer::stop() noexcept {
  std::thread thread;
  {
    const base::Lock lock(mutex_);
    stopped_ = true;
    thread.swap(thread_);
    changed_.notifyOne();
  }
  if (thread.joinable()) thread.join();
}

}  // namespace multipy::runtime
