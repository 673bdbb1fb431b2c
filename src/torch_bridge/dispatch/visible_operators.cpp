#include "torch_bridge/dispatch/visible_operators.h"

#include <torch/csrc/jit/runtime/operator.h>

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "base/mutex.h"
#include "torch_bridge/dispatch/kernel_lookup.h"
#include "torch_bridge/dispatch/program_kernels.h"
#include "torch_bridge/dispatch/registry.h"

namespace multipy::bridge {
namespace {

using torch::jit::Operator;
using Operators = std::vector<std::shared_ptr<Operator>>;

using Definitions = std::map<std::string, Definition>;

bool isVisible(const Definitions& definitions, InterpreterId slot, const c10::OperatorName& name) {
  const auto found = definitions.find(fullName(name));
  if (found == definitions.end()) return true;
  const Definition& definition = found->second;
  const auto user = definition.users.find(slot);
  if (user == definition.users.end()) return false;
  return user->second != kBeforeRouter || isStillPrograms(definition, name);
}

// As torch's function returns them; whose elements they are is lost on the way.
std::vector<std::shared_ptr<void>> onlyVisible(InterpreterId slot, const Operators& operators) {
  std::vector<std::shared_ptr<void>> visible;
  visible.reserve(operators.size());
  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  for (const auto& one : operators)
    if (!slot.isInterpreter() ||
        isVisible(registry.definitions, slot, one->schema().operator_name()))
      visible.push_back(one);
  return visible;
}

std::vector<c10::OperatorName> onlyVisible(InterpreterId slot,
                                           std::vector<c10::OperatorName> names) {
  if (!slot.isInterpreter()) return names;
  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  std::erase_if(names, [slot, definitions = &registry.definitions](const auto& name) {
    return !isVisible(*definitions, slot, name);
  });
  return names;
}

// Those that have a kernel at `key` which this interpreter sees.
std::vector<c10::OperatorName> registrations(InterpreterId slot, const c10::Dispatcher& dispatcher,
                                             std::optional<c10::DispatchKey> key) {
  auto names = onlyVisible(slot, dispatcher.getRegistrationsForDispatchKey(key));
  if (!slot.isInterpreter() || !key) return names;
  std::erase_if(names, [&](const auto& name) {
    const auto found = c10::Dispatcher::singleton().findOp(name);
    return !found || !seesKernel(slot, found->operatorDef_->op, *key);
  });
  return names;
}

// torch returns its own list. What has to be left out of it is rare, so it is
// that list most of the time; else one that lives as long as the thread.
const Operators& visibleFor(InterpreterId slot, c10::Symbol symbol) {
  const Operators& all = torch::jit::getAllOperatorsFor(symbol);
  Operators visible;
  {
    Registry& registry = Registry::process();
    const base::Lock guard(registry.lock);
    for (const auto& one : all)
      if (!slot.isInterpreter() ||
          isVisible(registry.definitions, slot, one->schema().operator_name()))
        visible.push_back(one);
  }
  if (visible.size() == all.size()) return all;
  thread_local std::unordered_map<c10::Symbol, Operators> lists;
  Operators& list = lists[symbol];
  // (An equal one stays as it is: a caller up the stack may be going through it.)
  if (list != visible) list = std::move(visible);
  return list;
}

}  // namespace

void addVisibleOperatorRoutes(TorchRoutes& routes) {
  routes.allOperators = [](InterpreterId slot) {
    return onlyVisible(slot, torch::jit::getAllOperators());
  };
  routes.operatorsFor = [](InterpreterId slot, std::uint32_t symbol) -> const void* {
    return &visibleFor(slot, c10::Symbol(symbol));
  };
  routes.sortedOperatorsFor = [](InterpreterId slot, std::uint32_t symbol) {
    return onlyVisible(slot, torch::jit::getAllSortedOperatorsFor(c10::Symbol(symbol)));
  };
  routes.findOperator = [](InterpreterId slot,
                           const c10::OperatorName* name) -> std::shared_ptr<void> {
    {
      Registry& registry = Registry::process();
      const base::Lock guard(registry.lock);
      if (slot.isInterpreter() && !isVisible(registry.definitions, slot, *name)) return nullptr;
    }
    return torch::jit::findOperatorFor(*name);
  };
  routes.allOperatorNames = [](InterpreterId slot, void* dispatcher) {
    return onlyVisible(slot, static_cast<c10::Dispatcher*>(dispatcher)->getAllOpNames());
  };
  routes.registrations = [](InterpreterId slot, const void* dispatcher, std::uint32_t key) {
    using Key = std::optional<c10::DispatchKey>;  // passed in a register, as it is
    static_assert(std::is_trivially_copyable_v<Key> && sizeof(Key) == sizeof key);
    return registrations(slot, *static_cast<const c10::Dispatcher*>(dispatcher),
                         std::bit_cast<Key>(key));
  };
}

}  // namespace multipy::bridge
