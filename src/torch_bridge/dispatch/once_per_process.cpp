#include "torch_bridge/dispatch/once_per_process.h"

#include <ATen/core/class_type.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/custom_class.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/static_phase.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/symbols/torch_functions.h"

// Not every distribution of torch ships the header of this one, Handlers.hpp.
namespace c10d::control_plane {
class Request;
class Response;
using HandlerFunc = std::function<void(const Request&, Response&)>;
void registerHandler(const std::string& name, HandlerFunc function);
}  // namespace c10d::control_plane

namespace multipy::bridge {
namespace {

using torch::jit::Operation;
using torch::jit::OperationCreator;
using torch::jit::Operator;

// ------------------------------------------------------- JIT operators

// Makers of one operator, by interpreter.
using Creators = PerInterpreter<std::atomic<OperationCreator>>;

struct CreatorTable {
  base::ForkMutex lock;
  std::map<std::string, Creators> byName MULTIPY_GUARDED_BY(lock);  // entries stay for ever
  static CreatorTable& process() {
    static auto* const one = new CreatorTable;
    return *one;
  }
  Creators& of(const std::string& name) {
    const base::Lock guard(lock);
    return byName[name];
  }
};

// The maker that torch knows: OperationCreator is a plain function, so the
// operator's name comes from the node.
Operation createForCurrent(const torch::jit::Node* node) {
  const std::string name = node->kind().toQualString();
  const InterpreterId slot = process::Ownership::instance().currentPython();
  const OperationCreator create =
      slot == InterpreterId::none() ? nullptr : CreatorTable::process().of(name)[slot].load();
  TORCH_CHECK(
      create, "running ", name, " of a TorchScript program: it calls back into Python, but ",
      slot == InterpreterId::none() ? "the calling thread is in no interpreter"
                                    : "the interpreter of the calling thread has not loaded torch",
      ". Call the program through an interpreter, or script it without Python calls");
  return create(node);
}

OperationCreator* creatorOf(Operator& op) {
  auto* const jitOnly = std::get_if<Operator::JitOnlyOperator>(&op.op_);
  return jitOnly ? std::get_if<OperationCreator>(&jitOnly->op_) : nullptr;
}

// Another interpreter may have registered the same operator while it ran.
bool isRegistered(const Operator& op) {
  const auto& schema = op.schema();
  return torch::jit::findOperatorFor(c10::OperatorName(schema.name(), schema.overload_name())) !=
         nullptr;
}

void registerOperator(InterpreterId slot, void* given) {
  auto& op = *static_cast<Operator*>(given);
  if (OperationCreator* const creator = creatorOf(op)) {
    Creators& creators = CreatorTable::process().of(op.schema().name());
    if (slot.isInterpreter()) creators[slot].store(*creator);
    *creator = createForCurrent;
  }
  if (!slot.isInterpreter() || (!StaticPhase::active() && !isRegistered(op)))
    torch::jit::registerOperator(std::move(op));
}

// ------------------------------------------------------- custom classes

void customClass(InterpreterId slot, void* at, const std::string* ns, const std::string* name,
                 std::string* doc, const std::type_info* pointer, const std::type_info* capsule) {
  using Base = torch::detail::class_base;
  if (slot.isInterpreter() && StaticPhase::active()) {
    const std::string qualified = "__torch__.torch.classes." + *ns + "." + *name;
    if (const at::ClassTypePtr known = torch::getCustomClass(qualified)) {
      auto* const self = static_cast<Base*>(at);
      new (&self->qualClassName) std::string(qualified);
      new (&self->classTypePtr) at::ClassTypePtr(known);
      return;
    }
  }
  new (at) Base(*ns, *name, std::move(*doc), *pointer, *capsule);
}

// A method's function is the class's from then on; one that is not wanted was
// made for a class that has it already, and its maker has given it away.
bool isWanted(InterpreterId slot) noexcept {
  return !slot.isInterpreter() || !StaticPhase::active();
}

void addMethod(InterpreterId slot, void* classType, void* function) {
  if (isWanted(slot))
    static_cast<c10::ClassType*>(classType)->addMethod(
        static_cast<torch::jit::Function*>(function));
}

void customClassMethod(InterpreterId slot, void* uniquePointer) {
  // Left with its caller otherwise, who frees it.
  if (isWanted(slot))
    torch::registerCustomClassMethod(
        std::move(*static_cast<std::unique_ptr<torch::jit::Function>*>(uniquePointer)));
}

// ------------------------------------------------------- handlers and opaque types

void registerHandler(InterpreterId slot, const std::string* name, void* handler) {
  using c10d::control_plane::HandlerFunc;
  if (isWanted(slot))
    c10d::control_plane::registerHandler(*name, std::move(*static_cast<HandlerFunc*>(handler)));
}

struct OpaqueTypes {
  base::ForkMutex lock;
  std::map<std::string, std::set<InterpreterId>> users MULTIPY_GUARDED_BY(lock);
  static OpaqueTypes& process() {
    static auto* const one = new OpaqueTypes;
    return *one;
  }
};

// (By its symbol: not every torch declares both.)
void tellTorch(const char* function, const std::string& name) {
  if (auto* const tell = findTorchFunction<void(const std::string&)>(function)) tell(name);
}

bool isKnownToTorch(const std::string& name) {
  const char* const symbol = opaqueTypeSymbols().isKnown;
  auto* const ask = findTorchFunction<bool(const std::string&)>(symbol);
  return ask && ask(name);
}

void registerOpaqueType(InterpreterId slot, const std::string* name) {
  OpaqueTypes& types = OpaqueTypes::process();
  const base::Lock guard(types.lock);
  auto& users = types.users[*name];
  if (users.empty() && slot != InterpreterId::program() && isKnownToTorch(*name))
    users.insert(InterpreterId::program());  // before there was a router
  // The first one registers; one that comes again gets torch's own answer.
  if (users.empty() || users.contains(slot)) tellTorch(opaqueTypeSymbols().add, *name);
  users.insert(slot);
}

void removeOpaqueUser(OpaqueTypes& types, const std::string& name, InterpreterId slot)
    MULTIPY_REQUIRES(types.lock) {
  const auto found = types.users.find(name);
  if (found == types.users.end() || found->second.erase(slot) == 0) return;
  if (!found->second.empty()) return;
  types.users.erase(found);
  tellTorch(opaqueTypeSymbols().remove, name);
}

void unregisterOpaqueType(InterpreterId slot, const std::string* name) {
  OpaqueTypes& types = OpaqueTypes::process();
  const base::Lock guard(types.lock);
  removeOpaqueUser(types, *name, slot);
}

}  // namespace

void adoptOperators(const std::function<bool(const void*)>& isLibrarys) {
  for (const auto& op : torch::jit::getAllOperators()) {
    OperationCreator* const creator = creatorOf(*op);
    if (!creator || !isLibrarys(reinterpret_cast<const void*>(*creator))) continue;
    CreatorTable::process().of(op->schema().name())[InterpreterId::program()].store(*creator);
    // Read by other threads meanwhile, a word as ever.
    std::atomic_ref<OperationCreator>(*creator).store(createForCurrent);
  }
}

void addOncePerProcessRoutes(TorchRoutes& routes) {
  routes.customClass = customClass;
  routes.addMethod = addMethod;
  routes.customClassMethod = customClassMethod;
  routes.registerOperator = registerOperator;
  routes.registerHandler = registerHandler;
  routes.registerOpaqueType = registerOpaqueType;
  routes.unregisterOpaqueType = unregisterOpaqueType;
}

void purgeOncePerProcess(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  {
    CreatorTable& table = CreatorTable::process();
    const base::Lock guard(table.lock);
    for (auto& [name, creators] : table.byName) creators[slot].store(nullptr);
  }
  OpaqueTypes& types = OpaqueTypes::process();
  const base::Lock guard(types.lock);
  std::vector<std::string> used;
  for (const auto& [name, users] : types.users)
    if (users.contains(slot)) used.push_back(name);
  for (const std::string& name : used) removeOpaqueUser(types, name, slot);
}

}  // namespace multipy::bridge
