// Chooses which of n interpreters does the next piece of work: what an InterpreterManager goes by,
// for programs that distribute work themselves.
//
// A thread gets the interpreter that it used last if no other uses that one now
// (its caches are warm), else a free one, else the one with the fewest users.
//
//   LoadBalancer balancer(4);
//   int where = balancer.acquire();   // 0 ... 3
//   ...
//   balancer.free(where);
//
// Threads: all members from any thread; none waits. The number of users is
// exact, the choice is a heuristic: two threads may choose the same interpreter
// at once although another one was free a moment ago.
#pragma once

#include <cstddef>
#include <memory>

namespace multipy::runtime {

class InterpreterUsers;

class LoadBalancer {
 public:
  /// For interpreters 0 ... n-1. InvalidArgument if n is 0.
  explicit LoadBalancer(std::size_t n);
  ~LoadBalancer();
  LoadBalancer(const LoadBalancer&) = delete;
  LoadBalancer& operator=(const LoadBalancer&) = delete;

  /// From now on only the first n are given out. InvalidArgument if n is 0 or
  /// more than the constructor was given.
  void setResourceLimit(std::size_t n);

  /// One more user of the interpreter that is returned.
  int acquire() noexcept;

  /// One user fewer. InvalidArgument if `where` is not one of the interpreters,
  /// or has no user.
  void free(int where);

  /// How many users interpreter `where` has now. InvalidArgument if there is none such.
  std::size_t users(int where) const;

 private:
  const std::unique_ptr<InterpreterUsers> users_;
};

}  // namespace multipy::runtime
