#include "torch_bridge/dispatch/registration_router.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <bit>
#include <sstream>
#include <string>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "base/mutex.h"
#include "process/ownership.h"
#include "torch_bridge/dispatch/kernel_lookup.h"
#include "torch_bridge/dispatch/kernel_route.h"
#include "torch_bridge/dispatch/program_kernels.h"
#include "torch_bridge/dispatch/registry.h"
#include "torch_bridge/symbols/features/computed_kernels.h"
#include "torch_bridge/symbols/static_phase.h"

namespace multipy::bridge {
namespace {

using c10::Dispatcher;
using c10::DispatchKey;
using c10::FunctionSchema;
using c10::OperatorName;
using torch::CppFunction;
using torch::Library;
using Verify = torch::_RegisterOrVerify;
using Tags = std::vector<at::Tag>;

std::string origin(const Library& library) {
  return "registered at " + std::string(library.file_ ? library.file_ : "?") + ":" +
         std::to_string(library.line_);
}

/// Has `drop` called when the library is destroyed; at once if it can't be.
template <typename Drop>
void dropWith(Library& library, const Drop& drop) {
  try {
    library.registrars_.emplace_back(drop);
  } catch (...) {
    drop();
    throw;
  }
}

// ------------------------------------------------------- namespaces

void releaseNamespace(const std::string& name, InterpreterId slot) {
  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  const auto found = registry.namespaces.find(name);
  if (found == registry.namespaces.end()) return;
  found->second.owners.erase(slot);
  if (found->second.owners.empty()) registry.namespaces.erase(found);
}

// (program_kernels.h)
bool isProgramsNamespace(const std::string& name) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  const std::lock_guard guard(dispatcher.guard_->mutex);
  const auto found = dispatcher.libraries_.find(name);
  return found != dispatcher.libraries_.end() && isFromPython(found->second);
}

// True if `slot` owns the namespace now; false if torch's own answer is wanted:
// it owns it already, or a C++ library does.
bool ownNamespace(const std::string& name, InterpreterId slot, const char* file,
                  std::uint32_t line) {
  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  const auto found = registry.namespaces.find(name);
  if (found != registry.namespaces.end()) return found->second.owners.insert(slot).second;
  try {
    Namespace fresh;
    fresh.handle.emplace(Dispatcher::singleton().registerLibrary(
        name, std::string("registered at ") + (file ? file : "?") + ":" + std::to_string(line)));
    fresh.owners.insert(slot);
    registry.namespaces.emplace(name, std::move(fresh));
    return true;
  } catch (const c10::Error&) {
    if (!isProgramsNamespace(name)) return false;
    registry.namespaces[name].owners = {InterpreterId::program(), slot};
    return true;
  }
}

void construct(InterpreterId slot, void* at, int kindNumber, std::string* ns, std::uint32_t keyBits,
               const char* file, std::uint32_t line) {
  static_assert(sizeof(std::optional<DispatchKey>) == sizeof keyBits);
  const auto key = std::bit_cast<std::optional<DispatchKey>>(keyBits);
  const auto kind = static_cast<Library::Kind>(kindNumber);
  if (!slot.isInterpreter() || kind != Library::DEF) {
    new (at) Library(kind, std::move(*ns), key, file, line);
    return;
  }
  const std::string name = *ns;
  if (StaticPhase::active()) {
    new (at) Library(Library::FRAGMENT, std::move(*ns), key, file, line);
    return;
  }
  if (!ownNamespace(name, slot, file, line)) {
    new (at) Library(Library::DEF, std::move(*ns), key, file, line);  // says what is wrong
    return;
  }
  try {
    auto* const library = new (at) Library(Library::FRAGMENT, std::move(*ns), key, file, line);
    library->kind_ = Library::DEF;
    library->registrars_.emplace_back([name, slot] { releaseNamespace(name, slot); });
  } catch (...) {
    releaseNamespace(name, slot);
    throw;
  }
}

// ------------------------------------------------------- schemas

void forgetUser(const std::string& name, InterpreterId slot, std::uint64_t registration) {
  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  const auto found = registry.definitions.find(name);
  if (found == registry.definitions.end()) return;
  const auto user = found->second.users.find(slot);
  if (user == found->second.users.end() || user->second != registration) return;
  found->second.users.erase(user);
  registry.generation.fetch_add(1);
}

enum class Defined { Ours, NotOurs, Differs };

// Makes `slot` a user of the definition of `schema`, which is made if need be.
Defined useDefinition(InterpreterId slot, Library& library, FunctionSchema& schema,
                      const Tags& tags, std::uint64_t& registration, std::string& existing) {
  std::ostringstream text;
  text << schema;
  const OperatorName name = schema.operator_name();
  std::vector<c10::RegistrationHandleRAII> replaced;

  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  if (registry.purged[slot]) {
    registration = 0;
    return Defined::Ours;
  }
  auto found = registry.definitions.find(fullName(name));
  if (found != registry.definitions.end() && found->second.isPrograms &&
      !shareProgramsDefinition(name, found->second)) {
    registry.definitions.erase(found);
    found = registry.definitions.end();
  }
  if (found != registry.definitions.end() && found->second.users.empty() &&
      found->second.schema != text.str()) {
    found->second.handles.clear();
    registry.definitions.erase(found);
    registry.generation.fetch_add(1);
    found = registry.definitions.end();
  }
  if (found == registry.definitions.end()) {
    if (Dispatcher::singleton().findSchema(name)) return Defined::NotOurs;
    Definition fresh;
    fresh.schema = text.str();
    if (library.python_module_)
      fresh.handles.push_back(Dispatcher::singleton().registerPythonModule(
          name, library.python_module_->first, library.python_module_->second));
    fresh.handles.push_back(
        Dispatcher::singleton().registerDef(std::move(schema), origin(library), tags));
    found = registry.definitions.emplace(fullName(name), std::move(fresh)).first;
  } else if (const auto user = found->second.users.find(slot);
             user != found->second.users.end() && user->second != kBeforeRouter) {
    return Defined::NotOurs;
  } else if (found->second.schema != text.str()) {
    existing = found->second.schema;
    return Defined::Differs;
  }
  registration = ++registry.last;
  found->second.users[slot] = registration;
  return Defined::Ours;
}

// torch's own answer is wanted where it would refuse, and where nothing of this
// interpreter's own is involved.
bool isTorchsToAnswer(const Library& library, const FunctionSchema& schema, Verify verify) {
  return verify != Verify::REGISTER || library.kind_ == Library::IMPL || !library.ns_ ||
         (schema.getNamespace() && *schema.getNamespace() != *library.ns_);
}

Library& defineSchema(InterpreterId slot, Library& library, FunctionSchema&& schema,
                      OperatorName* nameOut, const Tags& tags, Verify verify) {
  if (!slot.isInterpreter() ||
      (!StaticPhase::active() && isTorchsToAnswer(library, schema, verify)))
    return library._def(std::move(schema), nameOut, tags, verify);
  if (library.ns_) schema.setNamespaceIfNotSet(library.ns_->c_str());
  const OperatorName name = schema.operator_name();
  if (nameOut) *nameOut = name;
  if (StaticPhase::active()) return library;

  std::uint64_t registration = 0;
  std::string existing;
  switch (useDefinition(slot, library, schema, tags, registration, existing)) {
    case Defined::NotOurs:
      return library._def(std::move(schema), nameOut, tags, verify);
    case Defined::Differs:
      TORCH_CHECK(false, "defining operator ", schema, " in interpreter ", slot.number(),
                  ": another interpreter of this process uses this name with another schema, ",
                  existing,
                  ". Operators have one schema per process: use another name, or the "
                  "same schema in all interpreters");
    case Defined::Ours:
      break;
  }
  if (registration != 0)
    dropWith(library,
             [key = fullName(name), slot, registration] { forgetUser(key, slot, registration); });
  return library;
}

// ------------------------------------------------------- kernels

void removeKernel(KernelRoute* route, std::uint64_t registration) {
  KernelRoute::Removed removed;  // dies after the lock is given up
  const base::Lock guard(Registry::process().lock);
  route->remove(registration, removed);
}

void addKernel(InterpreterId slot, Library& library, const OperatorName& name, DispatchKey key,
               bool isFallback, c10::KernelFunction kernel) {
  Registry& registry = Registry::process();
  KernelRoute* route = nullptr;
  std::uint64_t registration = 0;
  {
    const base::Lock guard(registry.lock);
    if (registry.purged[slot]) return;
    route = &registry.routes
                 .try_emplace({isFallback ? "*" : fullName(name), key}, name, key, isFallback)
                 .first->second;
    registration = ++registry.last;
    route->add(registration, slot, std::move(kernel));
  }
  dropWith(library, [route, registration] { removeKernel(route, registration); });
}

std::optional<DispatchKey> keyOf(const Library& library, const CppFunction& kernel) {
  return kernel.dispatch_key_ ? kernel.dispatch_key_ : library.dispatch_key_;
}

// Without a key a kernel is the default one, as OperatorEntry has it.
DispatchKey keyOrDefault(std::optional<DispatchKey> key) {
  return key.value_or(DispatchKey::CompositeImplicitAutograd);
}

Library& implement(InterpreterId slot, Library& library, const char* text, CppFunction&& kernel,
                   Verify verify) {
  if (!slot.isInterpreter()) return library._impl(text, std::move(kernel), verify);
  if (StaticPhase::active()) return library;
  const bool keysDiffer = library.dispatch_key_ && kernel.dispatch_key_ &&
                          *library.dispatch_key_ != *kernel.dispatch_key_;
  OperatorName name = torch::jit::parseName(text);
  const std::size_t colons = name.name.find("::");
  const bool foreign =
      colons != std::string::npos && library.ns_ && name.name.substr(0, colons) != *library.ns_;
  if (verify != Verify::REGISTER || keysDiffer || foreign ||
      (colons == std::string::npos && !library.ns_))
    return library._impl(text, std::move(kernel), verify);  // says what is wrong
  if (colons == std::string::npos) name.setNamespaceIfNotSet(library.ns_->c_str());
  addKernel(slot, library, name, keyOrDefault(keyOf(library, kernel)), false,
            std::move(kernel.func_));
  return library;
}

Library& fallback(InterpreterId slot, Library& library, CppFunction&& kernel) {
  if (!slot.isInterpreter()) return library._fallback(std::move(kernel));
  if (StaticPhase::active()) return library;
  const auto key = keyOf(library, kernel);
  if (library.kind_ != Library::IMPL || library.ns_ || !key)
    return library._fallback(std::move(kernel));  // says what is wrong
  const auto keys = c10::isAliasDispatchKey(*key) ? c10::getRuntimeDispatchKeySet(*key)
                                                  : c10::DispatchKeySet(*key);
  for (const DispatchKey one : keys)
    addKernel(slot, library, OperatorName("", ""), one, true, kernel.func_);
  return library;
}

Library& defineWithKernel(InterpreterId slot, Library& library,
                          std::variant<OperatorName, FunctionSchema>&& nameOrSchema,
                          CppFunction&& kernel, const Tags& tags) {
  if (!slot.isInterpreter()) return library._def(std::move(nameOrSchema), std::move(kernel), tags);
  if (StaticPhase::active()) return library;
  std::optional<FunctionSchema> schema;
  if (auto* const given = std::get_if<FunctionSchema>(&nameOrSchema)) {
    schema = std::move(*given);
  } else {
    // Torch's own answer to a kernel that nothing can be inferred from.
    if (!kernel.schema_) return library._def(std::move(nameOrSchema), std::move(kernel), tags);
    auto& name = std::get<OperatorName>(nameOrSchema);
    schema = kernel.schema_->cloneWithName(std::move(name.name), std::move(name.overload_name));
    schema->setAliasAnalysis(c10::AliasAnalysisKind::CONSERVATIVE);
  }
  OperatorName name("", "");
  defineSchema(slot, library, std::move(*schema), &name, tags, Verify::REGISTER);
  addKernel(slot, library, name, keyOrDefault(keyOf(library, kernel)), false,
            std::move(kernel.func_));
  return library;
}

// ------------------------------------------------------- the table

TorchRoutes::OperatorFacts operatorFacts(const void* operatorHandle) {
  const auto& op = *static_cast<const c10::OperatorHandle*>(operatorHandle);
  const OperatorName& name = op.operator_name();
  return {op.operatorDef_, Registry::process().generation.load(), &name.name, &name.overload_name};
}

}  // namespace

