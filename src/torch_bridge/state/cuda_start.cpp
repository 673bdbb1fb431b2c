#include "torch_bridge/state/cuda_start.h"

#include <ATen/Context.h>
#include <c10/core/Device.h>
#include <c10/util/ScopeExit.h>

#include "torch_bridge/state/interpreter_settings.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

template <typename Context>
void startCuda(Context& context) {
  if constexpr (requires { context.lazyInitDevice(c10::kCUDA); })
    context.lazyInitDevice(c10::kCUDA);
  else
    context.lazyInitCUDA();  // up to torch 2.5
}

c10::DeviceIndex countDevices() {
  static auto* const count = findTorchCudaFunction<c10::DeviceIndex()>(cudaSymbols().deviceCount);
  static thread_local bool starting = false;
  if (!starting) {
    starting = true;
    const auto started = c10::make_scope_exit([] { starting = false; });
    startCuda(processContext());
  }
  return count();
}

}  // namespace

ImportRedirections cudaStartRedirections() {
  return {redirection(cudaSymbols().deviceCount, countDevices)};
}

}  // namespace multipy::bridge
