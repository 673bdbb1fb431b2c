#include "runtime/scheduling/interpreter_users.h"

#include <algorithm>
#include <string>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

// The interpreter that this thread used last. One for all managers: it is only
// where the search begins. Threads that are new begin at different places.
constinit thread_local std::size_t lastUsed = SIZE_MAX;

std::size_t firstPlace() noexcept {
  static std::atomic<std::size_t> threads{0};
  return threads.fetch_add(1, std::memory_order_relaxed);
}

std::size_t checkedSize(std::size_t n) {
  if (n == 0)
    throw InvalidArgument("LoadBalancer: the number of interpreters is 0, expected at least 1");
  return n;
}

}  // namespace

InterpreterUsers::InterpreterUsers(std::size_t n, std::size_t places)
    : size_(std::max(checkedSize(n), places)),
      limit_(n),
      opened_(n),
      users_(std::make_unique<Users[]>(size_)) {
  for (std::size_t i = n; i < size_; ++i) users_[i].count.store(kClosed);
}

void InterpreterUsers::setResourceLimit(std::size_t n) {
  if (const std::size_t opened = opened_.load(); n == 0 || n > opened)
    throw InvalidArgument("LoadBalancer: the limit is " + std::to_string(n) +
                          ", expected 1 to the number of interpreters, " + std::to_string(opened));
  limit_.store(n, std::memory_order_relaxed);
}

std::size_t InterpreterUsers::preferred() const noexcept {
  return lastUsed < limit() ? lastUsed : firstPlace() % limit();
}

bool InterpreterUsers::takeIfFree(std::size_t where) noexcept {
  std::uint64_t none = 0;
  if (!users_[where].count.compare_exchange_strong(none, 1)) return false;
  lastUsed = where;
  return true;
}

int InterpreterUsers::acquireFree() noexcept {
  const std::size_t limit = this->limit();
  std::size_t where = preferred();
  for (std::size_t tried = 0; tried < limit; ++tried) {
    // Not relaxed: CallQueue counts one that waits and then looks here, and who frees an
    // interpreter does it the other way round; one of the two must see the other.
    if (users_[where].count.load() == 0 && takeIfFree(where)) [[likely]]
      return static_cast<int>(where);
    if (++where >= limit) where = 0;
  }
  return -1;
}

int InterpreterUsers::acquire() noexcept {
  if (const int free = acquireFree(); free >= 0) [[likely]]
    return free;
  const std::size_t limit = this->limit();
  std::size_t where = preferred(), least = where;
  std::uint64_t fewest = UINT64_MAX;
  for (std::size_t tried = 0; tried < limit; ++tried) {
    const std::uint64_t now = users_[where].count.load(std::memory_order_relaxed);
    if (now < fewest) {
      fewest = now;
      least = where;
    }
    if (++where >= limit) where = 0;
  }
  if (fewest >= kClosed) return -1;
  if (!tryJoin(users_[least])) return acquire();  // closed since
  lastUsed = least;
  return static_cast<int>(least);
}

void InterpreterUsers::setAside(int where) {
  Users& users = checked(where);
  const base::Lock lock(mutex_);
  users.count.fetch_or(kAside);
  keepOneInUse();
}

/// If all that are open are set aside, none is better than another.
void InterpreterUsers::keepOneInUse() {
  for (std::size_t i = 0; i < size_; ++i)
    if (users_[i].count.load() < kAside) return;
  for (std::size_t i = 0; i < size_; ++i) users_[i].count.fetch_and(~kAside);
}

bool InterpreterUsers::isSetAside(int where) const {
  return checked(where).count.load(std::memory_order_relaxed) & kAside;
}

bool InterpreterUsers::tryJoin(Users& users) noexcept {
  if (users.count.fetch_add(1) < kClosed) [[likely]]
    return true;
  left(users.count.fetch_sub(1));
  return false;
}

void InterpreterUsers::left(std::uint64_t before) noexcept {
  if (before > kClosed && before % kAside == 1 && drained_) [[unlikely]]
    drained_();
}

bool InterpreterUsers::join(int where) {
  if (!tryJoin(checked(where))) return false;
  lastUsed = static_cast<std::size_t>(where);
  return true;
}

bool InterpreterUsers::joinIf(int where, std::size_t users) {
  std::uint64_t expected = users;
  if (!checked(where).count.compare_exchange_strong(expected, expected + 1)) return false;
  lastUsed = static_cast<std::size_t>(where);
  return true;
}

InterpreterUsers::Users& InterpreterUsers::checked(int where) const {
  if (where < 0 || static_cast<std::size_t>(where) >= size_)
    throw InvalidArgument("LoadBalancer: there is no interpreter " + std::to_string(where) +
                          ", expected 0 to " + std::to_string(size_ - 1));
  return users_[where];
}

void InterpreterUsers::free(int where) {
  Users& users = checked(where);
  const std::uint64_t before = users.count.fetch_sub(1);
  if (before % kAside != 0) [[likely]]
    return left(before);
  users.count.fetch_add(1);
  throw InvalidArgument("LoadBalancer: interpreter " + std::to_string(where) +
                        " is freed but has no user; free() must be called once for each acquire()");
}

std::size_t InterpreterUsers::users(int where) const {
  return checked(where).count.load(std::memory_order_relaxed) % kAside;
}

bool InterpreterUsers::close(int where) {
  Users& users = checked(where);
  const base::Lock lock(mutex_);
  const bool hasNone = users.count.fetch_or(kClosed) % kAside == 0;
  keepOneInUse();
  return hasNone;
}

void InterpreterUsers::open(int where) {
  checked(where).count.fetch_and(~(kClosed | kAside));
  const std::size_t least = static_cast<std::size_t>(where) + 1;
  for (auto* const bound : {&opened_, &limit_}) {
    std::size_t now = bound->load();
    while (now < least && !bound->compare_exchange_weak(now, least)) {
    }
  }
}

bool InterpreterUsers::isClosed(int where) const {
  return checked(where).count.load(std::memory_order_relaxed) & kClosed;
}

InterpreterUsers::Counts InterpreterUsers::counts() const noexcept {
  Counts counts{};
  for (std::size_t i = 0; i < limit(); ++i) {
    const std::uint64_t now = users_[i].count.load(std::memory_order_relaxed);
    if (now & kClosed) continue;
    ++counts.open;
    counts.busy += now % kAside != 0;
  }
  return counts;
}

}  // namespace multipy::runtime
