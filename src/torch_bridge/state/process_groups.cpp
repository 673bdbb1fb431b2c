#include "torch_bridge/state/process_groups.h"

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <map>
#include <string>
#include <utility>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
using WeakGroup = c10::weak_intrusive_ptr<c10d::ProcessGroup>;

// What torch does with its table, with a table of our own.
class Names {
 public:
  void add(const std::string& name, const Group& group) {
    const base::Lock guard(lock_);
    TORCH_CHECK(groups_.emplace(name, WeakGroup(group)).second,
                "A process group is already registered under the name", name);
  }
  Group find(const std::string& name) const {
    const base::Lock guard(lock_);
    const auto found = groups_.find(name);
    TORCH_CHECK(found != groups_.end(),
                "Could not resolve the process group registered under the name ", name);
    Group group = found->second.lock();
    TORCH_CHECK(group.defined(), "Process group registered under the name ", name,
                " has already been destroyed.");
    return group;
  }
  bool has(const std::string& name) const {
    const base::Lock guard(lock_);
    const auto found = groups_.find(name);
    return found != groups_.end() && found->second.lock().defined();
  }
  void remove(const std::string& name) {
    const base::Lock guard(lock_);
    groups_.erase(name);
  }
  void removeAll() {
    const base::Lock guard(lock_);
    groups_.clear();
  }

 private:
  mutable base::ForkMutex lock_;
  std::map<std::string, WeakGroup> groups_ MULTIPY_GUARDED_BY(lock_);
};

// Null: torch's own.
Names* namesOf(InterpreterId slot) {
  static auto* const all = new PerInterpreter<Names>;
  return all->find(slot);
}

Group torchsOwn(const std::string& name) {
  static auto* const find = torchFunction<Group(const std::string&)>(resolveProcessGroupSymbol());
  return find(name);
}

// In torch's shared libraries: operators that name their group.
Group findCurrent(const std::string& name) {
  const Names* const names = namesOf(process::Ownership::instance().current());
  return names ? names->find(name) : torchsOwn(name);
}

}  // namespace

void addProcessGroupRoutes(TorchRoutes& routes) {
  routes.registerProcessGroup = [](InterpreterId slot, const std::string* name, const void* group) {
    if (Names* const names = namesOf(slot)) names->add(*name, *static_cast<const Group*>(group));
  };
  routes.resolveProcessGroup = [](InterpreterId slot, const std::string* name) {
    const Names* const names = namesOf(slot);
    Group group = names ? names->find(*name) : torchsOwn(*name);
    return OwnedPointer(group.release());
  };
  routes.isProcessGroupRegistered = [](InterpreterId slot, const std::string* name) {
    const Names* const names = namesOf(slot);
    return names && names->has(*name);
  };
  routes.unregisterProcessGroup = [](InterpreterId slot, const std::string* name) {
    if (Names* const names = namesOf(slot)) names->remove(*name);
  };
  routes.unregisterAllProcessGroups = purgeProcessGroups;
}

ImportRedirections processGroupRedirections() {
  return {redirection(resolveProcessGroupSymbol(), findCurrent)};
}

void purgeProcessGroups(InterpreterId slot) {
  if (Names* const names = namesOf(slot)) names->removeAll();
}

}  // namespace multipy::bridge
