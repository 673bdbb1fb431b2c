#include "torch_bridge/state/process_slots.h"

#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/print_handler.h>

#include <string>
#include <vector>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "process/function_per_interpreter.h"
#include "torch_bridge/symbols/features/object_conversion.h"
#include "torch_bridge/symbols/replaced_words.h"

namespace multipy::bridge {
namespace {

using PrintHandler = torch::jit::PrintHandler;
using Callstack = std::vector<torch::jit::StackEntry> (*)();
using SourceLocation = void (*)(torch::jit::Node*);
using Warn = torch::jit::tracer::warn_fn_type;

process::FunctionPerInterpreter<PrintHandler>& printHandlers() {
  static auto* const table = new process::FunctionPerInterpreter<PrintHandler>;
  return *table;
}
process::FunctionPerInterpreter<Callstack>& callstacks() {
  static auto* const table = new process::FunctionPerInterpreter<Callstack>;
  return *table;
}
process::FunctionPerInterpreter<SourceLocation>& sourceLocations() {
  static auto* const table = new process::FunctionPerInterpreter<SourceLocation>;
  return *table;
}
process::FunctionPerInterpreter<Warn>& warners() {
  static auto* const table = new process::FunctionPerInterpreter<Warn>;
  return *table;
}

process::FunctionPerInterpreter<void*>& objectConversions() {
  static auto* const table = new process::FunctionPerInterpreter<void*>;
  return *table;
}
void* objectConversion() { return objectConversions().current(); }
std::once_flag& conversionInstalled() {
  static std::once_flag once;
  return once;
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
  routes.printHandler = [](InterpreterId slot, void* handler) {
    printHandlers().set(slot, handler);
    process::installOnce<torch::jit::setPrintHandler, print>();
  };
  routes.callstack = [](InterpreterId slot, void* function) {
    callstacks().set(slot, function);
    process::installOnce<torch::jit::tracer::setPythonCallstack, callstack>();
  };
  routes.sourceLocation = [](InterpreterId slot, void* function) {
    sourceLocations().set(slot, function);
    process::installOnce<torch::jit::tracer::setRecordSourceLocation, recordSourceLocation>();
  };
  routes.warn = [](InterpreterId slot, void* function) {
    warners().set(slot, function);
    process::installOnce<torch::jit::tracer::setWarn, warn>();
  };
  routes.objectConversion = [](InterpreterId slot, void* conversion) {
    objectConversions().set(slot, conversion);
    std::call_once(conversionInstalled(), feature::installObjectConversion<objectConversion>);
  };
}

void adoptProcessSlots(const ReplacedWords& before) {
  installOver<torch::jit::setPrintHandler, print>(before, printHandlers(), "setPrintHandler");
  installOver<torch::jit::tracer::setPythonCallstack, callstack>(before, callstacks(),
                                                                 "setPythonCallstack");
  installOver<torch::jit::tracer::setRecordSourceLocation, recordSourceLocation>(
      before, sourceLocations(), "setRecordSourceLocation");
  installOver<torch::jit::tracer::setWarn, warn>(before, warners(), "setWarn");
  std::call_once(conversionInstalled(), [&before] {
    if (const void* const routed = feature::installObjectConversion<objectConversion>())
      objectConversions().set(InterpreterId::program(),
                              before.replacedBy(routed, "setPyObjectConversionImpl"));
  });
}

void purgeProcessSlots(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  printHandlers().clear(slot);
  callstacks().clear(slot);
  sourceLocations().clear(slot);
  warners().clear(slot);
  objectConversions().clear(slot);
}

}  // namespace multipy::bridge
