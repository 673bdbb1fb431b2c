// Redirected symbols of torch 2.9 and later. Read from 2.13.0 and 2.14.1.
// See symbols.h.
#pragma once

#include "torch_bridge/symbols/mangled_names.h"
#include "torch_bridge/symbols/versions/torch_series.h"

namespace multipy::bridge::version {

inline constexpr const char* kWrap = "_Z16THPVariable_WrapON2at10TensorBaseE";
inline constexpr const char* kCompilerInterface =
    "_ZN5torch6dynamo8autograd22getPyCompilerInterfaceEv";
#if MULTIPY_TORCH_SERIES >= 214
inline constexpr const char* kAnyForwardLevel =
    "_ZN5torch8autograd14ForwardADLevel13has_any_levelEv";
#else
inline constexpr const char* kAnyForwardLevel = nullptr;
#endif

inline constexpr bool kCustomClassesAreOptional = false;
inline constexpr const char* kLibraryDefine =
    "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorINS_"
    "10headeronly3TagESaIS8_EENS_17_RegisterOrVerifyE";
inline constexpr const char* kLibraryDefineWithKernel =
    "_ZNR5torch7Library4_defEOSt7variantIJN3c1012OperatorNameENS2_14FunctionSchemaEEEONS_"
    "11CppFunctionERKSt6vectorINS_10headeronly3TagESaISB_EE";
inline constexpr const char* kHooksRegistry = "_ZN3c104impl26PyInterpreterHooksRegistryB5cxx11Ev";
inline constexpr const char* kCustomClass =
    "_ZN5torch6detail10class_baseC2ERK" MULTIPY_STRING "S9_S7_RKSt9type_infoSC_";
inline constexpr const char* kRegisterOpaqueType =
    "_ZN5torch3jit18registerOpaqueTypeERK" MULTIPY_STRING;
inline constexpr const char* kUnregisterOpaqueType =
    "_ZN5torch3jit20unregisterOpaqueTypeERK" MULTIPY_STRING;
inline constexpr const char* kCompiledAutograd =
    "_ZN5torch8autograd6Engine21set_compiled_autogradEPFSt6vectorIN2at6TensorESaIS4_EERKN"
    "3c1013intrusive_ptrINS0_4NodeENS7_6detail34intrusive_target_default_null_typeIS9_EEEE"
    "RKNS0_9GraphTaskEbRKS2_INS0_4EdgeESaISJ_EEE";
inline constexpr const char* kExecuteGraphTask =
    "_ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEEN"
    "3c1013intrusive_ptrINS0_4NodeENS7_6detail34intrusive_target_default_null_typeIS9_EEEE"
    "ONS0_11InputBufferE";
inline constexpr const char* kPrepareProfiler =
    "_ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set"
    "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_mapIS8_St13unordered_"
    "setI" MULTIPY_STRING
    "St4hashISM_ESt8equal_toISM_ESaISM_EESN_IS8_ESP_IS8_ESaISt4pairIKS8_SS_EEE";
inline constexpr const char* kMemoryTracer =
    "_ZN5torch8profiler4impl13python_tracer20registerMemoryTracerEPFSt10unique_ptrINS2_"
    "22PythonMemoryTracerBaseESt14default_deleteIS4_EEvE";
inline constexpr const char* kBeginCompiling =
    "_ZN5torch6dynamo8autograd15PyCompilerGuardC1EOSt10unique_ptrINS1_19PyCompilerInterface"
    "ESt14default_deleteIS4_EE";
inline constexpr const char* kEndCompiling = "_ZN5torch6dynamo8autograd15PyCompilerGuardD1Ev";
#if MULTIPY_TORCH_SERIES >= 214
inline constexpr const char* kObjectConversion =
    "_ZN5torch6detail25setPyObjectConversionImplEPKNS0_27PyObjectConversionInterfaceE";
#else
inline constexpr const char* kObjectConversion = nullptr;
#endif

}  // namespace multipy::bridge::version
