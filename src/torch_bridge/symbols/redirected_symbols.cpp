// The table of symbols, made of abi/redirects.def, and the names of further functions of torch.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "torch_bridge/symbols/mangled_names.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/symbols/versions/symbols.h"

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

constexpr ForwardLevelSymbols kForwardLevels{
    "_ZN5torch8autograd14ForwardADLevel12get_next_idxEv",
    "_ZN5torch8autograd14ForwardADLevel11release_idxEm",
    "_ZN5torch8autograd14ForwardADLevel10get_by_idxEm",
    "_ZN5torch8autograd14ForwardADLevel14try_get_by_idxEm",
};

constexpr AnomalySymbols kAnomaly{
    "_ZN5torch8autograd4Node8metadataEv",
    "_ZN2at4_ops5isnan4callERKNS_6TensorE",
    "_ZN2at4_ops12_is_any_true4callERKNS_6TensorE",
    "_ZNK2at6Tensor4itemIbEET_v",
    "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_"
    "11InputBufferERKS2_INS0_10ReadyQueueEE",
};

constexpr const char* kInitNumThreads = "_ZN2at16init_num_threadsEv";

constexpr const char* kResolveProcessGroup = "_ZN4c10d21resolve_process_groupERK" MULTIPY_STRING;

// For ARM torch compiles the call out that hands it symbolized C++ stacks.
#if defined(__aarch64__)
constexpr bool kLeavesStacksToC10 = true;
#else
constexpr bool kLeavesStacksToC10 = false;
#endif

// A row whose name is null is of another version of torch.
constexpr std::string_view orEmpty(const char* name) { return name ? name : ""; }

constexpr RedirectedSymbol kRows[] = {
#define MULTIPY_REDIRECT_BY_HAND(member, symbol, beginning, ...) \
  RedirectedSymbol{.name = orEmpty(symbol),                      \
                   .route = "multipy_route_" #member,            \
                   .stem = beginning __VA_OPT__(, ) __VA_ARGS__},
#define MULTIPY_REDIRECT(member, result, parameters, arguments, ...) \
  MULTIPY_REDIRECT_BY_HAND(member, __VA_ARGS__)
#include "abi/redirects.def"
};

constexpr bool isOfThisTorch(const RedirectedSymbol& row) { return !row.name.empty(); }

constexpr auto kSymbols = [] {
  std::array<RedirectedSymbol, std::ranges::count_if(kRows, isOfThisTorch)> all;
  std::ranges::copy_if(kRows, all.begin(), isOfThisTorch);
  return all;
}();

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
const ForwardLevelSymbols& forwardLevelSymbols() { return kForwardLevels; }
const AnomalySymbols& anomalySymbols() { return kAnomaly; }
const char* initNumThreadsSymbol() { return kInitNumThreads; }
const char* resolveProcessGroupSymbol() { return kResolveProcessGroup; }
const char* compilerInterfaceSymbol() { return version::kCompilerInterface; }

const BindingSymbols& bindingSymbols() {
  static constexpr BindingSymbols symbols{
      version::kWrap,
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
