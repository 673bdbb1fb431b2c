// How many users each interpreter of a manager has: calls and sessions. Chooses the one that gets
// the next.
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
#include <memory>

#include "base/mutex.h"

namespace multipy::runtime {

class InterpreterUsers {
 public:
  /// For interpreters 0 ... n-1. InvalidArgument if n is 0.
  explicit InterpreterUsers(std::size_t n);

  /// From now on only the first n are given out. InvalidArgument if n is 0 or
  /// more than the constructor was given.
  void setResourceLimit(std::size_t n);

  /// How many are given out: those that the constructor was given, or the limit.
  std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }

  /// One more user of the interpreter that is returned.
  int acquire() noexcept;
  /// The same, of one that has no user; -1, and nothing counted, if all have.
  int acquireFree() noexcept;
  /// One more user of interpreter `where`. InvalidArgument if there is none such.
  void join(int where);
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

  /// How many users interpreter `where` has now.
  std::size_t users(int where) const;

 private:
  struct alignas(64) Users {  // one a cache line: they are written all the time
    std::atomic<std::uint64_t> count{0};
  };
  // Part of the count of one that is set aside: never free, never the one with the fewest.
  static constexpr std::uint64_t kAside = std::uint64_t{1} << 32;

  /// Where to look first.
  std::size_t preferred() const noexcept;
  bool takeIfFree(std::size_t where) noexcept;
  Users& checked(int where) const;

  const std::size_t size_;
  std::atomic<std::size_t> limit_;
  std::unique_ptr<Users[]> users_;
  base::Mutex mutex_;  // of threads that set one aside
};

}  // namespace multipy::runtime
