// What every interpreter is doing, from C++.
#include "multipy/runtime/stacks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "multipy/runtime/interpreter_manager.h"
#include "runtime/interpreter/stack_snapshot.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

constexpr const char* kWork = R"(
import ctypes, threading, time

stop = threading.Event()
never = threading.Lock()
never.acquire()

def spin():
    while not stop.is_set():
        sum(range(100))

def wait_for_lock():
    while not never.acquire(timeout=0.05):
        if stop.is_set(): return

def wait_in_c():
    # Not by PyDLL(None): this holds the GIL.
    usleep = ctypes.PyDLL('libc.so.6').usleep
    while not stop.is_set():
        usleep(700_000)

class Worker:
    def sleeping_method(self):
        while not stop.wait(0.05):
            time.sleep(0.05)

def start(name):
    thread = threading.Thread(target=globals().get(name) or Worker().sleeping_method, name='the ' + name)
    thread.daemon = False
    thread.start()
)";

/// CPython 3.10 knows no qualified names.
std::string method(const std::string& type, const std::string& name, const Interpreter& in) {
  auto I = in.acquireSession();
  const Obj code = I.global("stack_work", "start").attr("__code__");
  const Obj hasattr = I.global("builtins", "hasattr");
  const bool qualified = hasattr({code, I.fromIValue("co_qualname")}).toIValue().toBool();
  return qualified ? type + "." + name : name;
}

class Stacks : public testing::Test {
 protected:
  explicit Stacks(int n = 2) : manager(n) { manager.registerModuleSource("stack_work", kWork); }
  ~Stacks() override {
    for (const Interpreter& interpreter : manager.allInstances())
      interpreter.acquireSession().global("stack_work", "stop").attr("set")({});
  }

  void start(int index, const char* function) {
    manager.allInstances()[index].acquireSession().global("stack_work", "start")({function});
  }

  const ThreadStack* threadIn(const InterpreterStacks& stacks, const std::string& function) {
    for (const ThreadStack& thread : stacks.threads)
      for (const StackFrame& frame : thread.frames)
        if (frame.function == function) return &thread;
    return nullptr;
  }
  const InterpreterStacks& ofIndex(const std::vector<InterpreterStacks>& all, int index) {
    const int slot = manager.allInstances()[index].slot();
    return *std::find_if(all.begin(), all.end(),
                         [&](const InterpreterStacks& one) { return one.interpreter == slot; });
  }
  /// Dumps until `function` is seen: threads take time to get there.
  std::vector<InterpreterStacks> dumpWith(int index, const std::string& function,
                                          const StackDumpOptions& options = {}) {
    for (;;) {
      auto all = dumpStacks(options);
      if (threadIn(ofIndex(all, index), function)) return all;
      std::this_thread::sleep_for(5ms);
    }
  }

  InterpreterManager manager;
};

TEST_F(Stacks, OfIdleInterpretersAreEmpty) {
  const auto all = dumpStacks();
  ASSERT_EQ(all.size(), 2u);
  for (const InterpreterStacks& stacks : all) {
    EXPECT_FALSE(stacks.busy);
    EXPECT_TRUE(stacks.threads.empty()) << toText(all);
    EXPECT_EQ(stacks.note, "");
  }
}

TEST_F(Stacks, RunningBlockedAndSleeping) {
  start(0, "spin");
  start(0, "wait_for_lock");
  const std::string sleeping = method("Worker", "sleeping_method", manager.allInstances()[1]);
  const std::string bootstrap = method("Thread", "_bootstrap", manager.allInstances()[0]);
  start(1, "sleeping");
  dumpWith(0, "spin");
  dumpWith(0, "wait_for_lock");
  const auto all = dumpWith(1, sleeping, {.patience = 10s});
  for (const char* function : {"spin", "wait_for_lock"}) {
    const ThreadStack* thread = threadIn(ofIndex(all, 0), function);
    ASSERT_NE(thread, nullptr) << toText(all);
    EXPECT_EQ(thread->name, std::string("the ") + function);
    const auto frame =
        std::find_if(thread->frames.begin(), thread->frames.end(),
                     [&](const StackFrame& one) { return one.function == function; });
    EXPECT_EQ(frame->file, "<registered stack_work.py>");
    EXPECT_GT(frame->line, 7);
    EXPECT_LT(frame->line, 16);
    EXPECT_NE(thread->thread, 0u);
    EXPECT_EQ(thread->frames.back().function, bootstrap);
  }
  EXPECT_FALSE(ofIndex(all, 0).busy);
  EXPECT_EQ(threadIn(ofIndex(all, 1), "spin"), nullptr);
  const std::string text = toText(all);
  EXPECT_NE(text.find("File \"<registered stack_work.py>\", line "), std::string::npos) << text;
  EXPECT_NE(text.find("in " + sleeping), std::string::npos) << text;
}

