#include "torch/process_slots.h"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/profiler/orchestration/python_tracer.h>

#include <array>
#include <atomic>
#include <mutex>

#include "torch/ownership.h"

namespace multipy::routing {
namespace {

bool isInterpreter(int slot) noexcept { return slot >= 0 && slot < kMaxInterpreters; }

template <typename Function>
class PerInterpreter {
 public:
  void set(int slot, void* function) noexcept {
    if (isInterpreter(slot)) functions_[slot].store(reinterpret_cast<Function>(function));
  }
  void clear(int slot) noexcept { functions_[slot].store(nullptr); }
  /// Of the interpreter that the calling thread is in, or null.
  Function current() const noexcept {
    const int slot = Ownership::process().current();
    return slot == kNone ? nullptr : functions_[slot].load();
  }

 private:
  std::array<std::atomic<Function>, kMaxInterpreters> functions_{};
};

// ------------------------------------------------------- the autograd engine

using torch::autograd::Engine;

PerInterpreter<torch::autograd::EngineStub>& engines() {
  static auto* const table = new PerInterpreter<torch::autograd::EngineStub>;
  return *table;
}

Engine& currentEngine() {
  const auto engine = engines().current();
  return engine ? engine() : Engine::get_base_engine();
}

// Compiled autograd takes the engine over for the whole process, by torch's
// design: one interpreter at a time may have it.
struct CompiledAutograd {
  std::mutex lock;
  int holder = kNone;  // guarded by lock
  static CompiledAutograd& process() {
    static auto* const one = new CompiledAutograd;
    return *one;
  }
};

void setCompiledAutograd(int slot, void* function) {
  CompiledAutograd& state = CompiledAutograd::process();
  const auto compiled = reinterpret_cast<Engine::compiled_autograd_fn>(function);
  int holder = kNone;
  {
    const std::lock_guard guard(state.lock);
    holder = state.holder;
    if (holder == kNone || holder == slot) {
      Engine::set_compiled_autograd(compiled);
      state.holder = compiled ? slot : kNone;
      return;
    }
  }
  TORCH_CHECK(!compiled, "enabling compiled autograd in interpreter ", slot, ": interpreter ", holder,
              " of this process is using it. torch has one compiled autograd per process: use it "
              "in one interpreter at a time, or leave it off");
}

void releaseCompiledAutograd(int slot) {
  CompiledAutograd& state = CompiledAutograd::process();
  const std::lock_guard guard(state.lock);
  if (state.holder != slot) return;
  Engine::set_compiled_autograd(nullptr);
  state.holder = kNone;
}

// ------------------------------------------------------- the profiler

namespace tracing = torch::profiler::impl::python_tracer;

// What torch uses where there is no Python.
struct NoTracer final : tracing::PythonTracerBase {
  void stop() override {}
  void restart() override {}
  void register_gc_callback() override {}
  std::vector<std::shared_ptr<torch::profiler::impl::Result>> getEvents(
      std::function<c10::time_t(c10::approx_time_t)>, std::vector<tracing::CompressedEvent>&,
      c10::time_t) override {
    return {};
  }
};

struct NoMemoryTracer final : tracing::PythonMemoryTracerBase {
  void start() override {}
  void stop() override {}
  void export_memory_history(const std::string&) override {}
};

PerInterpreter<tracing::MakeFn>& tracers() {
  static auto* const table = new PerInterpreter<tracing::MakeFn>;
  return *table;
}
PerInterpreter<tracing::MakeMemoryFn>& memoryTracers() {
  static auto* const table = new PerInterpreter<tracing::MakeMemoryFn>;
  return *table;
}

std::unique_ptr<tracing::PythonTracerBase> makeTracer(torch::profiler::impl::RecordQueue* queue) {
  const auto make = tracers().current();
  return make ? make(queue) : std::make_unique<NoTracer>();
}

std::unique_ptr<tracing::PythonMemoryTracerBase> makeMemoryTracer() {
  const auto make = memoryTracers().current();
  return make ? make() : std::make_unique<NoMemoryTracer>();
}

// ------------------------------------------------------- TorchScript

using PrintHandler = torch::jit::PrintHandler;
using Callstack = std::vector<torch::jit::StackEntry> (*)();
using SourceLocation = void (*)(torch::jit::Node*);
using Warn = torch::jit::tracer::warn_fn_type;

PerInterpreter<PrintHandler>& printHandlers() {
  static auto* const table = new PerInterpreter<PrintHandler>;
  return *table;
}
PerInterpreter<Callstack>& callstacks() {
  static auto* const table = new PerInterpreter<Callstack>;
  return *table;
}
PerInterpreter<SourceLocation>& sourceLocations() {
  static auto* const table = new PerInterpreter<SourceLocation>;
  return *table;
}
PerInterpreter<Warn>& warners() {
  static auto* const table = new PerInterpreter<Warn>;
  return *table;
}

void print(const std::string& text) {
  const auto handler = printHandlers().current();
  (handler ? handler : torch::jit::getDefaultPrintHandler())(text);
}

std::vector<torch::jit::StackEntry> callstack() {
  const auto function = callstacks().current();
  return function ? function() : std::vector<torch::jit::StackEntry>{};
}

void recordSourceLocation(torch::jit::Node* node) {
  if (const auto function = sourceLocations().current()) function(node);
}

void warn(const std::string& text) {
  const auto function = warners().current();
  if (function)
    function(text);
  else
    TORCH_WARN(text);
}

// Ours is put in once, when the first interpreter comes with its own.
template <auto set, auto function>
void installOnce() {
  static std::once_flag once;
  std::call_once(once, [] { set(function); });
}

}  // namespace

void addProcessSlotRoutes(TorchRoutes& routes) {
  routes.engine = [](int slot, void* stub) {
    engines().set(slot, stub);
    installOnce<torch::autograd::set_default_engine_stub, currentEngine>();
  };
  routes.compiledAutograd = setCompiledAutograd;
  routes.tracer = [](int slot, void* make) {
    tracers().set(slot, make);
    installOnce<tracing::registerTracer, makeTracer>();
  };
  routes.memoryTracer = [](int slot, void* make) {
    memoryTracers().set(slot, make);
    installOnce<tracing::registerMemoryTracer, makeMemoryTracer>();
  };
  routes.printHandler = [](int slot, void* handler) {
    printHandlers().set(slot, handler);
    installOnce<torch::jit::setPrintHandler, print>();
  };
  routes.callstack = [](int slot, void* function) {
    callstacks().set(slot, function);
    installOnce<torch::jit::tracer::setPythonCallstack, callstack>();
  };
  routes.sourceLocation = [](int slot, void* function) {
    sourceLocations().set(slot, function);
    installOnce<torch::jit::tracer::setRecordSourceLocation, recordSourceLocation>();
  };
  routes.warn = [](int slot, void* function) {
    warners().set(slot, function);
    installOnce<torch::jit::tracer::setWarn, warn>();
  };
}

void purgeProcessSlots(int slot) {
  if (!isInterpreter(slot)) return;
  releaseCompiledAutograd(slot);
  engines().clear(slot);
  tracers().clear(slot);
  memoryTracers().clear(slot);
  printHandlers().clear(slot);
  callstacks().clear(slot);
  sourceLocations().clear(slot);
  warners().clear(slot);
}

}  // namespace multipy::routing
