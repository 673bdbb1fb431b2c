// Environment variables that several threads change and read at once.
#include "process/environment_variables.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace multipy::process {
namespace {

std::string valueOf(const std::string& name) {
  const char* const value = ::getenv(name.c_str());
  return value ? value : "(none)";
}

int countOf(const std::string& name) {
  int count = 0;
  for (char** entry = environ; entry && *entry; ++entry)
    count += std::string(*entry).starts_with(name + "=");
  return count;
}

TEST(ProcessVariables, AreSetAndRemoved) {
  EXPECT_EQ(setProcessVariable("MULTIPY_A", "one", 0), 0);
  EXPECT_EQ(valueOf("MULTIPY_A"), "one");
  EXPECT_EQ(setProcessVariable("MULTIPY_A", "two", 0), 0);
  EXPECT_EQ(valueOf("MULTIPY_A"), "one");
  EXPECT_EQ(setProcessVariable("MULTIPY_A", "two", 1), 0);
  EXPECT_EQ(valueOf("MULTIPY_A"), "two");
  EXPECT_EQ(countOf("MULTIPY_A"), 1);
  EXPECT_EQ(setProcessVariable("MULTIPY_AB", "", 1), 0) << "a longer name";
  EXPECT_EQ(valueOf("MULTIPY_AB"), "");
  EXPECT_EQ(removeProcessVariable("MULTIPY_A"), 0);
  EXPECT_EQ(removeProcessVariable("MULTIPY_A"), 0) << "one that is not there";
  EXPECT_EQ(valueOf("MULTIPY_A"), "(none)");
  EXPECT_EQ(valueOf("MULTIPY_AB"), "");
}

TEST(ProcessVariables, ArePut) {
  static char entry[] = "MULTIPY_PUT=first";
  EXPECT_EQ(putProcessVariable(entry), 0);
  EXPECT_EQ(valueOf("MULTIPY_PUT"), "first");
  entry[sizeof entry - 2] = 'T';
  EXPECT_EQ(valueOf("MULTIPY_PUT"), "firsT") << "the text itself became part of them";
  static char other[] = "MULTIPY_PUT=second";
  EXPECT_EQ(putProcessVariable(other), 0);
  EXPECT_EQ(valueOf("MULTIPY_PUT"), "second");
  EXPECT_EQ(countOf("MULTIPY_PUT"), 1);
  static char name[] = "MULTIPY_PUT";
  EXPECT_EQ(putProcessVariable(name), 0);
  EXPECT_EQ(valueOf("MULTIPY_PUT"), "(none)");
}

TEST(ProcessVariables, RefuseWhatIsNoName) {
  EXPECT_EQ(setProcessVariable("", "x", 1), EINVAL);
  EXPECT_EQ(setProcessVariable("A=B", "x", 1), EINVAL);
  EXPECT_EQ(removeProcessVariable("A=B"), EINVAL);
}

TEST(ProcessVariables, BesideWhatTheProgramSets) {
  for (int i = 0; i < 300; ++i) {
    const std::string name = "MULTIPY_BOTH_" + std::to_string(i);
    EXPECT_EQ(setProcessVariable((name + "_OURS").c_str(), "ours", 1), 0);
    ::setenv((name + "_ITS").c_str(), "its", 1);
  }
  for (int i = 0; i < 300; ++i) {
    const std::string name = "MULTIPY_BOTH_" + std::to_string(i);
    EXPECT_EQ(valueOf(name + "_OURS"), "ours");
    EXPECT_EQ(valueOf(name + "_ITS"), "its");
    ::unsetenv((name + "_OURS").c_str());
    EXPECT_EQ(removeProcessVariable((name + "_ITS").c_str()), 0);
  }
  EXPECT_EQ(valueOf("MULTIPY_BOTH_299_ITS"), "(none)");
}

// With the C library's setenv() alone the readers end with SIGSEGV.
TEST(ProcessVariables, AreReadWhileOthersAreAdded) {
  std::atomic<int> writing{2};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 2; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < 1500; ++i) {
        const std::string name = "MULTIPY_W" + std::to_string(writer) + "_" + std::to_string(i);
        setProcessVariable(name.c_str(), "a value of some length", 1);
        if (i % 3 == 0) removeProcessVariable(name.c_str());
      }
      --writing;
    });
  for (int reader = 0; reader < 2; ++reader)
    threads.emplace_back([&] {
      while (writing.load() > 0) EXPECT_EQ(::getenv("MULTIPY_NOT_THERE"), nullptr);
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(valueOf("MULTIPY_W1_1"), "a value of some length");
  EXPECT_EQ(valueOf("MULTIPY_W1_3"), "(none)");
  EXPECT_EQ(countOf("MULTIPY_W0_1499"), 1);
}

// getenv() in another thread, or execve() in a child of vfork(), may be going through it.
TEST(ProcessVariables, AnArrayThatIsBeingReadKeepsItsEntries) {
  const auto entriesOf = [](char** array) {
    std::vector<std::string> entries;
    for (; *array; ++array) entries.emplace_back(*array);
    return entries;
  };
  for (const char* const name : {"MULTIPY_1", "MULTIPY_2", "MULTIPY_3"})
    setProcessVariable(name, "value", 1);
  char** const read = environ;
  const auto entries = entriesOf(read);
  EXPECT_EQ(removeProcessVariable("MULTIPY_1"), 0);
  EXPECT_EQ(removeProcessVariable("MULTIPY_3"), 0);
  EXPECT_EQ(entriesOf(read), entries);
  EXPECT_EQ(valueOf("MULTIPY_2"), "value");
  EXPECT_EQ(entriesOf(environ).size(), entries.size() - 2);
}

TEST(ProcessVariables, AreFoundAndInheritedWhileOthersAreRemoved) {
  setProcessVariable("MULTIPY_STAYS", "here", 1);
  std::atomic<bool> stop{false};
  std::thread changing([&] {
    while (!stop) {
      for (int i = 0; i < 20; ++i)
        setProcessVariable(("MULTIPY_" + std::to_string(i)).c_str(), "", 1);
      for (int i = 0; i < 20; ++i) removeProcessVariable(("MULTIPY_" + std::to_string(i)).c_str());
    }
  });
  int missed = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) missed += valueOf("MULTIPY_STAYS") != "here";
  for (int i = 0; i < 200; ++i) {
    char* words[] = {const_cast<char*>("true"), nullptr};
    pid_t child = 0;
    if (::posix_spawn(&child, "/bin/true", nullptr, nullptr, words, environ) != 0)
      ++refused;
    else
      ::waitpid(child, nullptr, 0);
  }
  stop = true;
  changing.join();
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(refused, 0);
}

TEST(ProcessVariables, AreCleared) {
  EXPECT_EQ(setProcessVariable("MULTIPY_CLEARED", "x", 1), 0);
  std::vector<std::string> before;
  for (char** entry = environ; *entry; ++entry) before.emplace_back(*entry);
  EXPECT_EQ(clearProcessVariables(), 0);
  EXPECT_EQ(valueOf("MULTIPY_CLEARED"), "(none)");
  EXPECT_EQ(*environ, nullptr);
  for (const std::string& entry : before) {
    const std::size_t equals = entry.find('=');
    EXPECT_EQ(setProcessVariable(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1),
              0);
  }
  EXPECT_EQ(valueOf("MULTIPY_CLEARED"), "x");
}

}  // namespace
}  // namespace multipy::process
