// thread_local objects of private libraries, on threads of the program: destroyed when the thread
// ends if the interpreter still lives, and else not.
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/path_environment.h>

#include <barrier>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace multipy::runtime {
namespace {

constexpr const char* kModule = R"py(
import threading
import thread_local_module

called = []

def call_at_end():
    thread_local_module.call_at_end(lambda: called.append(threading.get_ident()))

def in_a_thread():
    thread = threading.Thread(target=call_at_end)
    thread.start()
    thread.join()

def calls():
    return len(called)
)py";

struct Pool {
  Pool() { manager.registerModuleSource("keeping", kModule); }

  std::int64_t call(const char* function) {
    auto I = manager.acquireOne();
    const auto result = I.global("keeping", function)({}).toIValue();
    return result.isInt() ? result.toInt() : 0;
  }

  InterpreterManager manager{1,
                             std::make_shared<PathEnvironment>(MULTIPY_TEST_THREAD_LOCAL_FOLDER)};
};

TEST(ThreadDestructors, RunWhereTheInterpreterLives) {
  Pool pool;
  std::jthread([&] { pool.call("call_at_end"); }).join();
  EXPECT_EQ(pool.call("calls"), 1);
  pool.call("in_a_thread");
  while (pool.call("calls") != 2) std::this_thread::yield();  // join() returns before it
}

TEST(ThreadDestructors, DoNotRunAfterTheInterpreter) {
  int slot = -1;
  std::jthread([&] {
    for (int round = 0; round < 3; ++round) {
      Pool pool;
      pool.call("call_at_end");
      if (round == 0) slot = pool.manager.allInstances()[0].slot();
      EXPECT_EQ(pool.manager.allInstances()[0].slot(), slot) << "all of the last one was unloaded";
    }
  }).join();
}

TEST(ThreadDestructors, TheEndOfTheInterpreterWaitsForThoseThatRun) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 5; ++round) {
    auto pool = std::make_unique<Pool>();
    std::barrier together(kThreads + 1);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        pool->call("call_at_end");
        together.arrive_and_wait();
      });
    together.arrive_and_wait();
    pool.reset();
  }
}

}  // namespace
}  // namespace multipy::runtime
