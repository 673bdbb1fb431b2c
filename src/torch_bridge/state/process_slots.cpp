#include "torch_bridge/state/process_slots.h"

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/print_handler.h>

#include <string>
#include <vector>

#include "process/per_interpreter.h"
#include "torch_bridge/symbols/versions/torch_version.h"

namespace multipy::routing {
namespace {

using PrintHandler = torch::jit::PrintHandler;
using Callstack = std::vector<torch::jit::StackEntry> (*)();
using SourceLocation = void (*)(torch::jit::Node*);
using Warn = torch::jit::tracer::warn_fn_type;

process::PerInterpreter<PrintHandler>& printHandlers() {
  static auto* const table = new process::PerInterpreter<PrintHandler>;
  return *table;
}
process::PerInterpreter<Callstack>& callstacks() {
  static auto* const table = new process::PerInterpreter<Callstack>;
  return *table;
}
process::PerInterpreter<SourceLocation>& sourceLocations() {
  static auto* const table = new process::PerInterpreter<SourceLocation>;
  return *table;
}
process::PerInterpreter<Warn>& warners() {
  static auto* const table = new process::PerInterpreter<Warn>;
  return *table;
}

process::PerInterpreter<void*>& objectConversions() {
  static auto* const table = new process::PerInterpreter<void*>;
  return *table;
}
void* objectConversion() { return objectConversions().current(); }

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
  routes.printHandler = [](int slot, void* handler) {
    printHandlers().set(slot, handler);
    process::installOnce<torch::jit::setPrintHandler, print>();
  };
  routes.callstack = [](int slot, void* function) {
    callstacks().set(slot, function);
    process::installOnce<torch::jit::tracer::setPythonCallstack, callstack>();
  };
  routes.sourceLocation = [](int slot, void* function) {
    sourceLocations().set(slot, function);
    process::installOnce<torch::jit::tracer::setRecordSourceLocation, recordSourceLocation>();
  };
  routes.warn = [](int slot, void* function) {
    warners().set(slot, function);
    process::installOnce<torch::jit::tracer::setWarn, warn>();
  };
  routes.objectConversion = [](int slot, void* conversion) {
    objectConversions().set(slot, conversion);
    static std::once_flag once;
    std::call_once(once, version::installObjectConversion<objectConversion>);
  };
}

void purgeProcessSlots(int slot) {
  if (slot < 0 || slot >= process::kMaxInterpreters) return;
  printHandlers().clear(slot);
  callstacks().clear(slot);
  sourceLocations().clear(slot);
  warners().clear(slot);
  objectConversions().clear(slot);
}

}  // namespace multipy::routing
