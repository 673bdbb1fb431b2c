// Long constants of code have their text once for all interpreters. What can be done with
// such a str is compared with plain Python in tests/conformance/programs/python.
#include "process/string_pool.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>

#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../runtime/temporary_folder.h"

namespace multipy::runtime {
namespace {

constexpr const char* kHelper = R"py(
import ctypes, gc, importlib, pathlib, py_compile, sys, tracemalloc

def write(folder):
    text = "Words that are long enough to be worth it. " * 10
    # A text of the module's own for each folder: no other module has it.
    file = pathlib.Path(folder, "documented.py")
    file.write_text(f'"""{folder}: {text}"""\nSHORT = "{folder}"\ndef f():\n  """Of f in {folder}: {text}"""\n')
    py_compile.compile(str(file), doraise=True)

def nothing(folder): pass

def load(folder):
    if folder not in sys.path: sys.path.insert(0, folder)
    return importlib.import_module("documented")

def address(text):
    ctypes.pythonapi.PyUnicode_AsUTF8.restype = ctypes.c_void_p
    return ctypes.pythonapi.PyUnicode_AsUTF8(ctypes.py_object(text))

def of_doc(folder): return address(load(folder).__doc__)
def of_short(folder): return address(load(folder).SHORT)
def doc(folder): return load(folder).f.__doc__

def forget(folder):
    del sys.modules["documented"]
    gc.collect()

def read_and_drop(folder):
    try:
        right = folder in doc(folder)
        del sys.modules["documented"]
        return right
    except KeyError:  # another thread has
        return True

def while_traced(folder):
    tracemalloc.start()
    doc(folder)
def end_of_tracing(folder): tracemalloc.stop()

class Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]

def while_replaced(folder):
    global kept
    kept = []
    # PYMEM_DOMAIN_MEM and PYMEM_DOMAIN_OBJ, one at a time, by what has a state and does the same.
    for domain in 1, 2:
        found = Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(domain, ctypes.byref(found))
        state = ctypes.create_string_buffer(1)
        other = Allocator(ctypes.addressof(state), found.malloc, found.calloc, found.realloc, found.free)
        ctypes.pythonapi.PyMem_SetAllocator(domain, ctypes.byref(other))
        kept.append(load(folder))
        forget(folder)
        ctypes.pythonapi.PyMem_SetAllocator(domain, ctypes.byref(found))

gc.collect()  # classes of pickle that _pickle replaces are garbage with texts
)py";

class StringPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = testing_support::makeTemporaryFolder().string();
    start(2);
    call(0, "write");
    call(1, "nothing");  // what the helper imports has long texts, too
  }
  void TearDown() override {
    manager.reset();
    std::filesystem::remove_all(folder);
  }

  void start(std::size_t interpreters) {
    manager.emplace(interpreters);
    manager->registerModuleSource("texts_helper", kHelper);
  }
  at::IValue call(std::size_t interpreter, const char* function) {
    auto session = manager->allInstances()[interpreter].acquireSession();
    return session.global("texts_helper", function)({session.fromIValue(folder)}).toIValue();
  }
  static uint64_t uses() { return process::StringPool::instance().counts().uses; }

  std::string folder;
  std::optional<InterpreterManager> manager;
};

TEST_F(StringPoolTest, ALongDocstringLiesOnceForAllInterpreters) {
  const uint64_t before = uses();
  EXPECT_EQ(call(0, "of_doc").toInt(), call(1, "of_doc").toInt());
  EXPECT_NE(call(0, "of_short").toInt(), call(1, "of_short").toInt());
  EXPECT_EQ(uses(), before + 4) << "of the module and of its function, in each";
}

TEST_F(StringPoolTest, IsGivenBackByTheObjectThatHadIt) {
  const uint64_t before = uses();
  for (const std::size_t interpreter : {0, 1}) call(interpreter, "doc");
  EXPECT_EQ(uses(), before + 4);
  call(0, "forget");
  EXPECT_EQ(uses(), before + 2);
  EXPECT_NE(call(1, "doc").toStringRef().find("Of f in " + folder), std::string::npos);
  call(1, "forget");
  EXPECT_EQ(uses(), before);
}

TEST_F(StringPoolTest, OutlivesTheInterpreterThatBroughtIt) {
  const std::string whole = call(0, "doc").toStringRef();
  std::optional<InterpreterManager> other(std::in_place, 1);
  other->registerModuleSource("texts_helper", kHelper);
  const auto there = [&](const char* function) {
    auto session = other->acquireOne();
    return session.global("texts_helper", function)({session.fromIValue(folder)}).toIValue();
  };
  EXPECT_EQ(there("doc").toStringRef(), whole);
  manager.reset();
  EXPECT_EQ(there("doc").toStringRef(), whole);
  there("forget");
  other.reset();
}

TEST_F(StringPoolTest, InterpretersThatComeAndGoUseNoMoreThanTheFirst) {
  call(0, "doc");
  std::size_t bytes = 0;
  for (int round = 0; round < 5; ++round) {
    start(2);
    for (const std::size_t interpreter : {0, 1}) call(interpreter, "doc");
    if (round == 0) bytes = process::StringPool::instance().counts().bytes;
  }
  EXPECT_EQ(process::StringPool::instance().counts().bytes, bytes);
}

TEST_F(StringPoolTest, NothingIsSharedWhileSomebodyCountsBlocks) {
  const uint64_t before = uses();
  call(0, "while_traced");
  EXPECT_EQ(uses(), before);
  call(0, "end_of_tracing");
  call(0, "forget");
  call(0, "doc");
  EXPECT_EQ(uses(), before + 2);
}

TEST_F(StringPoolTest, NothingIsSharedWhileOneOfPythonsAllocatorsIsReplaced) {
  const uint64_t before = uses();
  call(0, "while_replaced");
  EXPECT_EQ(uses(), before);
}

TEST_F(StringPoolTest, ManyThreadsReadAndDropThemInAllInterpreters) {
  const uint64_t before = uses();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int turn = 0; turn < 50; ++turn) {
        EXPECT_TRUE(call(thread % 2, "read_and_drop").toBool());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t interpreter : {0, 1}) {
    call(interpreter, "doc");
    call(interpreter, "forget");
  }
  EXPECT_EQ(uses(), before);
}

}  // namespace
}  // namespace multipy::runtime
