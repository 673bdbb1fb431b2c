#include "torch_bridge/autograd/forward_levels.h"

#include <torch/csrc/autograd/forward_grad.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

using Level = torch::autograd::ForwardADLevel;

// What torch does with its list, with a list of our own.
class Levels {
 public:
  std::uint64_t open() {
    const base::Lock guard(lock_);
    const std::uint64_t index = open_.size();
    TORCH_CHECK(index == 0, "Nested forward mode AD is not supported at the moment");
    open_.push_back(std::make_shared<Level>(index));
    return index;
  }

  void close(std::uint64_t index) {
    std::shared_ptr<Level> closed;  // goes without the lock: tangents go with it
    const base::Lock guard(lock_);
    TORCH_CHECK(index + 1 == open_.size(),
                "Exiting a forward AD level that is not the last that was created is not support. "
                "Ensure they are released in the reverse order they were created.");
    closed = std::move(open_.back());
    open_.pop_back();
  }

  std::shared_ptr<Level> find(std::uint64_t index) const {
    const base::Lock guard(lock_);
    return index < open_.size() ? open_[index] : nullptr;
  }

  bool any() const {
    const base::Lock guard(lock_);
    return !open_.empty();
  }

  void closeAll() {
    std::vector<std::shared_ptr<Level>> closed;
    const base::Lock guard(lock_);
    std::swap(open_, closed);
  }

 private:
  mutable base::ForkMutex lock_;
  std::vector<std::shared_ptr<Level>> open_ MULTIPY_GUARDED_BY(lock_);
};

// Null: the process's own list.
Levels* levelsOf(InterpreterId slot) {
  static auto* const all = new PerInterpreter<Levels>;
  return all->find(slot);
}

struct Originals {
  std::uint64_t (*open)() = torchFunction<std::uint64_t()>(forwardLevelSymbols().open);
  void (*close)(std::uint64_t) = torchFunction<void(std::uint64_t)>(forwardLevelSymbols().close);
  std::shared_ptr<Level> (*get)(std::uint64_t) =
      torchFunction<std::shared_ptr<Level>(std::uint64_t)>(forwardLevelSymbols().get);
  std::shared_ptr<Level> (*find)(std::uint64_t) =
      torchFunction<std::shared_ptr<Level>(std::uint64_t)>(forwardLevelSymbols().find);
  bool (*any)() = findTorchFunction<bool()>(forwardLevelSymbols().any);  // not in every torch

  static const Originals& all() {
    static const Originals all;
    return all;
  }
};

std::shared_ptr<Level> findOf(InterpreterId slot, std::uint64_t index) {
  const Levels* const levels = levelsOf(slot);
  return levels ? levels->find(index) : Originals::all().find(index);
}

// ------------------------------------------------------- in torch's shared libraries

std::uint64_t openCurrent() {
  Levels* const levels = levelsOf(process::Ownership::entered());
  return levels ? levels->open() : Originals::all().open();
}

void closeCurrent(std::uint64_t index) {
  Levels* const levels = levelsOf(process::Ownership::entered());
  levels ? levels->close(index) : Originals::all().close(index);
}

std::shared_ptr<Level> findCurrent(std::uint64_t index) {
  return findOf(process::Ownership::entered(), index);
}

std::shared_ptr<Level> getCurrent(std::uint64_t index) {
  if (!levelsOf(process::Ownership::entered())) return Originals::all().get(index);
  std::shared_ptr<Level> level = findCurrent(index);
  TORCH_CHECK(level,
              "Trying to access a forward AD level with an invalid index. This index was "
              "either not created or is already deleted.");
  return level;
}

// What torch may ask before it looks for tangents (2.14 does).
[[maybe_unused]] bool anyCurrent() {
  const Levels* const levels = levelsOf(process::Ownership::entered());
  return levels ? levels->any() : Originals::all().any();
}

}  // namespace

void addForwardLevelRoutes(TorchRoutes& routes) {
  routes.findForwardLevel = [](InterpreterId slot, std::uint64_t index) -> std::shared_ptr<void> {
    return findOf(slot, index);
  };
}

ImportRedirections forwardLevelRedirections() {
  Originals::all();  // found before we take their place
  const ForwardLevelSymbols& symbols = forwardLevelSymbols();
  ImportRedirections all = {
      redirection(symbols.open, openCurrent),
      redirection(symbols.close, closeCurrent),
      redirection(symbols.get, getCurrent),
      redirection(symbols.find, findCurrent),
  };
  if (Originals::all().any) all.push_back(redirection(symbols.any, anyCurrent));
  return all;
}

void purgeForwardLevels(InterpreterId slot) {
  if (Levels* const levels = levelsOf(slot)) levels->closeAll();
}

}  // namespace multipy::bridge
