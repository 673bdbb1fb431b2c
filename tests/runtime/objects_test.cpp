// Obj: calls, attributes, values, errors, and what dropping one does.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using testing_support::expectError;

constexpr const char* kTools = R"(
import sys

class Tracked:
    alive = 0
    def __init__(self):
        Tracked.alive += 1
    def __del__(self):
        Tracked.alive -= 1

def alive():
    return Tracked.alive

def describe(*args, **kwargs):
    return repr(args) + " " + repr(sorted(kwargs.items()))

def fail(text):
    raise ValueError(text)

class Mute(Exception):
    def __str__(self):
        raise ValueError()

def fail_without_text():
    raise Mute()

def leave(code):
    sys.exit(code)

def interrupt():
    raise KeyboardInterrupt()

class Moody:
    @property
    def bad(self):
        raise RuntimeError("not today")

    def echo(self, x):
        return x
)";

class Objects : public testing::Test {
 protected:
  Objects() : manager(1), I(start()) {}
  InterpreterSession start() {
    manager.registerModuleSource("tools", kTools);
    return manager.acquireOne();
  }
  int64_t alive() { return I.global("tools", "alive")({}).toIValue().toInt(); }

  InterpreterManager manager;
  InterpreterSession I;
};

TEST_F(Objects, CallsWithValuesOrObjs) {
  Obj describe = I.global("tools", "describe");
  EXPECT_EQ(describe({}).toIValue().toStringRef(), "() []");
  EXPECT_EQ(describe({1, "two", 3.5}).toIValue().toStringRef(), "(1, 'two', 3.5) []");
  EXPECT_EQ(describe({0, int64_t{0}}).toIValue().toStringRef(), "(0, 0) []");
  EXPECT_EQ(describe({0, 0}).toIValue().toStringRef(), "(0, 0) []") << "no two null pointers";
  EXPECT_EQ(describe({true, false}).toIValue().toStringRef(), "(True, False) []");
  EXPECT_EQ(describe(std::vector<at::IValue>{true}).toIValue().toStringRef(), "(True,) []");
  EXPECT_EQ(describe(at::ArrayRef<at::IValue>{}).toIValue().toStringRef(), "() []");
  EXPECT_EQ(describe(std::vector<Obj>()).toIValue().toStringRef(), "() []");
  EXPECT_EQ(describe({I.fromIValue(1), I.fromIValue("x")}).toIValue().toStringRef(), "(1, 'x') []");
  std::vector<Obj> many(20, I.fromIValue(7));
  EXPECT_EQ(I.global("builtins", "max")(many).toIValue().toInt(), 7);
}

TEST_F(Objects, CallsWithNames) {
  Obj describe = I.global("tools", "describe");
  EXPECT_EQ(describe.callKwargs({1}, {{"a", 2}, {"b", "c"}}).toIValue().toStringRef(),
            "(1,) [('a', 2), ('b', 'c')]");
  EXPECT_EQ(describe.callKwargs({{"only", 1}}).toIValue().toStringRef(), "() [('only', 1)]");
  std::unordered_map<std::string, at::IValue> many;
  for (int i = 0; i < 12; ++i) many.emplace("n" + std::to_string(i), i);
  const std::string text = describe.callKwargs({}, many).toIValue().toStringRef();
  for (int i = 0; i < 12; ++i)
    EXPECT_NE(text.find("('n" + std::to_string(i) + "', " + std::to_string(i) + ")"),
              std::string::npos);
}

TEST_F(Objects, Attributes) {
  Obj moody = I.global("tools", "Moody")({});
  EXPECT_TRUE(moody.hasattr("echo"));
  EXPECT_FALSE(moody.hasattr("nothing"));
  EXPECT_EQ(moody.attr("echo")({5}).toIValue().toInt(), 5);
  expectError<PythonException>([&] { moody.attr("nothing"); }, {"AttributeError", "nothing"});
  expectError<PythonException>([&] { moody.hasattr("bad"); }, {"RuntimeError", "not today"});
}

