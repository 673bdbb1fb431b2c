#include "runtime/pool/queued_calls.h"

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {

QueuedCalls::QueuedCalls(Timer& timer, std::size_t threads, std::size_t most,
                         const std::array<std::size_t, kCallPriorities>& mostOf,
                         std::function<std::size_t()> others)
    : timer_(timer),
      most_(most),
      mostOf_(mostOf),
      others_(std::move(others)),
      mostThreads_(threads) {}

QueuedCalls::~QueuedCalls() { stop(); }

// --- coming

QueuedCalls::Added QueuedCalls::add(std::shared_ptr<QueuedCall> call) {
  watch(call);
  Added added = Added::Yes;
  try {
    const base::Lock lock(mutex_);
    if (ended_)
      added = Added::Ended;
    else if (isFull(call->options.priority))
      added = Added::LineIsFull;
    if (added == Added::Yes) {
      if (size_ >= idle_ && threads_.size() < mostThreads_) startThread();
      Line& line = lines_[static_cast<std::size_t>(call->options.priority)];
      call->place_ = line.insert(line.end(), call);
      call->inLine_ = true;
      ++size_;
      added_.notifyOne();
    }
  } catch (...) {
    unwatch(*call);
    throw;
  }
  if (added != Added::Yes) {
    unwatch(*call);
    return added;
  }
  // What came before it was in line has found nothing there.
  if (call->options.stop.stop_requested()) endSoon(call, QueuedCall::Refusal::Stopped);
  if (call->options.deadline && CallOptions::Clock::now() >= *call->options.deadline)
    endSoon(call, QueuedCall::Refusal::DeadlinePassed);
  return Added::Yes;
}

/// In another thread than the caller's, which may have locks that the call's end takes.
void QueuedCalls::endSoon(const std::shared_ptr<QueuedCall>& call, QueuedCall::Refusal why) {
  try {
    timer_.at(CallOptions::Clock::now(), [this, why, weak = std::weak_ptr(call)] {
      if (const auto here = weak.lock()) end(here, why);
    });
  } catch (const std::exception&) {
    end(call, why);  // no thread, or no memory, for that
  }
}

/// Threads that are idle, or may still be started, take that many at once.
bool QueuedCalls::isFull(CallPriority priority) const {
  const std::size_t atOnce =
      idle_ + (mostThreads_ > threads_.size() ? mostThreads_ - threads_.size() : 0);
  const auto inLine = [&](std::size_t size) { return size > atOnce ? size - atOnce : 0; };
  const std::size_t own = lines_[static_cast<std::size_t>(priority)].size();
  if (size_ < atOnce) return false;
  return inLine(size_) + others_() >= most_ ||
         inLine(own) >= mostOf_[static_cast<std::size_t>(priority)];
}

void QueuedCalls::startThread() {
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    if (!threads_.empty()) return;  // it waits for those that there are
    throw EnvironmentError(
        std::string("cannot make a call that is not waited for: no thread is to be had: ") +
        error.what() + "; raise the limit of threads (ulimit -u)");
  }
}

void QueuedCalls::watch(const std::shared_ptr<QueuedCall>& call) {
  if (call->options.deadline)
    call->expiry_ = timer_.at(*call->options.deadline, [this, weak = std::weak_ptr(call)] {
      if (const auto here = weak.lock()) end(here, QueuedCall::Refusal::DeadlinePassed);
    });
  if (call->options.stop.stop_possible())
    call->onStop_.emplace(call->options.stop, QueuedCall::Stop{*this, call});
}

void QueuedCall::Stop::operator()() const noexcept {
  QueuedCalls& line = calls;  // this object ends with the call's place in line
  if (const auto here = call.lock()) line.end(here, Refusal::Stopped);
}

// Without the lock: the destructor of onStop_ waits for a call that wants it.
void QueuedCalls::unwatch(QueuedCall& call) noexcept {
  timer_.cancel(call.expiry_);
  call.onStop_.reset();
}

// --- going

bool QueuedCalls::take(QueuedCall& call) {
  if (!call.inLine_) return false;
  lines_[static_cast<std::size_t>(call.options.priority)].erase(call.place_);
  call.inLine_ = false;
  --size_;
  return true;
}

std::shared_ptr<QueuedCall> QueuedCalls::takeFirst() {
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
    if (line->empty()) continue;
    std::shared_ptr<QueuedCall> call = line->front();
    take(*call);
    return call;
  }
  return nullptr;
}

void QueuedCalls::end(const std::shared_ptr<QueuedCall>& call, QueuedCall::Refusal why) noexcept {
  {
    const base::Lock lock(mutex_);
    if (!take(*call)) return;
  }
  unwatch(*call);
  call->refuse(why);
}

void QueuedCalls::work() noexcept {
  const base::Lock lock(mutex_);
  while (!ended_) {
    std::shared_ptr<QueuedCall> call = takeFirst();
    if (!call) {
      ++idle_;
      added_.wait(mutex_);
      --idle_;
      continue;
    }
    mutex_.unlock();
    unwatch(*call);
    call->make();
    call.reset();
    mutex_.lock();
  }
}

void QueuedCalls::allowThreads(std::size_t most) noexcept {
  const base::Lock lock(mutex_);
  mostThreads_ = most;
}

void QueuedCalls::stop() noexcept {
  std::array<Line, kCallPriorities> lines;
  std::vector<std::thread> threads;
  {
    const base::Lock lock(mutex_);
    ended_ = true;
    lines.swap(lines_);
    threads.swap(threads_);
    size_ = 0;
    for (Line& line : lines)
      for (const auto& call : line) call->inLine_ = false;
    added_.notifyAll();
  }
  for (Line& line : lines)
    for (const auto& call : line) {
      unwatch(*call);
      call->refuse(QueuedCall::Refusal::ManagerGone);
    }
  for (std::thread& thread : threads) thread.join();
}

std::size_t QueuedCalls::inLine() const noexcept {
  const base::Lock lock(mutex_);
  return size_;
}

std::optional<CallOptions::Clock::time_point> QueuedCalls::oldest() const noexcept {
  const base::Lock lock(mutex_);
  std::optional<CallOptions::Clock::time_point> oldest;
  for (const Line& line : lines_)
    if (!line.empty() && (!oldest || line.front()->since < *oldest)) oldest = line.front()->since;
  return oldest;
}

std::array<std::size_t, kCallPriorities> QueuedCalls::inLineByPriority() const noexcept {
  const base::Lock lock(mutex_);
  return {lines_[0].size(), lines_[1].size(), lines_[2].size()};
}

}  // namespace multipy::runtime
