#include "torch_bridge/torch_bridge.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <exception>

#include "abi/torch_routes.h"
#include "base/per_interpreter.h"
#include "torch_bridge/autograd/anomaly_mode.h"
#include "torch_bridge/autograd/compiled_autograd.h"
#include "torch_bridge/autograd/compiler_interface.h"
#include "torch_bridge/autograd/engine_router.h"
#include "torch_bridge/autograd/forward_levels.h"
#include "torch_bridge/dispatch/decompositions.h"
#include "torch_bridge/dispatch/once_per_process.h"
#include "torch_bridge/dispatch/py_interpreter_router.h"
#include "torch_bridge/dispatch/registration_router.h"
#include "torch_bridge/dispatch/visible_operators.h"
#include "torch_bridge/program_python.h"
#include "torch_bridge/state/cuda_captures.h"
#include "torch_bridge/state/cuda_generators.h"
#include "torch_bridge/state/interpreter_settings.h"
#include "torch_bridge/state/process_groups.h"
#include "torch_bridge/state/process_slots.h"
#include "torch_bridge/state/profiler_router.h"
#include "torch_bridge/state/thread_numbers.h"
#include "torch_bridge/tensors/transferred_storage.h"

namespace multipy::bridge {
namespace {

using DropCaches = void (*)();

PerInterpreter<std::atomic<DropCaches>>& cacheDroppers() {
  static auto* const all = new PerInterpreter<std::atomic<DropCaches>>{};
  return *all;
}

TorchRoutes makeRoutes() {
  TorchRoutes routes{};
  addRegistrationRoutes(routes);
  addPyInterpreterRoutes(routes);
  addOncePerProcessRoutes(routes);
  addAnomalyModeRoutes(routes);
  addCompiledAutogradRoutes(routes);
  addCompilerInterfaceRoutes(routes);
  addDecompositionRoutes(routes);
  addEngineRoutes(routes);
  addForwardLevelRoutes(routes);
  addProfilerRoutes(routes);
  addProcessGroupRoutes(routes);
  addProcessSlotRoutes(routes);
  addSettingsRoutes(routes);
  addCudaGeneratorRoutes(routes);
  addCudaCaptureRoutes(routes);
  addThreadNumberRoutes(routes);
  addTracebackRoutes(routes);
  addThreadObjectRoutes(routes);
  addDeviceGuardRoutes(routes);
  addVisibleOperatorRoutes(routes);
  routes.onPurge = [](InterpreterId slot, DropCaches drop) {
    if (slot.isInterpreter()) cacheDroppers()[slot].store(drop);
  };
  routes.fail = [](const char* message) { TORCH_CHECK(false, message); };
  return routes;
}

std::atomic<bool> isAdoptedWithTorch{false};

}  // namespace

const TorchRoutes& torchRoutes() {
  static const auto* const routes = new TorchRoutes(makeRoutes());
  return *routes;
}

void prepareProcess() {
  if (!programHasPython())
    registerPyInterpreter();
  else if (!isAdoptedWithTorch)
    adoptProgramsPython();
}

void adoptWithTorch() noexcept { isAdoptedWithTorch = true; }

void prepareForTorch() {
  if (programHasPython()) adoptProgramsPython();
}

bool purge(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return true;
  bool all = true;
  for (const auto part :
       {purgeRegistrations, purgeOncePerProcess, purgeAnomalyMode, purgeDecompositions,
        purgeForwardLevels, purgeEngine, purgeCompiledAutograd, purgeCompilerInterface,
        purgeProcessGroups, purgeProfiler, purgeProcessSlots, purgeThreadNumber, purgeTracebacks}) {
    try {
      part(slot);
    } catch (const std::exception&) {
      all = false;  // no memory, most likely
    }
  }
  if (const DropCaches drop = cacheDroppers()[slot].exchange(nullptr)) drop();
  return all;
}

void pythonHasEnded(InterpreterId slot) noexcept { disarmPyInterpreter(slot); }

Statistics statistics() {
  const RegistrationCounts registrations = registrationCounts();
  const StorageCounts storages = storageCounts();
  Statistics all;
  all.routes = registrations.routes;
  all.kernels = registrations.kernels;
  all.transfers = storages.transfers;
  all.liveTransfers = storages.live;
  all.deferredDrops = storages.deferred;
  all.leakedStorages = storages.leaked;
  return all;
}

}  // namespace multipy::bridge
