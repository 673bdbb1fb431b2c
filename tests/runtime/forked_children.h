// Children of fork() that do something while other threads of the program are at work.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace multipy::testing_support {

/// Forks so often, one after the other; `work` returns what is wrong in the child: 0. One that
/// waits is ended by its alarm.
inline void expectChildrenToEnd(int forks, const auto& work) {
  for (int fork = 0; fork < forks; ++fork) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);
      ::_exit(work());
    }
    int status;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

}  // namespace multipy::testing_support
