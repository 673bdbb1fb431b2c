#include "torch_bridge/dispatch/program_kernels.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <sstream>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "torch_bridge/dispatch/kernel_route.h"
#include "torch_bridge/dispatch/registry.h"

namespace multipy::bridge {
namespace {

struct Registered {
  std::vector<c10::OperatorName> schemas;
  std::vector<std::pair<c10::OperatorName, c10::DispatchKey>> kernels;
};

Registered registeredByProgram() {
  Registered all;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  const std::lock_guard guard(dispatcher.guard_->mutex);
  for (const auto& definition : dispatcher.operators_) {
    const c10::impl::OperatorEntry& op = definition.op;
    if (op.schema_ && isFromPython(op.schema_->debug)) all.schemas.push_back(op.name_);
    for (const auto& [key, kernels] : op.kernels_)
      if (std::any_of(kernels.begin(), kernels.end(), isProgramsKernel))
        all.kernels.emplace_back(op.name_, key);
  }
  return all;
}

// That a kernel lies over another one is what is wanted here.
class NoWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

}  // namespace

bool isProgramsKernel(const c10::impl::AnnotatedKernel& kernel) {
  // (Most kernels are C++ functions, which this tells without looking at them.)
  if (kernel.kernel.isValidUnboxed()) return false;
  const c10::OperatorKernel* const functor = kernel.kernel.boxed_kernel_func_.functor_.get();
  if (!functor) return false;
  const std::string_view type = typeid(*functor).name();
  return type == "N5torch4impl8dispatch18PythonKernelHolderE" ||
         type == "N5torch8inductor20AOTIPythonKernelHolderE";
}

bool isFromPython(const std::string& debug) {
  static constexpr std::array<std::string_view, 10> kOfCpp{".cpp", ".cc",  ".cxx", ".c",   ".h",
                                                           ".hpp", ".hxx", ".cu",  ".cuh", ".mm"};
  constexpr std::string_view kBegin = "registered at ";
  const std::size_t begin = debug.find(kBegin), end = debug.rfind(':');
  if (begin == std::string::npos || end == std::string::npos) return false;
  const std::string_view file =
      std::string_view(debug).substr(begin + kBegin.size(), end - begin - kBegin.size());
  // Older torches have Python's line there, without its file.
  if (file == "/dev/null") return debug.substr(end) != ":0";
  return std::none_of(kOfCpp.begin(), kOfCpp.end(),
                      [file](std::string_view suffix) { return file.ends_with(suffix); });
}

bool shareProgramsDefinition(const c10::OperatorName& name, Definition& definition) {
  const auto op = c10::Dispatcher::singleton().findSchema(name);
  if (!op) return false;
  std::ostringstream text;
  text << op->schema();
  definition.schema = text.str();
  definition.isPrograms = false;
  const std::lock_guard guard(c10::Dispatcher::singleton().guard_->mutex);
  op->operatorDef_->def_count += 1;
  op->operatorDef_->def_and_impl_count += 1;
  return true;
}

bool isStillPrograms(const Definition& definition, const c10::OperatorName& name) {
  if (definition.isPrograms) return true;  // torch says whether there is one
  const auto op = c10::Dispatcher::singleton().findSchema(name);
  const std::lock_guard guard(c10::Dispatcher::singleton().guard_->mutex);
  return op && op->operatorDef_->def_count > 1;  // more than the router's
}

void adoptRegistrations() {
  const Registered all = registeredByProgram();
  NoWarnings none;
  const c10::WarningUtils::WarningHandlerGuard silent(&none);
  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  for (const auto& name : all.schemas) {
    // (One that is there has come through the router, which leads the program's calls already.)
    const auto [definition, isNew] = registry.definitions.try_emplace(fullName(name));
    if (!isNew) continue;
    definition->second.isPrograms = true;
    definition->second.users[InterpreterId::program()] = kBeforeRouter;
  }
  for (const auto& [name, key] : all.kernels)
    registry.routes.try_emplace({fullName(name), key}, name, key, false).first->second.keep();
}

}  // namespace multipy::bridge