TEST_F(Objects, PythonExceptionsCarryTypeMessageAndTraceback) {
  try {
    I.global("tools", "fail")({"no way"});
    FAIL() << "nothing was thrown";
  } catch (const PythonException& error) {
    EXPECT_EQ(error.type(), "ValueError");
    EXPECT_EQ(error.message(), "no way");
    EXPECT_NE(error.traceback().find("in fail"), std::string::npos) << error.traceback();
  }
  EXPECT_EQ(I.global("tools", "describe")({1}).toIValue().toStringRef(), "(1,) []");
}

TEST_F(Objects, AnExceptionThatCannotSayWhatItIsHasAMessage) {
  try {
    I.global("tools", "fail_without_text")({});
    FAIL() << "nothing was thrown";
  } catch (const PythonException& error) {
    EXPECT_EQ(error.message(), "<exception str() failed>");
  }
}

TEST_F(Objects, IntsThatDoNotFitAreShownAsFarAsTheyCanBe) {
  const auto power = [&](int of) { return I.global("builtins", "pow")({10, of}); };
  expectError<ConversionError>([&] { power(50).toIValue(); },
                               {"1" + std::string(50, '0') + " does"});
  expectError<ConversionError>([&] { power(100).toIValue(); }, {"000... does not fit"});
  expectError<ConversionError>([&] { power(10000).toIValue(); }, {"of very many digits"});
}

TEST_F(Objects, SystemExitIsAnException) {
  expectError<PythonException>([&] { I.global("tools", "leave")({3}); }, {"SystemExit", "3"});
  expectError<PythonException>([&] { I.global("tools", "interrupt")({}); }, {"KeyboardInterrupt"});
  EXPECT_EQ(alive(), 0);
}

TEST_F(Objects, ExceptionsOutliveEverything) {
  std::exception_ptr kept;
  {
    InterpreterManager other(1);
    auto J = other.acquireOne();
    try {
      J.global("builtins", "int")({"x"});
    } catch (...) {
      kept = std::current_exception();
    }
  }
  expectError<PythonException>([&] { std::rethrow_exception(kept); },
                               {"ValueError", "invalid literal"});
}

TEST_F(Objects, UnknownModuleAndName) {
  try {
    I.global("no_such_module", "x");
    FAIL() << "nothing was thrown";
  } catch (const ModuleNotFoundError& error) {
    EXPECT_EQ(error.module(), "no_such_module");
    EXPECT_FALSE(error.searchPath().empty());
    EXPECT_NE(std::string(error.what()).find(error.searchPath().back()), std::string::npos);
  }
  expectError<PythonException>([&] { I.global("math", "no_such_name"); }, {"no_such_name"});
}

TEST_F(Objects, EmptyOnesAndNullNamesAreRefused) {
  const Obj empty;
  expectError<InvalidArgument>([&] { empty.toIValue(); }, {"convert an Obj", "empty"});
  expectError<InvalidArgument>([&] { empty({1}); }, {"call an Obj", "empty"});
  expectError<InvalidArgument>([&] { empty.attr("x"); }, {"empty"});
  expectError<InvalidArgument>([&] { I.global("tools", "describe")({empty}); },
                               {"argument", "empty"});
  expectError<InvalidArgument>([&] { I.global(nullptr, "x"); }, {"null"});
  expectError<InvalidArgument>([&] { I.fromIValue(1).attr(nullptr); }, {"null"});
}

TEST_F(Objects, CopiesShareAndTheLastOneDrops) {
  {
    Obj first = I.global("tools", "Tracked")({});
    EXPECT_EQ(alive(), 1);
    Obj second = first;
    first = Obj();
    EXPECT_EQ(alive(), 1);
    Obj third = std::move(second);
    EXPECT_EQ(alive(), 1);
  }
  EXPECT_EQ(alive(), 0);
}

