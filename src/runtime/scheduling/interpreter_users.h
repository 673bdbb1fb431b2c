// How many users each interpreter of a manager has: calls and sessions. Chooses the one that gets
// the next.
//
// An interpreter is in a place, a number from 0 on. There may be more places than interpreters: a
// place without one is closed, and so is that of an interpreter which is to go. A closed place gets
// no user any more and keeps those that it has.
//
// A thread gets the interpreter that it used last if no other uses that one now
// (its caches are warm), else a free one, else the one with the fewest users.
//
// Threads: all members from any thread; none waits. The number of users is
// exact, the choice is a heuristic: two threads may choose the same interpreter
// at once although another one was free a moment ago.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/mutex.h"

namespace multipy::runtime {

class InterpreterUsers {
 public:
  /// Places 0 ... n-1 are open, those up to `places` closed. InvalidArgument if n is 0.
  explicit InterpreterUsers(std::size_t n) : InterpreterUsers(n, n) {}
  InterpreterUsers(std::size_t n, std::size_t places);

  /// From now on only the first n places are given out. InvalidArgument if n is 0 or
  /// more than have been open.
  void setResourceLimit(std::size_t n);

  /// How many places there are to look at: the limit, or those that have been open.
  std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }

  /// One more user of the interpreter that is returned; -1, and nothing counted, if all are closed.
  int acquire() noexcept;
  /// The same, of one that has no user; -1, and nothing counted, if all have.
  int acquireFree() noexcept;
  /// One more user of interpreter `where`; false, and nothing counted, if that is closed.
  /// InvalidArgument if there is none such.
  bool join(int where);
  /// The same if it has so many users until then; else false, and nothing counted.
  bool joinIf(int where, std::size_t users);

  /// One user fewer. InvalidArgument if `where` is not one of the interpreters,
  /// or has no user.
  void free(int where);

  /// From now on `where` is given out only if all others are set aside as well. Users that it
  /// has stay. InvalidArgument if there is none such.
  void setAside(int where);
  /// Whether it is. InvalidArgument if there is none such.
  bool isSetAside(int where) const;

  /// From now on `where` gets no user. True if it has none. InvalidArgument if there is none such.
  bool close(int where);
  /// A closed place without users has an interpreter from now on.
  void open(int where);
  bool isClosed(int where) const;  // InvalidArgument if there is none such
  /// `drained` is called when the last user leaves a closed place, by its thread: it throws nothing
  /// and waits for nothing. Before the first user.
  void whenDrained(std::function<void()> drained) { drained_ = std::move(drained); }

  /// How many users interpreter `where` has now.
  std::size_t users(int where) const;
  /// How many places are open, and how many of them have users.
  struct Counts {
    std::size_t open, busy;
  };
  Counts counts() const noexcept;

 private:
  struct alignas(64) Users {  // one a cache line: they are written all the time
    std::atomic<std::uint64_t> count{0};
  };
  // Part of the count of one that is set aside: never free, never the one with the fewest.
  static constexpr std::uint64_t kAside = std::uint64_t{1} << 32;
  // Part of the count of one that is closed.
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 33;

  /// Where to look first.
  std::size_t preferred() const noexcept;
  bool takeIfFree(std::size_t where) noexcept;
  bool tryJoin(Users& users) noexcept;
  void keepOneInUse() MULTIPY_REQUIRES(mutex_);
  /// One has left; `before`: the count until then.
  void left(std::uint64_t before) noexcept;
  Users& checked(int where) const;

  const std::size_t size_;
  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> opened_;  // the first so many have been open
  std::unique_ptr<Users[]> users_;
  std::function<void()> drained_;
  base::Mutex mutex_;  // of threads that set one aside or close one
};

}  // namespace multipy::runtime
