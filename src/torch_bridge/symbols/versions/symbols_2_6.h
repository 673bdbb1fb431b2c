// Redirected symbols of torch up to 2.8. Read from 2.6.0.
// See symbols.h.
#pragma once

#include <array>

#include "torch_bridge/symbols/mangled_names.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::routing::version {

inline constexpr const char* kWrap = "_Z16THPVariable_WrapRKN2at10TensorBaseE";
inline constexpr const char* kCompilerInterface = nullptr;  // none in this version
inline constexpr const char* kAnyForwardLevel = nullptr;

inline constexpr std::array kSymbols = {
    RedirectedSymbol{
        "_ZNR5torch7Library4_defEON3c1014FunctionSchemaEPNS1_12OperatorNameERKSt6vectorIN2at3Tag"
        "ESaIS8_EENS_17_RegisterOrVerifyE",
        "multipy_route_library_define", "_ZNR5torch7Library4_def"},
    RedirectedSymbol{
        "_ZNR5torch7Library4_defEOSt7variantIJN3c1012OperatorNameENS2_14FunctionSchemaEEEONS_"
        "11CppFunctionERKSt6vectorIN2at3TagESaISB_EE",
        "multipy_route_library_define_with_kernel", "_ZNR5torch7Library4_def"},
    // libtorch_python has no custom classes; extensions may.
    RedirectedSymbol{"_ZN5torch6detail10class_baseC2ERK" MULTIPY_STRING MULTIPY_BY_STRING(
                         "S9_S7_RKSt9type_infoSC_", "S3_SsRKSt9type_infoS6_"),
                     "multipy_route_custom_class", "_ZN5torch6detail10class_baseC", false, true},
    RedirectedSymbol{
        "_ZN5torch25registerCustomClassMethodESt10unique_ptrINS_3jit8FunctionESt14default_"
        "deleteIS2_EE",
        "multipy_route_custom_class_method", "_ZN5torch25registerCustomClassMethod", false, true},
    RedirectedSymbol{
        "_ZN5torch8autograd6Engine21set_compiled_autogradEPFSt6vectorIN2at6TensorESaIS4_EERK"
        "St10shared_ptrINS0_4NodeEERNS0_9GraphTaskEbRKS2_INS0_4EdgeESaISE_EEE",
        "multipy_route_compiled_autograd", "_ZN5torch8autograd6Engine21set_compiled_autograd"},
    RedirectedSymbol{
        "_ZN5torch8autograd6Engine23execute_with_graph_taskERKSt10shared_ptrINS0_9GraphTaskEE"
        "S2_INS0_4NodeEEONS0_11InputBufferE",
        "multipy_route_execute_graph_task", "_ZN5torch8autograd6Engine23execute_with_graph_task"},
    RedirectedSymbol{
        "_ZN5torch8autograd8profiler15prepareProfilerERKNS_8profiler4impl14ProfilerConfigERKSt3set"
        "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EE",
        "multipy_route_prepare_profiler", "_ZN5torch8autograd8profiler15prepareProfiler"},
};

}  // namespace multipy::routing::version
