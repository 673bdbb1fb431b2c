// The table for torch 2.13. See docs of each route in interpreter/torch_routes.h.
#include <torch/headeronly/version.h>

#include <array>

#include "torch/supported_torch.h"

// What this table names was read in 2.13.0. Another version: check each name,
// its signature, and the private members that src/torch uses, then raise this.
static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 13,
              "src/torch knows torch 2.13 only");

namespace multipy::routing {
namespace {

#define MULTIPY_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

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

constexpr std::array kSymbols = {
    // --- operators and kernels (registration_router.cpp)
    RedirectedSymbol{
        "_ZN5torch7LibraryC1ENS0_4KindE" MULTIPY_STRING
        "St8optionalIN3c1011DispatchKeyEEPKcj",
        "multipy_route_library_construct", "_ZN5torch7LibraryC"},
    RedirectedSymbol{
        "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorINS_"
        "10headeronly3TagESaIS8_EENS_17_RegisterOrVerifyE",
        "multipy_route_library_define", "_ZNR5torch7Library4_def"},
    RedirectedSymbol{
        "_ZNR5torch7Library4_defEOSt7variantIJN3c1012OperatorNameENS2_14FunctionSchemaEEEONS_"
        "11CppFunctionERKSt6vectorINS_10headeronly3TagESaISB_EE",
        "multipy_route_library_define_with_kernel", "_ZNR5torch7Library4_def"},
    RedirectedSymbol{"_ZNR5torch7Library5_implEPKcONS_11CppFunctionENS_17_RegisterOrVerifyE",
                     "multipy_route_library_implement", "_ZNR5torch7Library5_impl"},
    RedirectedSymbol{"_ZNR5torch7Library9_fallbackEONS_11CppFunctionE",
                     "multipy_route_library_fallback", "_ZNR5torch7Library9_fallback"},
    RedirectedSymbol{"_ZNK3c104impl13OperatorEntry23hasKernelForDispatchKeyENS_11DispatchKeyE",
                     "multipy_route_has_kernel", "_ZNK3c104impl13OperatorEntry23hasKernel"},
    RedirectedSymbol{
        "_ZNK3c104impl13OperatorEntry26hasKernelForAnyDispatchKeyENS_14DispatchKeySetE",
        "multipy_route_has_any_kernel", "_ZNK3c104impl13OperatorEntry26hasKernel"},
    RedirectedSymbol{
        "_ZN2at4impl30PythonOpRegistrationTrampoline19registerInterpreterEPN3c104impl"
        "13PyInterpreterE",
        "multipy_route_register_interpreter",
        "_ZN2at4impl30PythonOpRegistrationTrampoline19registerInterpreter"},
    RedirectedSymbol{"_ZN5torch6detail19getTorchApiFunctionERKN3c1014OperatorHandleE",
                     "multipy_route_torch_api_function", "", true},
    // --- one Python interpreter for the whole process (py_interpreter_router.cpp)
    RedirectedSymbol{"_ZN3c104impl26PyInterpreterHooksRegistryB5cxx11Ev",
                     "multipy_route_hooks_registry", "_ZN3c104impl26PyInterpreterHooksRegistry"},
    RedirectedSymbol{"_ZN3c104impl8GPUTrace9set_traceEPKNS0_13PyInterpreterE",
                     "multipy_route_gpu_trace", "_ZN3c104impl8GPUTrace9set_trace", false, true},
    // --- once per process (once_per_process.cpp)
    RedirectedSymbol{"_ZN5torch6detail10class_baseC2ERK" MULTIPY_STRING
                     "S9_S7_RKSt9type_infoSC_",
                     "multipy_route_custom_class", "_ZN5torch6detail10class_baseC"},
    RedirectedSymbol{"_ZN3c109ClassType9addMethodEPN5torch3jit8FunctionE",
                     "multipy_route_add_method", "_ZN3c109ClassType9addMethod"},
    RedirectedSymbol{
        "_ZN5torch25registerCustomClassMethodESt10unique_ptrINS_3jit8FunctionESt14default_"
        "deleteIS2_EE",
        "multipy_route_custom_class_method", "_ZN5torch25registerCustomClassMethod"},
    RedirectedSymbol{"_ZN5torch3jit16registerOperatorEONS0_8OperatorE",
                     "multipy_route_register_operator", "_ZN5torch3jit16registerOperator"},
    RedirectedSymbol{"_ZN4c10d13control_plane15registerHandlerERK" MULTIPY_STRING
                     "St8functionIFvRKNS0_7RequestERNS0_8ResponseEEE",
                     "multipy_route_register_handler", "_ZN4c10d13control_plane15registerHandler"},
    RedirectedSymbol{"_ZN5torch3jit18registerOpaqueTypeERK" MULTIPY_STRING,
                     "multipy_route_register_opaque_type",
                     "_ZN5torch3jit18registerOpaqueType"},
    RedirectedSymbol{"_ZN5torch3jit20unregisterOpaqueTypeERK" MULTIPY_STRING,
                     "multipy_route_unregister_opaque_type",
                     "_ZN5torch3jit20unregisterOpaqueType"},
    // --- autograd's engine (engine_router.cpp)
    RedirectedSymbol{"_ZN5torch8autograd23set_default_engine_stubEPFRNS0_6EngineEvE",
                     "multipy_route_engine", "_ZN5torch8autograd23set_default_engine_stub"},
    RedirectedSymbol{
        "_ZN5torch8autograd6Engine21set_compiled_autogradEPFSt6vectorIN2at6TensorESaIS4_EERKN"
        "3c1013intrusive_ptrINS0_4NodeENS7_6detail34intrusive_target_default_null_typeIS9_EEEE"
        "RKNS0_9GraphTaskEbRKS2_INS0_4EdgeESaISJ_EEE",
        "multipy_route_compiled_autograd", "_ZN5torch8autograd6Engine21set_compiled_autograd"},
    RedirectedSymbol{
        "_ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEEN"
        "3c1013intrusive_ptrINS0_4NodeENS7_6detail34intrusive_target_default_null_typeIS9_EEEE"
        "ONS0_11InputBufferE",
        "multipy_route_execute_graph_task", "_ZN5torch8autograd6Engine23execute_with_graph_task"},
    RedirectedSymbol{
        "_ZN5torch8autograd6Engine11thread_mainERKSt10shared_ptrINS0_9GraphTaskEE",
        "multipy_route_engine_thread", "_ZN5torch8autograd6Engine11thread_main"},
    // --- the profiler (profiler_router.cpp)
    RedirectedSymbol{
        "_ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set"
        "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_mapIS8_St13unordered_setI"
        MULTIPY_STRING "St4hashISM_ESt8equal_toISM_ESaISM_EESN_IS8_ESP_IS8_ESaISt4pairIKS8_SS_EEE",
        "multipy_route_prepare_profiler", "_ZN5torch8autograd8profiler15prepareProfiler"},
    RedirectedSymbol{
        "_ZN5torch8autograd8profiler14enableProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set"
        "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_setIN2at11RecordScopeESt4hashISH_"
        "ESt8equal_toISH_ESaISH_EE",
        "multipy_route_enable_profiler", "_ZN5torch8autograd8profiler14enableProfiler"},
    RedirectedSymbol{"_ZN5torch8autograd8profiler15disableProfilerEv",
                     "multipy_route_disable_profiler",
                     "_ZN5torch8autograd8profiler15disableProfiler"},
    RedirectedSymbol{
        "_ZN5torch8profiler4impl13python_tracer14registerTracerEPFSt10unique_ptrINS2_"
        "16PythonTracerBaseESt14default_deleteIS4_EEPNS1_11RecordQueueEE",
        "multipy_route_tracer", "_ZN5torch8profiler4impl13python_tracer14registerTracer"},
    RedirectedSymbol{
        "_ZN5torch8profiler4impl13python_tracer20registerMemoryTracerEPFSt10unique_ptrINS2_"
        "22PythonMemoryTracerBaseESt14default_deleteIS4_EEvE",
        "multipy_route_memory_tracer",
        "_ZN5torch8profiler4impl13python_tracer20registerMemoryTracer"},
    // --- the last writer wins (process_slots.cpp, traceback_router.cpp)
    RedirectedSymbol{"_ZN5torch3jit15setPrintHandlerEPFvRK" MULTIPY_STRING "E",
                     "multipy_route_print_handler", "_ZN5torch3jit15setPrintHandler"},
    RedirectedSymbol{
        "_ZN5torch3jit6tracer18setPythonCallstackEPFSt6vectorINS0_10StackEntryESaIS3_EEvE",
        "multipy_route_callstack", "_ZN5torch3jit6tracer18setPythonCallstack"},
    RedirectedSymbol{"_ZN5torch3jit6tracer23setRecordSourceLocationEPFvPNS0_4NodeEE",
                     "multipy_route_source_location",
                     "_ZN5torch3jit6tracer23setRecordSourceLocation"},
    RedirectedSymbol{"_ZN5torch3jit6tracer7setWarnEPFvRK" MULTIPY_STRING "E",
                     "multipy_route_warn", "_ZN5torch3jit6tracer7setWarn"},
    RedirectedSymbol{"_ZN3c1020SetStackTraceFetcherESt8functionIF" MULTIPY_STRING "vEE",
                     "multipy_route_stack_fetcher", "_ZN3c1020SetStackTraceFetcher"},
    RedirectedSymbol{"_ZN5torch4lazy23GetPythonFramesFunctionEv", "multipy_route_lazy_frames",
                     "_ZN5torch4lazy23GetPythonFramesFunction"},
    RedirectedSymbol{"_ZN5torch17CapturedTraceback17addPythonUnwinderEPNS0_6PythonE",
                     "multipy_route_unwinder",
                     "_ZN5torch17CapturedTraceback17addPythonUnwinder"},
    // --- decompositions (decompositions.cpp)
    RedirectedSymbol{
        "_ZN5torch3jit21RegisterDecompositionERKN3c1014FunctionSchemaESt10shared_ptrINS0_5GraphEE",
        "multipy_route_register_decomposition", "_ZN5torch3jit21RegisterDecomposition"},
    RedirectedSymbol{"_ZN5torch3jit16GetDecompositionERKN3c1014FunctionSchemaE",
                     "multipy_route_get_decomposition", "_ZN5torch3jit16GetDecomposition"},
    // --- levels of forward-mode autograd (forward_levels.cpp)
    RedirectedSymbol{kForwardLevels.find, "multipy_route_find_forward_level", "", false, false, true},
    // --- settings (interpreter_settings.cpp)
    RedirectedSymbol{kSettings.generator, "multipy_route_default_generator", "", false, false, true},
    RedirectedSymbol{kSettings.context, "multipy_route_global_context", "", false, false, true},
    RedirectedSymbol{kSettings.dtype, "multipy_route_default_dtype", "", false, false, true},
    RedirectedSymbol{kSettings.scalarType, "multipy_route_default_scalar_type", "", false, false,
                     true},
    RedirectedSymbol{kSettings.complexDtype, "multipy_route_default_complex_dtype", "", false, true,
                     true},
    RedirectedSymbol{kSettings.setDtype, "multipy_route_set_default_dtype", "", false, false, true},
};

#undef MULTIPY_STRING

}  // namespace

std::span<const RedirectedSymbol> redirectedSymbols() { return kSymbols; }

const SettingSymbols& settingSymbols() { return kSettings; }
const ForwardLevelSymbols& forwardLevelSymbols() { return kForwardLevels; }

const BindingSymbols& bindingSymbols() {
  static constexpr BindingSymbols symbols{
      "_Z16THPVariable_WrapRKN2at10TensorBaseE",
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
std::string tableVersion() { return "torch-routes-6/" + builtWithTorch(); }

}  // namespace multipy::routing