void addRegistrationRoutes(TorchRoutes& routes) {
  routes.libraryConstruct = construct;
  routes.libraryDefine = [](InterpreterId slot, void* library, void* schema, void* nameOut,
                            const void* tags, int verify) -> void* {
    return &defineSchema(slot, *static_cast<Library*>(library),
                         std::move(*static_cast<FunctionSchema*>(schema)),
                         static_cast<OperatorName*>(nameOut), *static_cast<const Tags*>(tags),
                         static_cast<Verify>(verify));
  };
  routes.libraryDefineWithKernel = [](InterpreterId slot, void* library, void* nameOrSchema,
                                      void* kernel, const void* tags) -> void* {
    return &defineWithKernel(
        slot, *static_cast<Library*>(library),
        std::move(*static_cast<std::variant<OperatorName, FunctionSchema>*>(nameOrSchema)),
        std::move(*static_cast<CppFunction*>(kernel)), *static_cast<const Tags*>(tags));
  };
  routes.libraryImplement = [](InterpreterId slot, void* library, const char* name, void* kernel,
                               int verify) -> void* {
    return &implement(slot, *static_cast<Library*>(library), name,
                      std::move(*static_cast<CppFunction*>(kernel)), static_cast<Verify>(verify));
  };
  routes.libraryFallback = [](InterpreterId slot, void* library, void* kernel) -> void* {
    return &fallback(slot, *static_cast<Library*>(library),
                     std::move(*static_cast<CppFunction*>(kernel)));
  };
  routes.hasKernel = [](InterpreterId slot, const void* entry, std::uint16_t key) {
    return seesKernel(slot, *static_cast<const c10::impl::OperatorEntry*>(entry),
                      static_cast<DispatchKey>(key));
  };
  routes.hasAnyKernel = [](InterpreterId slot, const void* entry, std::uint64_t keys) {
    return seesAnyKernel(slot, *static_cast<const c10::impl::OperatorEntry*>(entry),
                         c10::DispatchKeySet(c10::DispatchKeySet::RAW, keys));
  };
  routes.hasComputedKernel = [](InterpreterId slot, const void* entry, std::uint16_t key) {
    return seesComputedKernel(slot, *static_cast<const c10::impl::OperatorEntry*>(entry),
                              static_cast<DispatchKey>(key));
  };
  routes.getComputedKernel = [](InterpreterId slot, const void* entry, std::uint16_t key) {
    return ReturnedInPlace([&](void* place) {
      const auto& of = *static_cast<const c10::impl::OperatorEntry*>(entry);
      const auto op = c10::Dispatcher::singleton().findOp(of.operator_name());
      withComputedKernel(slot, of, static_cast<DispatchKey>(key),
                         [&](const c10::KernelFunction& kernel) {
                           feature::makeComputedKernel(place, kernel, *op);
                         });
    });
  };
  routes.operatorFacts = operatorFacts;
}

void purgeRegistrations(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  KernelRoute::Removed removed;  // dies after the lock is given up
  Registry& registry = Registry::process();
  const base::Lock guard(registry.lock);
  registry.purged[slot] = true;
  for (auto& [key, route] : registry.routes) route.removeAll(slot, removed);
  for (auto& [name, definition] : registry.definitions) definition.users.erase(slot);
  for (auto& [name, owned] : registry.namespaces) owned.owners.erase(slot);
  std::erase_if(registry.namespaces, [](const auto& entry) { return entry.second.owners.empty(); });
  registry.generation.fetch_add(1);
}

void openRegistrations(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  const base::Lock guard(Registry::process().lock);
  Registry::process().purged[slot] = false;
}

RegistrationCounts registrationCounts() {
  const base::Lock guard(Registry::process().lock);
  RegistrationCounts counts{};
  for (const auto& [key, route] : Registry::process().routes) {
    counts.routes += route.isInstalled();
    counts.kernels += static_cast<long>(route.kernels());
  }
  return counts;
}

}  // namespace multipy::bridge
