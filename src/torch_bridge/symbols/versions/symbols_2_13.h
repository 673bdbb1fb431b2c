// Redirected symbols of torch 2.9 and later. Read from 2.13.0 and 2.14.1.
// See symbols.h.
#pragma once

#include <array>

#include "torch_bridge/symbols/mangled_names.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/symbols/versions/torch_series.h"

namespace multipy::routing::version {

inline constexpr const char* kWrap = "_Z16THPVariable_WrapON2at10TensorBaseE";
inline constexpr const char* kCompilerInterface =
    "_ZN5torch6dynamo8autograd22getPyCompilerInterfaceEv";
#if MULTIPY_TORCH_SERIES >= 214
inline constexpr const char* kAnyForwardLevel =
    "_ZN5torch8autograd14ForwardADLevel13has_any_levelEv";
#else
inline constexpr const char* kAnyForwardLevel = nullptr;
#endif

inline constexpr std::array kSymbols = {
    RedirectedSymbol{
        "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorINS_"
        "10headeronly3TagESaIS8_EENS_17_RegisterOrVerifyE",
        "multipy_route_library_define", "_ZNR5torch7Library4_def"},
    RedirectedSymbol{
        "_ZNR5torch7Library4_defEOSt7variantIJN3c1012OperatorNameENS2_14FunctionSchemaEEEONS_"
        "11CppFunctionERKSt6vectorINS_10headeronly3TagESaISB_EE",
        "multipy_route_library_define_with_kernel", "_ZNR5torch7Library4_def"},
    RedirectedSymbol{"_ZN3c104impl26PyInterpreterHooksRegistryB5cxx11Ev",
                     "multipy_route_hooks_registry", "_ZN3c104impl26PyInterpreterHooksRegistry"},
    RedirectedSymbol{"_ZN5torch6detail10class_baseC2ERK" MULTIPY_STRING "S9_S7_RKSt9type_infoSC_",
                     "multipy_route_custom_class", "_ZN5torch6detail10class_baseC"},
    RedirectedSymbol{
        "_ZN5torch25registerCustomClassMethodESt10unique_ptrINS_3jit8FunctionESt14default_"
        "deleteIS2_EE",
        "multipy_route_custom_class_method", "_ZN5torch25registerCustomClassMethod"},
    RedirectedSymbol{"_ZN5torch3jit18registerOpaqueTypeERK" MULTIPY_STRING,
                     "multipy_route_register_opaque_type", "_ZN5torch3jit18registerOpaqueType"},
    RedirectedSymbol{"_ZN5torch3jit20unregisterOpaqueTypeERK" MULTIPY_STRING,
                     "multipy_route_unregister_opaque_type", "_ZN5torch3jit20unregisterOpaqueType"},
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
        "_ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set"
        "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_mapIS8_St13unordered_"
        "setI" MULTIPY_STRING
        "St4hashISM_ESt8equal_toISM_ESaISM_EESN_IS8_ESP_IS8_ESaISt4pairIKS8_SS_EEE",
        "multipy_route_prepare_profiler", "_ZN5torch8autograd8profiler15prepareProfiler"},
    RedirectedSymbol{
        "_ZN5torch8profiler4impl13python_tracer20registerMemoryTracerEPFSt10unique_ptrINS2_"
        "22PythonMemoryTracerBaseESt14default_deleteIS4_EEvE",
        "multipy_route_memory_tracer",
        "_ZN5torch8profiler4impl13python_tracer20registerMemoryTracer"},
    RedirectedSymbol{
        "_ZN5torch6dynamo8autograd15PyCompilerGuardC1EOSt10unique_ptrINS1_19PyCompilerInterface"
        "ESt14default_deleteIS4_EE",
        "multipy_route_begin_compiling", "_ZN5torch6dynamo8autograd15PyCompilerGuardC"},
    RedirectedSymbol{"_ZN5torch6dynamo8autograd15PyCompilerGuardD1Ev",
                     "multipy_route_end_compiling", "_ZN5torch6dynamo8autograd15PyCompilerGuardD"},
    RedirectedSymbol{kCompilerInterface, "multipy_route_compiler_interface",
                     "_ZN5torch6dynamo8autograd22getPyCompilerInterface"},
#if MULTIPY_TORCH_SERIES >= 214
    RedirectedSymbol{
        "_ZN5torch6detail25setPyObjectConversionImplEPKNS0_27PyObjectConversionInterfaceE",
        "multipy_route_object_conversion", "_ZN5torch6detail25setPyObjectConversionImpl"},
#endif
};

}  // namespace multipy::routing::version
