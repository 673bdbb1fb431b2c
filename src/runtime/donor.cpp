#include "runtime/donor.h"

#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "interpreter/fork_mutex.h"
#include "runtime/embedded_interpreter.h"
#include "runtime/host_binding.h"
#include "torch/torch_router.h"

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

struct Donor {
  loader::PrivateSpace space;
  HostBinding binding;

  Donor(const std::filesystem::path& libtorchPython, std::shared_ptr<loader::CopyCache> cache)
      : space(routing::kDonorSlot, policyAround(libtorchPython), std::move(cache),
              &routing::torchAdapter()),
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

// Where the donor's copies will be.
class DonorCache {
 public:
  void set(std::shared_ptr<loader::CopyCache> cache) {
    const std::lock_guard lock(mutex_);
    cache_ = std::move(cache);
  }
  std::shared_ptr<loader::CopyCache> get() const {
    const std::lock_guard lock(mutex_);
    return cache_;
  }

 private:
  mutable ForkMutex mutex_;
  std::shared_ptr<loader::CopyCache> cache_;  // guarded by mutex_
};

}  // namespace

void prepareDonor(std::shared_ptr<loader::CopyCache> cache) {
  static DonorCache& latest = *new DonorCache;
  latest.set(std::move(cache));
  static std::once_flag once;
  std::call_once(once, [] {
    routing::setDonorLoader([](const std::filesystem::path& library) {
      // Not deleted: its code is called for as long as the process lives. The
      // first library is libtorch_python; later ones register with torch, too.
      static Donor* const donor = new Donor(library, latest.get());
      donor->space.load(library);
    });
  });
}

}  // namespace multipy::runtime
