// The device guard that a fake tensor on a CUDA device has where there is no such device.
//
// torch 2.10 and 2.11 keep it in a variable of the thread that first asks for it and register it
// for the process: with that thread the guard ends, and every other one reads it after that. Here,
// as in torch from 2.12 on, there is one, which stays.
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>

#include "abi/torch_routes.h"
#include "torch_bridge/state/process_slots.h"

namespace multipy::bridge {
namespace {

using CudaGuard = c10::impl::FakeGuardImpl<c10::DeviceType::CUDA>;

void setFakeCudaGuard(InterpreterId) {
  // Without CUDA in this torch there is none to replace.
  auto& registered = c10::impl::device_guard_impl_registry[static_cast<int>(c10::DeviceType::CUDA)];
  const auto* const guard = registered.load();
  if (!guard || guard->deviceCount() != 0) return;
  static const auto* const fake = new CudaGuard;
  registered.store(fake);
}

}  // namespace

void addDeviceGuardRoutes(TorchRoutes& routes) { routes.fakeCudaGuard = setFakeCudaGuard; }

}  // namespace multipy::bridge