TEST_F(Objects, OneWhoseValueIsTakenIsEmpty) {
  Obj taken = I.global("tools", "describe")({1});
  EXPECT_EQ(std::move(taken).toIValue().toStringRef(), "(1,) []");
  expectError<InvalidArgument>([&] { taken.toIValue(); }, {"the Obj is empty"});

  Obj first = I.global("tools", "describe")({2});
  const Obj second = first;
  EXPECT_EQ(std::move(first).toIValue().toStringRef(), "(2,) []");
  expectError<InvalidArgument>([&] { first.toIValue(); }, {"the Obj is empty"});
  EXPECT_EQ(second.toIValue().toStringRef(), "(2,) []");

  Obj withoutValue = I.global("tools", "Tracked")({});
  EXPECT_EQ(alive(), 1);
  EXPECT_THROW(std::move(withoutValue).toIValue(), ConversionError);
  EXPECT_EQ(alive(), 0);
}

TEST_F(Objects, DroppedWhileInsideGoesAtOnce) {
  Obj count = I.global("tools", "alive");
  auto inside = I.enter();
  Obj one = I.global("tools", "Tracked")({});
  EXPECT_EQ(count({}).toIValue().toInt(), 1);
  one = Obj();
  EXPECT_EQ(count({}).toIValue().toInt(), 0);
}

TEST_F(Objects, DroppedOnAnotherThreadGoesSoonWithoutAnybodyEntering) {
  // The object tells of its end by removing a file: asking Python would be entering.
  std::string path = (std::filesystem::temp_directory_path() / "multipy-drop-XXXXXX").string();
  ::close(::mkstemp(path.data()));
  manager.registerModuleSource("watch",
                               "import os\n"
                               "class Last:\n"
                               "    def __init__(self, path): self.path = path\n"
                               "    def __del__(self): os.remove(self.path)\n");
  Obj last = I.global("watch", "Last")({path});
  std::thread([dropped = std::move(last)]() mutable { dropped = Obj(); }).join();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::filesystem::exists(path) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Objects, DroppedUnderAnotherInterpretersGil) {
  InterpreterManager other(1);
  auto J = other.acquireOne();
  std::vector<Obj> tracked;
  for (int i = 0; i < 100; ++i) tracked.push_back(I.global("tools", "Tracked")({}));
  {
    auto inside = J.enter();
    tracked.clear();
    EXPECT_EQ(J.fromIValue(1).toIValue().toInt(), 1);
  }
  EXPECT_EQ(alive(), 0);
}

TEST_F(Objects, DroppingNeverWaitsForTheGil) {
  Obj tracked = I.global("tools", "Tracked")({});
  std::atomic<bool> entered{false};
  std::thread holder([&] {
    auto inside = I.enter();
    entered = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the GIL stays held
  });
  while (!entered) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  tracked = Obj();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
  holder.join();
  EXPECT_EQ(alive(), 0);
}

TEST_F(Objects, ManyThreadsMakeAndDrop) {
  constexpr int kThreads = 6, kEach = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      Obj make = I.global("tools", "Tracked");
      std::vector<Obj> kept;
      for (int i = 0; i < kEach; ++i) {
        kept.push_back(make({}));
        if (i % 50 == 49) kept.clear();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(alive(), 0);
}

TEST_F(Objects, DestructorsInPythonMayDropFurtherOnes) {
  manager.registerModuleSource("chain",
                               "class Link:\n"
                               "    def __init__(self, next): self.next = next\n"
                               "    def __del__(self): self.next = None; [0] * 10\n");
  Obj link = I.global("chain", "Link");
  Obj chain = I.global("tools", "Tracked")({});
  for (int i = 0; i < 50; ++i) chain = link({chain});
  EXPECT_EQ(alive(), 1);
  chain = Obj();
  EXPECT_EQ(alive(), 0);
}

}  // namespace
}  // namespace multipy::runtime
