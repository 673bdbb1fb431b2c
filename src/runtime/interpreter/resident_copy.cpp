#include "runtime/interpreter/resident_copy.h"

#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "base/interpreter_id.h"
#include "runtime/interpreter/embedded_interpreter.h"
#include "runtime/interpreter/host_binding.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::runtime {
namespace {

// Everything in the environment that torch lies in belongs to that environment:
// .../site-packages/torch/lib/libtorch_python.so. A distribution's torch lies
// among the system's libraries and brings none of its own.
std::shared_ptr<const loader::IsolationPolicy> policyAround(const std::filesystem::path& library) {
  std::vector<std::filesystem::path> roots;
  const auto torch = library.parent_path().parent_path();
  if (torch.filename() == "torch") roots.push_back(torch.parent_path());
  return std::make_shared<const loader::IsolationPolicy>(std::move(roots));
}

struct ResidentCopy {
  loader::PrivateSpace space;
  HostBinding binding;

  ResidentCopy(const std::filesystem::path& libtorchPython,
               std::shared_ptr<loader::CopyCache> cache)
      : space(InterpreterId::resident(), policyAround(libtorchPython), std::move(cache),
              &bridge::torchAdapter()),
        binding(space, nullptr, nullptr, nullptr) {
    try {
      binding.attach(space.loadInterpreter(embeddedInterpreter()));
      space.load(libtorchPython);
    } catch (...) {
      space.unload();
      throw;
    }
  }
};

// Where the resident copies will be.
class ResidentCache {
 public:
  void set(std::shared_ptr<loader::CopyCache> cache) {
    const base::Lock lock(mutex_);
    cache_ = std::move(cache);
  }
  std::shared_ptr<loader::CopyCache> get() const {
    const base::Lock lock(mutex_);
    return cache_;
  }

 private:
  mutable base::ForkMutex mutex_;
  std::shared_ptr<loader::CopyCache> cache_ MULTIPY_GUARDED_BY(mutex_);
};

}  // namespace

void prepareResidentCopy(std::shared_ptr<loader::CopyCache> cache) {
  static ResidentCache& latest = *new ResidentCache;
  latest.set(std::move(cache));
  static std::once_flag once;
  std::call_once(once, [] {
    bridge::setResidentCopyLoader([](const std::filesystem::path& library) {
      // Not deleted: its code is called for as long as the process lives. The
      // first library is libtorch_python; later ones register with torch, too.
      static ResidentCopy* const copy = new ResidentCopy(library, latest.get());
      // As it is where it was asked for: by that environment's rules, which are not this one's.
      copy->space.makePrivate(library);
      copy->space.load(library);
    });
  });
}

}  // namespace multipy::runtime
