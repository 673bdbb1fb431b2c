// Recursion without end, or nearly: Python functions, C code of Python's that calls itself, and
// objects nested so deeply that each level takes some of the stack. Python's own errors, on the
// main thread and on threads of the program with stacks of 8 MiB, and both interpreters go on.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "child_runs.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using testing_support::runInChild;

constexpr std::size_t kStack = std::size_t{8} << 20;  // what docs/reliability.md asks for

constexpr const char* kDeep = R"(
import copy, functools, json, pickle

def endless(n=0):
    return endless(n + 1)

def nested(depth=100_000):
    outer = []
    for _ in range(depth):
        outer = [outer]
    return outer

def undo(outer):  # so that nothing is freed by recursion
    while outer:
        outer = outer.pop()

class Calls:
    def __getattr__(self, name):
        return getattr(self, name + 'x')
    def __eq__(self, other):
        return self == other

def python_functions(): endless()
def attributes(): Calls().x
def comparisons(): Calls() == Calls()
def json_brackets(): json.loads('[' * 100_000)
def json_objects(): json.loads('{"a":' * 100_000)
def texts():
    outer = nested()
    try: repr(outer)
    finally: undo(outer)
def json_dumps():
    outer = nested()
    try: json.dumps(outer)
    finally: undo(outer)
def copies():
    outer = nested()
    try: copy.deepcopy(outer)
    finally: undo(outer)
def pickles():
    outer = nested()
    try: pickle.dumps(outer)
    finally: undo(outer)
def sorts(): sorted([Calls(), Calls()], key=functools.cmp_to_key(lambda a, b: sort_again()))
def sort_again(): return sorts()
def expressions(): eval('(' * 5_000 + ')' * 5_000)
def brackets(): compile('[' * 150 + ']' * 150 + '+' + '-' * 100_000 + '1', 'deep', 'eval')
def calls_through_c(): return functools.reduce(lambda a, b: calls_through_c(), [1, 2])
def maps(): return list(map(lambda _: maps(), [1]))

# A pickle of tuples in tuples: to load it takes no stack, but to show it does.
def pickle_bomb():
    repr(pickle.loads(b'N' + b'\x85' * 100_000 + b'.'))

# One whose __reduce__ makes another, for ever.
class Grows:
    def __reduce__(self): return Grows, (), None, iter([Grows()])
def pickle_without_end(): pickle.dumps(Grows())

# Freed by recursion: CPython's trashcan keeps that from using up the stack.
def frees():
    nested(1_000_000)
    raise RecursionError('as it should be')
)";

/// On a thread of its own with this stack.
void onThread(std::size_t stack, std::function<void()> work) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack);
  pthread_t thread;
  const auto run = [](void* given) -> void* {
    (*static_cast<std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(::pthread_create(&thread, &attributes, run, &work), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
}

void recurse(const Interpreter& interpreter, const std::string& how) {
  const InterpreterSession I = interpreter.acquireSession();
  const Obj deep = I.global("deep", how.c_str());
  for (int time = 0; time < 2; ++time) {
    try {
      deep({});
      ADD_FAILURE() << how << ": nothing was raised";
    } catch (const PythonException& error) {
      const std::string type = error.type();
      EXPECT_TRUE(type == "RecursionError" || type == "MemoryError" || type == "SyntaxError")
          << how << ": " << type << ": " << error.message().substr(0, 200);
    }
    EXPECT_EQ(I.global("builtins", "len")({std::string("fine")}).toIValue().toInt(), 4) << how;
  }
}

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all = {
      "python_functions",  "attributes", "comparisons", "json_brackets",
      "json_objects",      "texts",      "json_dumps",  "copies",
      "pickles",           "sorts",      "expressions", "brackets",
      "calls_through_c",   "maps",       "pickle_bomb", "frees",
      "pickle_without_end"};
  return all;
}

void expectToEndWell(const std::function<void(InterpreterManager&)>& work) {
  const auto run = runInChild(
      [&] {
        InterpreterManager manager(2);
        manager.registerModuleSource("deep", kDeep);
        work(manager);
        for (const Interpreter& interpreter : manager.allInstances()) {
          const InterpreterSession I = interpreter.acquireSession();
          EXPECT_EQ(I.global("json", "dumps")({7}).toIValue().toStringRef(), "7");
        }
        return testing::Test::HasFailure() ? 4 : 0;
      },
      110);
  EXPECT_TRUE(run.succeeded()) << run.ending() << "\n" << run.text.substr(0, 8000);
}

class Recursion : public testing::TestWithParam<std::string> {};

TEST_P(Recursion, EndsOnTheMainThread) {
  expectToEndWell(
      [&](InterpreterManager& manager) { recurse(manager.allInstances()[0], GetParam()); });
}

TEST_P(Recursion, EndsOnAThreadOfTheProgram) {
  expectToEndWell([&](InterpreterManager& manager) {
    onThread(kStack, [&] { recurse(manager.allInstances()[1], GetParam()); });
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Recursion, testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param; });

TEST(Recursions, EndInBothInterpretersAtOnce) {
  expectToEndWell([](InterpreterManager& manager) {
    const auto recurseIn = [&](std::size_t which) {
      for (const std::string& how : kinds()) recurse(manager.allInstances()[which], how);
    };
    std::thread other([&] { onThread(kStack, [&] { recurseIn(1); }); });
    onThread(kStack, [&] { recurseIn(0); });
    other.join();
  });
}

}  // namespace
}  // namespace multipy::runtime
