// Redirected symbols of torch up to 2.8. Read from 2.6.0.
// See symbols.h.
#pragma once

#include "torch_bridge/symbols/mangled_names.h"

namespace multipy::bridge::version {

inline constexpr const char* kWrap = "_Z16THPVariable_WrapRKN2at10TensorBaseE";
inline constexpr const char* kCompilerInterface = nullptr;
inline constexpr const char* kAnyForwardLevel = nullptr;

// libtorch_python has no custom classes; extensions may.
inline constexpr bool kCustomClassesAreOptional = true;
inline constexpr const char* kLibraryDefine =
    "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorIN2at3Tag"
    "ESaIS8_EENS_17_RegisterOrVerifyE";
inline constexpr const char* kLibraryDefineWithKernel =
    "_ZNR5torch7Library4_defEOSt7variantIJN3c1012OperatorNameENS2_14FunctionSchemaEEEONS_"
    "11CppFunctionERKSt6vectorIN2at3TagESaISB_EE";
inline constexpr const char* kHooksRegistry = nullptr;
inline constexpr const char* kCustomClass =
    "_ZN5torch6detail10class_baseC2ERK" MULTIPY_STRING MULTIPY_BY_STRING("S9_S7_RKSt9type_infoSC_",
                                                                         "S3_SsRKSt9type_infoS6_");
inline constexpr const char* kRegisterOpaqueType = nullptr;
inline constexpr const char* kUnregisterOpaqueType = nullptr;
inline constexpr const char* kCompiledAutograd =
    "_ZN5torch8autograd6Engine21set_compiled_autogradEPFSt6vectorIN2at6TensorESaIS4_EERK"
    "St10shared_ptrINS0_4NodeEERNS0_9GraphTaskEbRKS2_INS0_4EdgeESaISE_EEE";
inline constexpr const char* kExecuteGraphTask =
    "_ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEE"
    "S2_INS0_4NodeEEONS0_11InputBufferE";
inline constexpr const char* kPrepareProfiler =
    "_ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set"
    "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EE";
inline constexpr const char* kMemoryTracer = nullptr;
inline constexpr const char* kBeginCompiling = nullptr;
inline constexpr const char* kEndCompiling = nullptr;
inline constexpr const char* kObjectConversion = nullptr;

}  // namespace multipy::bridge::version
