// torch up to 2.8. Read and run with 2.6.0; see torch_version.h.
//
// Each libtorch_python makes a PyInterpreter of its own and marks the tensors
// that it gives a Python object with it, so that torch asks the right one by
// itself. A single one is asked only where no tensor is at hand (to report a
// missing fake implementation): the one that registered first, which is ours.
#pragma once

#include <ATen/core/PythonOpRegistrationTrampoline.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/PyInterpreter.h>
#include <c10/core/impl/PyObjectSlot.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/profiler/combined_traceback.h>
#include <torch/csrc/profiler/orchestration/python_tracer.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "torch/mangled_names.h"
#include "torch/supported_torch.h"

namespace multipy::routing::version {

// ------------------------------------------------------- symbols

inline constexpr const char* kCompilerInterface = nullptr;  // none in this version

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
    RedirectedSymbol{"_ZN5torch6detail10class_baseC2ERK" MULTIPY_STRING "S9_S7_RKSt9type_infoSC_",
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

// ------------------------------------------------------- autograd

using NodePointer = std::shared_ptr<torch::autograd::Node>;

template <typename Node, typename... Arguments>
NodePointer makeNode(Arguments&&... arguments) {
  // As torch makes its own: a long chain of nodes must not end in deep recursion.
  return NodePointer(new Node(std::forward<Arguments>(arguments)...), torch::autograd::deleteNode);
}

// ------------------------------------------------------- Python objects

template <typename Owners>
struct Table : c10::impl::PyInterpreterVTable {
  void decref(PyObject* object, bool isTensorsOrStorages) const override {
    Owners::of(object).decref(object, isTensorsOrStorages);
  }
};

inline const PyObject* objectOf(const c10::TensorImpl* tensor) {
  return const_cast<c10::TensorImpl*>(tensor)->pyobj_slot()->_unchecked_untagged_pyobj();
}

// A Python object that belongs to the storage, and not the storage to it, is
// noted in the slot; one that holds the storage counts as an owner.
inline bool isOnlyMemory(const c10::StorageImpl& storage) {
  auto& readable = const_cast<c10::StorageImpl&>(storage);
  return c10::raw::intrusive_ptr::use_count(&readable) == 1 &&
         !readable.pyobj_slot()->_unchecked_untagged_pyobj();
}

inline c10::impl::PyInterpreter* processInterpreter() {
  return at::impl::PythonOpRegistrationTrampoline::getInterpreter();
}

template <c10::impl::PyInterpreter* (*make)()>
void setProcessInterpreter() {
  if (!processInterpreter())
    at::impl::PythonOpRegistrationTrampoline::registerInterpreter(make());
}

/// No private copy asks for one.
struct HooksRegistry {};

// ------------------------------------------------------- the profiler

struct ActivityFilter {};
/// Kineto refuses a trace when one was prepared and never begun.
inline constexpr bool kTracesCanBePreparedAnew = false;

inline void prepareProfiler(const torch::profiler::impl::ProfilerConfig& config,
                            const std::set<torch::profiler::impl::ActivityType>& activities,
                            const void*) {
  torch::autograd::profiler::prepareProfiler(config, activities);
}

namespace tracing = torch::profiler::impl::python_tracer;

// What torch uses where there is no Python.
struct NoTracer final : tracing::PythonTracerBase {
  void stop() override {}
  void restart() override {}
  std::vector<std::shared_ptr<torch::profiler::impl::Result>> getEvents(
      std::function<c10::time_t(c10::approx_time_t)>, std::vector<tracing::CompressedEvent>&,
      c10::time_t) override {
    return {};
  }
};

/// This torch has no memory tracer: nobody registers one.
struct MemoryTracer {};
using NoMemoryTracer = MemoryTracer;
using MakeMemoryTracer = std::unique_ptr<MemoryTracer> (*)();
inline void registerMemoryTracer(MakeMemoryTracer) {}

// ------------------------------------------------------- tracebacks

template <typename>
struct UnwinderBase : torch::CapturedTraceback::Python {};

// ------------------------------------------------------- what this torch has not got

inline void registerOpaqueType(const std::string&) {}
inline void unregisterOpaqueType(const std::string&) {}
template <void* (*current)()>
void installObjectConversion() {}

}  // namespace multipy::routing::version
