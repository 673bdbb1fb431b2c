// The table of symbols: what is the same in all versions of torch is here, the
// rest in versions/. See docs of each route in abi/torch_routes.h.
#include <algorithm>
#include <array>

#include "torch_bridge/symbols/mangled_names.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/symbols/versions/symbols.h"

namespace multipy::routing {
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

constexpr std::array kCommonSymbols = {
    // --- operators and kernels (registration_router.cpp)
    RedirectedSymbol{"_ZN5torch7LibraryC1ENS0_4KindE" MULTIPY_STRING
                     "St8optionalIN3c1011DispatchKeyEEPKcj",
                     "multipy_route_library_construct", "_ZN5torch7LibraryC"},
    RedirectedSymbol{"_ZNR5torch7Library5_implEPKcONS_11CppFunctionENS_17_RegisterOrVerifyE",
                     "multipy_route_library_implement", "_ZNR5torch7Library5_impl"},
    RedirectedSymbol{"_ZNR5torch7Library9_fallbackEONS_11CppFunctionE",
                     "multipy_route_library_fallback", "_ZNR5torch7Library9_fallback"},
    RedirectedSymbol{"_ZNK3c104impl13OperatorEntry23hasKernelForDispatchKeyENS_11DispatchKeyE",
                     "multipy_route_has_kernel", "_ZNK3c104impl13OperatorEntry23hasKernel"},
    RedirectedSymbol{
        "_ZNK3c104impl13OperatorEntry26hasKernelForAnyDispatchKeyENS_14DispatchKeySetE",
        "multipy_route_has_any_kernel", "_ZNK3c104impl13OperatorEntry26hasKernel"},
    RedirectedSymbol{"_ZN2at4impl30PythonOpRegistrationTrampoline19registerInterpreterEPN3c104impl"
                     "13PyInterpreterE",
                     "multipy_route_register_interpreter",
                     "_ZN2at4impl30PythonOpRegistrationTrampoline19registerInterpreter"},
    RedirectedSymbol{"_ZN5torch6detail19getTorchApiFunctionERKN3c1014OperatorHandleE",
                     "multipy_route_torch_api_function", "", true},
    // --- one Python interpreter for the whole process (py_interpreter_router.cpp)
    RedirectedSymbol{"_ZN3c104impl8GPUTrace9set_traceEPKNS0_13PyInterpreterE",
                     "multipy_route_gpu_trace", "_ZN3c104impl8GPUTrace9set_trace", false, true},
    // --- once per process (once_per_process.cpp)
    RedirectedSymbol{"_ZN3c109ClassType9addMethodEPN5torch3jit8FunctionE",
                     "multipy_route_add_method", "_ZN3c109ClassType9addMethod"},
    RedirectedSymbol{"_ZN5torch3jit16registerOperatorEONS0_8OperatorE",
                     "multipy_route_register_operator", "_ZN5torch3jit16registerOperator"},
    RedirectedSymbol{"_ZN4c10d13control_plane15registerHandlerERK" MULTIPY_STRING
                     "St8functionIFvRKNS0_7RequestERNS0_8ResponseEEE",
                     "multipy_route_register_handler", "_ZN4c10d13control_plane15registerHandler"},
    // --- autograd's engine (engine_router.cpp)
    RedirectedSymbol{"_ZN5torch8autograd23set_default_engine_stubEPFRNS0_6EngineEvE",
                     "multipy_route_engine", "_ZN5torch8autograd23set_default_engine_stub"},
    RedirectedSymbol{"_ZN5torch8autograd6Engine11thread_mainERKSt10shared_ptrINS0_9GraphTaskEE",
                     "multipy_route_engine_thread", "_ZN5torch8autograd6Engine11thread_main"},
    // --- the profiler (profiler_router.cpp)
    RedirectedSymbol{
        "_ZN5torch8autograd8profiler14enableProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set"
        "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_setIN2at11RecordScopeESt4hashISH_"
        "ESt8equal_toISH_ESaISH_EE",
        "multipy_route_enable_profiler", "_ZN5torch8autograd8profiler14enableProfiler"},
    RedirectedSymbol{"_ZN5torch8autograd8profiler15disableProfilerEv",
                     "multipy_route_disable_profiler",
                     "_ZN5torch8autograd8profiler15disableProfiler"},
    RedirectedSymbol{"_ZN5torch8profiler4impl13python_tracer14registerTracerEPFSt10unique_ptrINS2_"
                     "16PythonTracerBaseESt14default_deleteIS4_EEPNS1_11RecordQueueEE",
                     "multipy_route_tracer",
                     "_ZN5torch8profiler4impl13python_tracer14registerTracer"},
    // --- the last writer wins (process_slots.cpp, traceback_router.cpp)
    RedirectedSymbol{"_ZN5torch3jit15setPrintHandlerEPFvRK" MULTIPY_STRING "E",
                     "multipy_route_print_handler", "_ZN5torch3jit15setPrintHandler"},
    RedirectedSymbol{
        "_ZN5torch3jit6tracer18setPythonCallstackEPFSt6vectorINS0_10StackEntryESaIS3_EEvE",
        "multipy_route_callstack", "_ZN5torch3jit6tracer18setPythonCallstack"},
    RedirectedSymbol{"_ZN5torch3jit6tracer23setRecordSourceLocationEPFvPNS0_4NodeEE",
                     "multipy_route_source_location",
                     "_ZN5torch3jit6tracer23setRecordSourceLocation"},
    RedirectedSymbol{"_ZN5torch3jit6tracer7setWarnEPFvRK" MULTIPY_STRING "E", "multipy_route_warn",
                     "_ZN5torch3jit6tracer7setWarn"},
    RedirectedSymbol{"_ZN3c1020SetStackTraceFetcherESt8functionIF" MULTIPY_STRING "vEE",
                     "multipy_route_stack_fetcher", "_ZN3c1020SetStackTraceFetcher", false,
                     kLeavesStacksToC10},
    RedirectedSymbol{"_ZN5torch4lazy23GetPythonFramesFunctionEv", "multipy_route_lazy_frames",
                     "_ZN5torch4lazy23GetPythonFramesFunction"},
    RedirectedSymbol{"_ZN5torch17CapturedTraceback17addPythonUnwinderEPNS0_6PythonE",
                     "multipy_route_unwinder", "_ZN5torch17CapturedTraceback17addPythonUnwinder"},
    // --- decompositions (decompositions.cpp)
    RedirectedSymbol{
        "_ZN5torch3jit21RegisterDecompositionERKN3c1014FunctionSchemaESt10shared_ptrINS0_5GraphEE",
        "multipy_route_register_decomposition", "_ZN5torch3jit21RegisterDecomposition"},
    RedirectedSymbol{"_ZN5torch3jit16GetDecompositionERKN3c1014FunctionSchemaE",
                     "multipy_route_get_decomposition", "_ZN5torch3jit16GetDecomposition"},
    // --- levels of forward-mode autograd (forward_levels.cpp)
    RedirectedSymbol{kForwardLevels.find, "multipy_route_find_forward_level", "", false, false,
                     true},
    // --- operators by name (visible_operators.cpp)
    RedirectedSymbol{"_ZN5torch3jit15getAllOperatorsEv", "multipy_route_all_operators", ""},
    RedirectedSymbol{"_ZN5torch3jit18getAllOperatorsForEN3c106SymbolE",
                     "multipy_route_operators_for", ""},
    RedirectedSymbol{"_ZN5torch3jit24getAllSortedOperatorsForEN3c106SymbolE",
                     "multipy_route_sorted_operators_for", ""},
    RedirectedSymbol{"_ZN5torch3jit15findOperatorForERKN3c1012OperatorNameE",
                     "multipy_route_find_operator", ""},
    RedirectedSymbol{"_ZN3c1010Dispatcher13getAllOpNamesEv", "multipy_route_all_operator_names",
                     ""},
    RedirectedSymbol{
        "_ZNK3c1010Dispatcher30getRegistrationsForDispatchKeyESt8optionalINS_11DispatchKeyEE",
        "multipy_route_registrations", "_ZNK3c1010Dispatcher30getRegistrations"},
    // --- process groups by name (process_groups.cpp)
    RedirectedSymbol{
        "_ZN4c10d22register_process_groupERK" MULTIPY_STRING
        "RKN3c1013intrusive_ptrINS_12ProcessGroupEN" MULTIPY_BY_STRING(
            "S8_",
            "S2_") "6detail34intrusive_target_default_null_typeI" MULTIPY_BY_STRING("SA_",
                                                                                    "S4_") "EEEE",
        "multipy_route_register_process_group", "_ZN4c10d22register_process_group"},
    RedirectedSymbol{kResolveProcessGroup, "multipy_route_resolve_process_group",
                     "_ZN4c10d21resolve_process_group"},
    RedirectedSymbol{"_ZN4c10d24unregister_process_groupERK" MULTIPY_STRING,
                     "multipy_route_unregister_process_group",
                     "_ZN4c10d24unregister_process_group"},
    RedirectedSymbol{"_ZN4c10d29unregister_all_process_groupsEv",
                     "multipy_route_unregister_all_process_groups",
                     "_ZN4c10d29unregister_all_process_groups"},
    // --- compiled autograd (compiled_autograd.cpp)
    RedirectedSymbol{
        "_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_"
        "EEbbbS7_",
        "multipy_route_engine_execute", "_ZN5torch8autograd6Engine7executeE"},
    // --- and its compiler (compiler_interface.cpp)
    // --- settings (interpreter_settings.cpp)
    RedirectedSymbol{kSettings.generator, "multipy_route_default_generator", "", false, false,
                     true},
    RedirectedSymbol{kSettings.context, "multipy_route_global_context", "", false, false, true},
    RedirectedSymbol{kSettings.dtype, "multipy_route_default_dtype", "", false, false, true},
    RedirectedSymbol{kSettings.scalarType, "multipy_route_default_scalar_type", "", false, false,
                     true},
    RedirectedSymbol{kSettings.complexDtype, "multipy_route_default_complex_dtype", "", false, true,
                     true},
    RedirectedSymbol{kSettings.setDtype, "multipy_route_set_default_dtype", "", false, false, true},
    // --- the number of threads (thread_numbers.cpp)
    RedirectedSymbol{"_ZN2at15set_num_threadsEi", "multipy_route_set_num_threads", "", false, false,
                     true},
    RedirectedSymbol{kInitNumThreads, "multipy_route_init_num_threads", "", false, false, true},
    // --- anomaly mode (anomaly_mode.cpp): variables, and where the function that sets them is
    RedirectedSymbol{"_ZN5torch8autograd11AnomalyMode8_enabledE", "multipy_route_anomaly_enabled",
                     "", false, false, true},
    RedirectedSymbol{"_ZN5torch8autograd11AnomalyMode10_check_nanE",
                     "multipy_route_anomaly_check_nan", "", false, false, true},
    RedirectedSymbol{"PyModule_Create2", "multipy_route_create_module", "", false, false, true,
                     true},
};

constexpr auto kSymbols = [] {
  std::array<RedirectedSymbol, kCommonSymbols.size() + version::kSymbols.size()> all;
  std::ranges::copy(version::kSymbols, std::ranges::copy(kCommonSymbols, all.begin()).out);
  return all;
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

// Raise the number when the table or the meaning of a route changes.
std::string tableVersion() { return "torch-routes-8/" + builtWithTorch(); }

}  // namespace multipy::routing
