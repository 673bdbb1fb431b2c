#include "torch/process_slots.h"

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/profiler/orchestration/python_tracer.h>

#include <memory>

#include "torch/per_interpreter.h"

namespace multipy::routing {
namespace {

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

}  // namespace

void addProcessSlotRoutes(TorchRoutes& routes) {
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
  if (slot < 0 || slot >= kMaxInterpreters) return;
  tracers().clear(slot);
  memoryTracers().clear(slot);
  printHandlers().clear(slot);
  callstacks().clear(slot);
  sourceLocations().clear(slot);
  warners().clear(slot);
}

}  // namespace multipy::routing
