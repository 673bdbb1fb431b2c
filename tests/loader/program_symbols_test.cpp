// Which of two definitions a private library binds to if the program exports the name, too:
// functions, variables, thread-local variables; defined by the library, or declared only.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "loader/private_space_fixture.h"

// Of the program, which is linked with -rdynamic.
#define MULTIPY_OF_THE_PROGRAM extern "C" __attribute__((visibility("default")))
MULTIPY_OF_THE_PROGRAM int function_of_program() { return 1; }
MULTIPY_OF_THE_PROGRAM int variable_of_program;
MULTIPY_OF_THE_PROGRAM __thread int thread_variable_of_program;
int variable_of_program = 1;
__thread int thread_variable_of_program = 1;

namespace multipy::loader::testing {
namespace {

constexpr const char* kDefinitions = R"(
    int function_of_program(void) { return 2; }
    int variable_of_program = 2;
    __thread int thread_variable_of_program = 2;)";

constexpr const char* kDeclarations = R"(
    int function_of_program(void);
    extern int variable_of_program;
    extern __thread int thread_variable_of_program;)";

constexpr const char* kUses = R"(
    int function(void) { return function_of_program(); }
    int (*address(void))(void) { return function_of_program; }
    int variable(void) { return variable_of_program; }
    int thread_variable(void) { return thread_variable_of_program; }
    void set(int value) { variable_of_program = thread_variable_of_program = value; })";

// What makes a library one of torch's friends: an undefined name of torch's.
constexpr const char* kUseOfTorch = R"(
    __attribute__((weak)) void torchs(void) __asm__("_ZN2at8somethingEv");
    void use_torch(void) { if (torchs) torchs(); })";

class ProgramSymbolsTest : public PrivateSpaceTest {
 protected:
  ProgramSymbolsTest() { variable_of_program = thread_variable_of_program = 1; }

  std::filesystem::path library(const std::string& name, const std::string& source) const {
    return build("site-packages/" + name, source + kUses, "-fsemantic-interposition");
  }
  static int inAnotherThread(void* library, const char* function) {
    int result = 0;
    std::thread([&] { result = call(library, function); }).join();
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(Copies, ProgramSymbolsTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "inMemory" : "onDisk"; });

TEST_P(ProgramSymbolsTest, WhatALibraryDefinesIsItsInterpretersOwn) {
  const auto own = library("own.so", kDefinitions);
  auto first = newSpace(0), second = newSpace(1);
  void* const one = (*first)->load(own);
  void* const two = (*second)->load(own);
  for (const char* const name : {"function", "variable", "thread_variable"})
    EXPECT_EQ(call(one, name), 2) << name;
  EXPECT_EQ(call<int (*)()>(one, "address"),
            reinterpret_cast<int (*)()>(addressOf(one, "function_of_program")));

  call<void>(one, "set", 7);
  for (const char* const name : {"variable", "thread_variable"}) {
    EXPECT_EQ(call(one, name), 7) << name;
    EXPECT_EQ(call(two, name), 2) << name;
  }
  EXPECT_EQ(inAnotherThread(one, "thread_variable"), 2);
  EXPECT_EQ(variable_of_program, 1);
  EXPECT_EQ(thread_variable_of_program, 1);
}

TEST_P(ProgramSymbolsTest, WhatALibraryOnlyDeclaresIsTheProgramsForAllInterpreters) {
  const auto declaring = library("declaring.so", kDeclarations);
  auto first = newSpace(0), second = newSpace(1);
  void* const one = (*first)->load(declaring);
  void* const two = (*second)->load(declaring);
  EXPECT_EQ(call(one, "function"), 1);
  EXPECT_EQ(call<int (*)()>(one, "address"), &function_of_program);

  variable_of_program = thread_variable_of_program = 6;
  for (const char* const name : {"variable", "thread_variable"}) {
    EXPECT_EQ(call(one, name), 6) << name;
    EXPECT_EQ(call(two, name), 6) << name;
  }
  EXPECT_EQ(inAnotherThread(one, "variable"), 6);
  EXPECT_EQ(inAnotherThread(one, "thread_variable"), 1);
  call<void>(one, "set", 7);
  EXPECT_EQ(variable_of_program, 7);
  EXPECT_EQ(thread_variable_of_program, 7);
  EXPECT_EQ(call(two, "variable"), 7);
}

// It has definitions in common with libtorch, which the program brings, and these are one.
TEST_P(ProgramSymbolsTest, ForAnExtensionOfTorchTheProgramsComeFirst) {
  const auto ofTorch = library("of_torch.so", std::string(kDefinitions) + kUseOfTorch);
  auto space = newSpace(0);
  void* const loaded = (*space)->load(ofTorch);
  for (const char* const name : {"function", "variable", "thread_variable"})
    EXPECT_EQ(call(loaded, name), 1) << name;
}

}  // namespace
}  // namespace multipy::loader::testing
