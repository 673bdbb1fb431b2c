// Runs something in a child of its own, of which nothing is left, and says how it has ended. The
// program that does so must not have used multipy: its children are to.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace multipy::testing_support {

struct ChildRun {
  int status = 0;    // as waitpid() gives it
  std::string text;  // what it has written to stdout and stderr

  bool succeeded() const;
  /// For EXPECT_TRUE: a failure says how it has ended instead, and what it has written.
  testing::AssertionResult exitedWith(int wanted) const;
  /// "exit status 3", "signal 6 (Aborted)".
  std::string ending() const;
};

/// `work` returns the exit status. A child that crashes writes where; one that takes longer than
/// `seconds` is ended by SIGALRM.
ChildRun runInChild(const std::function<int()>& work, unsigned seconds = 60);

/// Open file descriptors of this process, and its threads.
std::size_t openDescriptors();
/// What they are, to be read.
std::string listDescriptors();
std::size_t runningThreads();
/// Waits a moment for threads that are on their way out. False if there are more than `most`.
bool threadsEndUntil(std::size_t most);

}  // namespace multipy::testing_support
