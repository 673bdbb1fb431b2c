// The table of symbols, made of abi/redirects.def, and the names of further functions of torch.
#include <torch/version.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "torch_bridge/symbols/mangled_names.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

constexpr SettingSymbols kSettings{
    "_ZN2at6detail22getDefaultCPUGeneratorEv",
    "_ZN2at13globalContextEv",
    "_ZN3c1017get_default_dtypeEv",
    "_ZN3c1031get_default_dtype_as_scalartypeEv",
    "_ZN3c1025get_default_complex_dtypeEv",
    "_ZN3c1017set_default_dtypeEN6caffe28TypeMetaE",
};

// c10::DeviceIndex is a signed char.
constexpr CudaSymbols kCuda{
    "_ZN2at4cuda6detail23getDefaultCUDAGeneratorEa",
    "_ZN2at4cuda6detail19createCUDAGeneratorEa",
    "_ZN3c104cuda28device_count_ensure_non_zeroEv",
    "_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode",
    "_ZN2at4cuda9CUDAGraph11capture_endEv",
    "_ZN2at4cuda9CUDAGraph15capture_end_preEv",
    "_ZN3c104cuda18device_synchronizeEv",
};

constexpr ForwardLevelSymbols kForwardLevels{
    "_ZN5torch8autograd14ForwardADLevel12get_next_idxEv",
    "_ZN5torch8autograd14ForwardADLevel11release_idxEm",
    "_ZN5torch8autograd14ForwardADLevel10get_by_idxEm",
    "_ZN5torch8autograd14ForwardADLevel14try_get_by_idxEm",
    "_ZN5torch8autograd14ForwardADLevel13has_any_levelEv",
};

constexpr AnomalySymbols kAnomaly{
    "_ZN5torch8autograd11AnomalyMode8_enabledE",
    "_ZN5torch8autograd11AnomalyMode10_check_nanE",
    "_ZN5torch8autograd4Node8metadataEv",
    "_ZN2at4_ops5isnan4callERKNS_6TensorE",
    "_ZN2at4_ops12_is_any_true4callERKNS_6TensorE",
    "_ZNK2at6Tensor4itemIbEET_v",
    "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_"
    "11InputBufferERKS2_INS0_10ReadyQueueEE",
    "_ZN5torch8autograd18DetectAnomalyGuardC1Eb",
    "_ZN5torch8autograd18DetectAnomalyGuardD1Ev",
};

#define MULTIPY_PREPARE                                                                       \
  "_ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set" \
  "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EE"
#define MULTIPY_PREPARE_FILTERED                                             \
  MULTIPY_PREPARE "RKSt13unordered_mapIS8_St13unordered_setI" MULTIPY_STRING \
                  "St4hashISM_ESt8equal_toISM_ESaISM_EESN_IS8_ESP_IS8_ESaISt4pairIKS8_SS_EEE"
constexpr PrepareSymbols kPrepare{
    MULTIPY_PREPARE,
    MULTIPY_PREPARE_FILTERED,
    MULTIPY_PREPARE_FILTERED "RKSF_ISM_SM_SO_SQ_SaISV_IKSM_SM_EEE",
};
#undef MULTIPY_PREPARE
#undef MULTIPY_PREPARE_FILTERED

constexpr OpaqueTypeSymbols kOpaqueTypes{
    "_ZN5torch3jit18registerOpaqueTypeERK" MULTIPY_STRING,
    "_ZN5torch3jit20unregisterOpaqueTypeERK" MULTIPY_STRING,
    "_ZN5torch3jit22isRegisteredOpaqueTypeERK" MULTIPY_STRING,
};

constexpr const char* kCompilerInterface = "_ZN5torch6dynamo8autograd22getPyCompilerInterfaceEv";

constexpr const char* kInitNumThreads = "_ZN2at16init_num_threadsEv";

constexpr const char* kResolveProcessGroup = "_ZN4c10d21resolve_process_groupERK" MULTIPY_STRING;

// For ARM torch compiles the call out that hands it symbolized C++ stacks.
#if defined(__aarch64__)
constexpr bool kLeavesStacksToC10 = true;
#else
constexpr bool kLeavesStacksToC10 = false;
#endif

constexpr RedirectedSymbol kSymbols[] = {
#define MULTIPY_REDIRECT_BY_HAND(member, symbol, beginning, ...) \
  RedirectedSymbol{.name = symbol,                               \
                   .route = "multipy_route_" #member,            \
                   .stem = beginning __VA_OPT__(, ) __VA_ARGS__},
#define MULTIPY_REDIRECT_ALSO MULTIPY_REDIRECT_BY_HAND
#define MULTIPY_REDIRECT(member, result, parameters, arguments, ...) \
  MULTIPY_REDIRECT_BY_HAND(member, __VA_ARGS__)
#include "abi/redirects.def"
};

// FNV-1a over what the table says.
constexpr std::uint64_t kTableHash = [] {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const RedirectedSymbol& row : kSymbols)
    for (const std::string_view text :
         {row.name, std::string_view(" "), row.route, std::string_view("\n")})
      for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  return hash;
}();

}  // namespace

std::span<const RedirectedSymbol> redirectedSymbols() { return kSymbols; }

const SettingSymbols& settingSymbols() { return kSettings; }
const CudaSymbols& cudaSymbols() { return kCuda; }
const ForwardLevelSymbols& forwardLevelSymbols() { return kForwardLevels; }
const AnomalySymbols& anomalySymbols() { return kAnomaly; }
const char* initNumThreadsSymbol() { return kInitNumThreads; }
const char* resolveProcessGroupSymbol() { return kResolveProcessGroup; }
const char* compilerInterfaceSymbol() { return kCompilerInterface; }
const PrepareSymbols& prepareSymbols() { return kPrepare; }
const OpaqueTypeSymbols& opaqueTypeSymbols() { return kOpaqueTypes; }

const BindingSymbols& bindingSymbols() {
  static constexpr BindingSymbols symbols{
      {"_Z16THPVariable_WrapON2at10TensorBaseE", "_Z16THPVariable_WrapRKN2at10TensorBaseE",
       "_Z16THPVariable_WrapN2at10TensorBaseE"},
      "THPVariableClass",
      "_ZN5torch3jit10toPyObjectEN3c106IValueE",
      "_ZN5torch3jit8toIValueEN8pybind116handleERKN3c104Type24SingletonOrSharedTypePtrIS4_EE"
      "St8optionalIiE",
      "_Z16getPyInterpreterv",
  };
  return symbols;
}

std::string builtWithTorch() {
  return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
         std::to_string(TORCH_VERSION_PATCH);
}

std::string tableVersion() {
  return "torch-routes-" + std::to_string(kTableHash) + "/" + builtWithTorch();
}

}  // namespace multipy::bridge
