#include "torch/process_slots.h"

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/print_handler.h>

#include <string>
#include <vector>

#include "torch/per_interpreter.h"
#include "torch/versions/torch_version.h"

namespace multipy::routing {
namespace {

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

PerInterpreter<void*>& objectConversions() {
  static auto* const table = new PerInterpreter<void*>;
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
  routes.objectConversion = [](int slot, void* conversion) {
    objectConversions().set(slot, conversion);
    static std::once_flag once;
    std::call_once(once, version::installObjectConversion<objectConversion>);
  };
}

void purgeProcessSlots(int slot) {
  if (slot < 0 || slot >= kMaxInterpreters) return;
  printHandlers().clear(slot);
  callstacks().clear(slot);
  sourceLocations().clear(slot);
  warners().clear(slot);
  objectConversions().clear(slot);
}

}  // namespace multipy::routing
