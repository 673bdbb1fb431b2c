#include "torch_bridge/state/cuda_generators.h"

#include <ATen/core/Generator.h>

#include <map>

#include "abi/torch_routes.h"
#include "base/mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

using c10::DeviceIndex;

// Asked for by calls out of libtorch_cuda, or of what needs it: both are there.
const at::Generator& generatorOfProcess(DeviceIndex device) {
  static auto* const get =
      findTorchCudaFunction<const at::Generator&(DeviceIndex)>(cudaSymbols().defaultGenerator);
  return get(device);
}

at::Generator makeGenerator(DeviceIndex device) {
  static auto* const create =
      findTorchCudaFunction<at::Generator(DeviceIndex)>(cudaSymbols().createGenerator);
  at::Generator made = create(device);
  made.seed();
  return made;
}

// Of one interpreter. References into the map stay good: torch keeps them.
class Generators {
 public:
  const at::Generator& of(DeviceIndex device) {
    const base::Lock guard(mutex_);
    const auto found = made_.find(device);
    return found != made_.end() ? found->second
                                : made_.emplace(device, makeGenerator(device)).first->second;
  }
  void clear() noexcept {
    std::map<DeviceIndex, at::Generator> ended;
    const base::Lock guard(mutex_);
    ended.swap(made_);
  }

 private:
  base::Mutex mutex_;
  std::map<DeviceIndex, at::Generator> made_ MULTIPY_GUARDED_BY(mutex_);
};

PerInterpreter<Generators>& generators() {
  static auto* const all = new PerInterpreter<Generators>{};
  return *all;
}

const at::Generator& generatorOf(InterpreterId slot, DeviceIndex device) {
  // torch's own knows which device is meant by -1, and refuses one that there is not.
  const at::Generator& ofProcess = generatorOfProcess(device);
  if (!slot.isInterpreter()) return ofProcess;
  return generators()[slot].of(ofProcess.device().index());
}

const at::Generator& currentGenerator(DeviceIndex device) {
  return generatorOf(process::Ownership::entered(), device);
}

}  // namespace

void addCudaGeneratorRoutes(TorchRoutes& routes) {
  routes.defaultCudaGenerator = [](InterpreterId slot, std::int8_t device) -> const void* {
    return &generatorOf(slot, device);
  };
}

ImportRedirections cudaGeneratorRedirections() {
  return {redirection(cudaSymbols().defaultGenerator, currentGenerator)};
}

void forgetCudaGenerators(InterpreterId slot) noexcept {
  if (slot.isInterpreter()) generators()[slot].clear();
}

}  // namespace multipy::bridge