TEST_F(Stacks, OfAThreadOfTheProgram) {
  std::atomic<bool> done{false};
  std::thread caller([&] {
    manager.allInstances()[0].acquireSession().global("stack_work", "spin")({});
    done = true;
  });
  const auto all = dumpWith(0, "spin", {.patience = 10s});
  EXPECT_EQ(threadIn(ofIndex(all, 0), "spin")->name, "");
  EXPECT_FALSE(done);
  manager.allInstances()[0].acquireSession().global("stack_work", "stop").attr("set")({});
  caller.join();
}

TEST_F(Stacks, OfOneThatDoesNotGiveItsGilUp) {
  std::thread caller(
      [&] { manager.allInstances()[0].acquireSession().global("stack_work", "wait_in_c")({}); });
  auto all = dumpWith(0, "wait_in_c", {.patience = 20ms});
  // On its way there it still gives the GIL up.
  while (!ofIndex(all, 0).busy) all = dumpWith(0, "wait_in_c", {.patience = 20ms});
  const InterpreterStacks& busy = ofIndex(all, 0);
  EXPECT_EQ(busy.note, "");
  EXPECT_NE(toText(all).find("busy"), std::string::npos);
  EXPECT_EQ(threadIn(busy, "wait_in_c")->frames[0].file, "<registered stack_work.py>");
  EXPECT_EQ(threadIn(busy, "wait_in_c")->frames[0].line, 20);

  const auto without = dumpStacks({.patience = 20ms, .snapshots = false});
  EXPECT_TRUE(ofIndex(without, 0).busy);
  EXPECT_TRUE(ofIndex(without, 0).threads.empty());
  EXPECT_NE(ofIndex(without, 0).note, "");
  manager.allInstances()[0].acquireSession().global("stack_work", "stop").attr("set")({});
  caller.join();
}

TEST_F(Stacks, FromInsideAndFromManyThreads) {
  start(0, "spin");
  const auto I = manager.allInstances()[1].acquireSession();
  const auto inside = I.enter();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) EXPECT_EQ(dumpStacks({.patience = 5ms}).size(), 2u);
    });
  EXPECT_EQ(dumpStacks({.patience = 10s}).size(), 2u);
  // The others do without the GIL that this thread keeps.
  {
    const auto other = manager.allInstances()[0].acquireSession();
    const auto outside = other.enter();
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(I.global("builtins", "len")({"fine"}).toIValue().toInt(), 4);
}

TEST_F(Stacks, BesideInterpretersThatComeAndGo) {
  std::atomic<bool> stop{false};
  std::thread dumping([&] {
    while (!stop) EXPECT_GE(dumpStacks().size(), 2u);
  });
  for (int i = 0; i < 3; ++i) InterpreterManager other(2);
  stop = true;
  dumping.join();
}

// A thread's state is in CPython's list before it is complete.
TEST_F(Stacks, BesideThreadsOfTheProgramThatComeAndGo) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> coming;
  for (int i = 0; i < 3; ++i)
    coming.emplace_back([&] {
      const auto I = manager.allInstances()[0].acquireSession();
      const Obj length = I.global("builtins", "len");
      while (!stop) std::thread([&] { EXPECT_EQ(length({"four"}).toIValue().toInt(), 4); }).join();
    });
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(dumpStacks({.patience = 10s}).size(), 2u);
  stop = true;
  for (auto& thread : coming) thread.join();
}

TEST(StackSnapshots, AreReadBack) {
  const auto threads = parseFaulthandlerText(
      "Thread 0x00007f0000000abc (most recent call first):\n"
      "  File \"/a \\xfc/b.py\", line 12 in inner\n"
      "  File \"c.py\", line ??? in <module>\n"
      "\n"
      "Thread 0x0000000000000001 (most recent call first):\n"
      "  <no Python frame>\n"
      "Current thread 0x0000000000000002 [named] (most recent call first):\n"
      "  Garbage-collecting\n"
      "  File \"d.py\", line 1 in f\n"
      "  File \"cut");
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].thread, 0x7f0000000abcu);
  ASSERT_EQ(threads[0].frames.size(), 2u);
  EXPECT_EQ(threads[0].frames[0].file, "/a \\xfc/b.py");
  EXPECT_EQ(threads[0].frames[0].line, 12);
  EXPECT_EQ(threads[0].frames[0].function, "inner");
  EXPECT_EQ(threads[0].frames[1].line, 0);
  EXPECT_EQ(threads[1].thread, 2u);
  ASSERT_EQ(threads[1].frames.size(), 1u);
  EXPECT_EQ(threads[1].frames[0].function, "f");
  EXPECT_TRUE(parseFaulthandlerText("").empty());
}

}  // namespace
}  // namespace multipy::runtime
