// An autograd engine per interpreter.
//
// Each libtorch_python has an engine of its own (PythonEngine), which takes its
// own GIL. Four things stand in the way of having several:
//   - torch knows one default engine: a table by current interpreter.
//   - the flag that an engine's threads have been started is one for all engines,
//     so that only the first ever gets any: its pool for deeply nested backward
//     passes and its threads for GPUs. We raise the flag with the base engine,
//     whose threads do no harm, and start those of each further engine
//     ourselves, when it is first used. (Where each engine has its own flag, torch
//     does: twice as many threads would be waited for in vain.)
//   - those threads are made by libtorch_cpu and do not know their interpreter:
//     they enter it where they begin to work (thread_main). They end before it
//     does (engine_threads.h).
//   - compiled autograd takes over the whole process's engine: compiled_autograd.h.
#include "torch_bridge/autograd/engine_router.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>

#include "abi/torch_routes.h"
#include "base/mutex.h"
#include "base/per_interpreter.h"
#include "process/forked_child.h"
#include "process/function_per_interpreter.h"
#include "torch_bridge/autograd/compiled_autograd.h"
#include "torch_bridge/autograd/engine_threads.h"
#include "torch_bridge/symbols/features/engine_threads.h"
#include "torch_bridge/symbols/replaced_words.h"

namespace multipy::bridge {
namespace {

using feature::NodePointer;
using torch::autograd::Engine;
using torch::autograd::GraphTask;
using torch::autograd::InputBuffer;
using GraphTaskPointer = std::shared_ptr<GraphTask>;

// ------------------------------------------------------- the default engine

process::FunctionPerInterpreter<torch::autograd::EngineStub>& engines() {
  static auto* const table = new process::FunctionPerInterpreter<torch::autograd::EngineStub>;
  return *table;
}

Engine& currentEngine() {
  const auto engine = engines().current();
  return engine ? engine() : Engine::get_base_engine();
}

// ------------------------------------------------------- threads

PerInterpreter<std::atomic<Engine*>>& startedEngines() {
  static auto* const table = new PerInterpreter<std::atomic<Engine*>>{};
  return *table;
}

// No GIL is held by the caller, as by that of any backward pass.
void startThreadsOnce(InterpreterId slot, Engine& engine) {
  std::atomic<Engine*>& started = startedEngines()[slot];
  // In a forked child torch makes the engine anew in the same place, without threads.
  if (started.load(std::memory_order_acquire) == &engine && engine.thread_pool_shared_) return;
  // No ForkMutex, for it is held while the engine's threads start, which take the GIL. A
  // child that another thread's start was interrupted in has one of its own.
  static base::Mutex lock, ofChild;
  const base::Lock guard(process::inForkedChild() ? ofChild : lock);
  if constexpr (feature::kEachEngineStartsItsThreads<Engine>) {
    engine.initialize_device_threads_pool();
  } else {
    Engine::get_base_engine().initialize_device_threads_pool();  // raises the flag
    if (!engine.thread_pool_shared_) engine.start_device_threads();
  }
  started.store(&engine, std::memory_order_release);
}

c10::intrusive_ptr<c10::ivalue::Future> executeGraphTask(InterpreterId slot, void* engineAddress,
                                                         const void* task, void* root,
                                                         void* inputs) {
  Engine& engine = *static_cast<Engine*>(engineAddress);
  startThreadsOnce(slot, engine);
  const auto& graphTask = *static_cast<const GraphTaskPointer*>(task);
  NodePointer first = std::move(*static_cast<NodePointer*>(root));
  if (NodePointer compiled = takeCompiledRoot(graphTask, first))
    return engine.Engine::execute_with_graph_task(graphTask, std::move(compiled),
                                                  InputBuffer(torch::autograd::variable_list()));
  return engine.Engine::execute_with_graph_task(graphTask, std::move(first),
                                                std::move(*static_cast<InputBuffer*>(inputs)));
}

void engineThread(InterpreterId slot, void* engine, const void* task) {
  struct Inside {
    explicit Inside(InterpreterId slot) : before(process::Ownership::entered()) {
      process::Ownership::setCurrent(slot);
    }
    ~Inside() { process::Ownership::setCurrent(before); }
    const InterpreterId before;
  } const inside(slot);
  const auto& graphTask = *static_cast<const GraphTaskPointer*>(task);
  if (!graphTask) noteEngineThread(slot);  // a device's thread: works for all tasks
  static_cast<Engine*>(engine)->Engine::thread_main(graphTask);
}

}  // namespace

void addEngineRoutes(TorchRoutes& routes) {
  routes.engine = [](InterpreterId slot, void* stub) {
    engines().set(slot, stub);
    process::installOnce<torch::autograd::set_default_engine_stub, currentEngine>();
  };
  routes.executeGraphTask = executeGraphTask;
  routes.engineThread = engineThread;
}

void adoptEngine(const ReplacedWords& before) {
  installOver<torch::autograd::set_default_engine_stub, currentEngine>(before, engines(),
                                                                       "set_default_engine_stub");
}

void stopEngine(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  if (Engine* const engine = startedEngines()[slot].exchange(nullptr)) engine->stop();
  waitForEngineThreads(slot);
}

void purgeEngine(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  engines().clear(slot);
  startedEngines()[slot].store(nullptr);
}

}  // namespace multipy::bridge
