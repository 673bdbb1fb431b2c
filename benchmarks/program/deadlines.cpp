// How late waits end at their deadline, and how soon interrupted calls end.
//
//   multipy_deadlines [seconds of each load]
//
// A load of Python loops keeps all of the pool's interpreters busy meanwhile, with more threads
// than there are interpreters. Prints a table in Markdown.
#include <ATen/core/ivalue.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/call_options.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/replicated_obj.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace multipy::runtime;
using namespace std::chrono_literals;
using Clock = CallOptions::Clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t kInterpreters = 2;

constexpr const char* kModule = R"(
import queue, select, socket, subprocess, threading, time

def compute(n):
    total = 0
    for i in range(n): total += i
    return total

def loop():
    while True: pass

def sleep(): time.sleep(3600)

def receive():
    one, other = socket.socketpair()
    one.recv(1)

def lock():
    taken = threading.Lock()
    taken.acquire()
    taken.acquire()

def get(): queue.Queue().get()

def child(): subprocess.run(['sleep', '3600'])

def numpy_loop():
    import numpy
    while True: numpy.ones(64).sum()

def torch_loop():
    import torch
    x = torch.ones(64)
    while True: x = x + 1

def import_module(): import endless
)";

void print(const std::string& what, std::vector<double> times) {
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[std::min(times.size() - 1, static_cast<std::size_t>(part * double(times.size())))];
  };
  std::printf("| %s | %zu | %.2f | %.2f | %.2f |\n", what.c_str(), times.size(), at(0.5), at(0.99),
              times.back());
}

double since(Clock::time_point time) { return Milliseconds(Clock::now() - time).count(); }

/// What a plain condition variable does on this machine under the same load.
std::vector<double> waitsOfACondition(Clock::time_point end) {
  std::vector<double> late;
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  while (Clock::now() < end) {
    const auto deadline = Clock::now() + 10ms;
    while (changed.wait_until(lock, deadline) != std::cv_status::timeout) {
    }
    late.push_back(since(deadline));
  }
  return late;
}

/// How long after the deadline each call has come to an end that did not return in time; of those
/// that had begun, or of those that had not.
std::vector<double> pastDeadline(const ReplicatedObj& call, const std::vector<at::IValue>& args,
                                 CallOptions options, Clock::duration patience, bool begun,
                                 Clock::time_point end) {
  std::vector<double> times;
  while (Clock::now() < end) {
    options.deadline = CallOptions::in(patience);
    try {
      static_cast<void>(call.call(args, options));
    } catch (const DeadlineExceededError& error) {
      if (error.hasBegun() == begun) times.push_back(since(*options.deadline));
    }
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const auto length =
      std::chrono::milliseconds(static_cast<int>(1000 * (argc > 1 ? std::atof(argv[1]) : 2.0)));
  InterpreterManagerOptions options;
  options.pool.replacement.afterInterrupt = false;  // the interrupts alone are measured
  InterpreterManager manager(kInterpreters, options);
  manager.registerModuleSource("deadlines", kModule);
  manager.registerModuleSource("endless", "while True: pass");
  const auto function = [&](const char* name) {
    auto session = manager.acquireOne();
    return manager.createMovable(session.global("deadlines", name), &session);
  };
  for (const Interpreter& each : manager.allInstances()) {  // what is imported once is not measured
    const InterpreterSession session = each.acquireSession();
    for (const char* module : {"numpy", "torch"}) session.global(module, "ones");
  }
  std::printf("| milliseconds | n | p50 | p99 | most |\n|---|---|---|---|---|\n");
  {
    const ReplicatedObj compute = function("compute");
    std::atomic<bool> done = false;
    std::vector<std::jthread> load;
    for (std::size_t i = 0; i < 2 * kInterpreters; ++i)
      load.emplace_back([&] {
        while (!done) compute({200'000});
      });
    CallOptions alone;
    alone.alone = true;
    print("a wait in line, past its deadline, under load",
          pastDeadline(compute, {1}, alone, 1ms, false, Clock::now() + length));
    print("a condition variable's, under the same load", waitsOfACondition(Clock::now() + length));
    done = true;
  }
  for (const char* name : {"loop", "sleep", "receive", "lock", "get", "child", "numpy_loop",
                           "torch_loop", "import_module"})
    print(std::string("an interrupted call of `") + name + "`, past its deadline",
          pastDeadline(function(name), {}, {}, 20ms, true, Clock::now() + length));
  return 0;
}
