// Interpreters and managers that are made, used and destroyed while the others work.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>

#include <atomic>
#include <thread>

#include "acts.h"
#include "checks.h"
#include "multipy/runtime/interpreter.h"

namespace multipy::soak {
namespace {

using runtime::HandleError;
using runtime::Interpreter;
using runtime::InterpreterManager;
using runtime::InterpreterManagerOptions;
using runtime::ReplicatedObj;

/// Of one thread, so that its default generator is that thread's alone.
void useWithTorch(World& world, InterpreterManager& manager, Random& random) {
  world.registerModules(manager);
  const auto session = manager.allInstances()[0].acquireSession();
  const std::int64_t seed = random.number(0, 1000);
  expectSame(call(session, "soak_tensors", "seeded", seed, 20).toTensor(),
             at::rand({20}, at::detail::createCPUGenerator(seed)), "random numbers by a seed");
  const ReplicatedObj model =
      manager.loadPackage(world.packagePath("soak.pt")).loadPickle("model", "model.pkl");
  const at::Tensor x = random.tensor({2, 32});
  for (int i = 0; i < 4; ++i)
    expectClose(model({x}).toTensor(), modelAnswer(x), "the model's answer");
}

void standAlone(World&, Random& random) {
  runtime::Obj left;
  const std::int64_t number = random.number(0, 1000);
  {
    const Interpreter interpreter(std::make_shared<runtime::NoopEnvironment>());
    const auto session = interpreter.acquireSession();
    const auto json = session.global("json", "loads")({"[1, " + std::to_string(number) + "]"});
    expectEqual(json.toIValue().toListRef()[1].toInt(), number,
                "what a stand-alone interpreter read");
    left = json;
  }
  expectError<HandleError>("an object whose interpreter has gone", [&] { left.toIValue(); });
}

void withTorch(World& world, Random& random) {
  InterpreterManager manager(2);
  useWithTorch(world, manager, random);
}

void withWholeTorch(World& world, Random& random) {
  InterpreterManagerOptions options;
  options.interpreters.slimTorch = false;
  InterpreterManager manager(1, options);
  useWithTorch(world, manager, random);
}

// Its graph ends with the interpreter, the value stays.
void resultsStay(World& world, Random& random) {
  const at::Tensor x = random.tensor({4});
  at::Tensor loss, array;
  {
    InterpreterManager manager(1);
    world.registerModules(manager);
    const auto session = manager.acquireOne();
    loss = call(session, "soak_autograd", "loss_with_graph", x).toListRef()[0].toTensor();
    array = call(session, "soak_tensors", "from_numpy", 3, 2.5).toTensor();
  }
  expectClose(loss.detach(), (x * x * x).sum() * 8, "a loss whose interpreter has gone");
  expectError<c10::Error>("a graph whose interpreter has gone", [&] { loss.backward(); });
  expectSame(array, at::full({3, 8}, 2.5), "an array whose interpreter has gone");
}

// While FX traces, which it does to unpickle, it replaces Module.__call__ for all threads of its
// interpreter: other threads could not call models there.
void fxModule(World& world, Random& random) {
  InterpreterManager manager(1);
  const ReplicatedObj module =
      manager.loadPackage(world.packagePath("fx.pt")).loadPickle("model", "fx.pkl");
  const at::Tensor x = random.tensor({4, 3});
  expectClose(module({x}).toTensor(), at::relu(x * 2 + 1).sum(0), "the answer of an FX module");
}

/// Calls `counter` until its manager has gone.
void callUntilItEnds(const ReplicatedObj& counter, std::atomic<int>& started, std::string& wrong) {
  at::set_num_threads(1);
  ++started;
  for (std::int64_t i = 0;; ++i) {
    try {
      expectEqual(counter({i}).toInt(), i + 1, "a movable's answer");
    } catch (const HandleError&) {
      return;
    } catch (const std::exception& error) {
      wrong = error.what();
      return;
    }
  }
}

// Calls that are under way end well, later ones are refused.
void destroyedInUse(World& world, Random&) {
  std::string wrong;
  std::atomic<int> started = 0;
  std::thread caller;
  {
    InterpreterManager manager(1);
    world.registerModules(manager);
    auto session = manager.acquireOne();
    const auto counter = session.createMovable(session.global("soak_values", "Counter")({1}));
    caller = std::thread([&, counter] { callUntilItEnds(counter, started, wrong); });
    while (started == 0) std::this_thread::yield();
  }
  caller.join();
  expectEqual(wrong, "", "what a call had while its manager was destroyed");
}

}  // namespace

Acts recycleActs() {
  return {
      {"recycle.stand_alone", 3, standAlone, 2},
      {"recycle.with_torch", 1, withTorch, 1},
      {"recycle.with_whole_torch", 1, withWholeTorch, 1},
      {"recycle.fx_module", 1, fxModule, 1},
      {"recycle.results_stay", 1, resultsStay, 1},
      {"recycle.destroyed_in_use", 3, destroyedInUse, 2},
  };
}

}  // namespace multipy::soak
