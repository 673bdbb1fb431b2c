// torch 2.9 and later. Read and run with 2.13.0 and 2.14.1; see torch_version.h.
//
// libc10 knows one PyInterpreter for the process: it asks a registry for the
// "PyInterpreterHooks" once and keeps the answer. TensorImpl and StorageImpl have
// room for a Python object without a mark of whose it is, and a bit in their
// reference count says that one is there.
#pragma once

#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/PyInterpreter.h>
#include <c10/core/impl/PyInterpreterHooks.h>
#include <c10/core/impl/PyObjectSlot.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/jit/frontend/schema_type_parser.h>
#include <torch/csrc/profiler/combined_traceback.h>
#include <torch/csrc/profiler/orchestration/python_tracer.h>

#if MULTIPY_TORCH_SERIES >= 214
#include <torch/csrc/PyObjectConversion.h>
#endif

#include <array>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "torch/mangled_names.h"
#include "torch/supported_torch.h"

namespace multipy::routing::version {

// ------------------------------------------------------- symbols

inline constexpr const char* kCompilerInterface =
    "_ZN5torch6dynamo8autograd22getPyCompilerInterfaceEv";

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
                     "multipy_route_register_opaque_type",
                     "_ZN5torch3jit18registerOpaqueType"},
    RedirectedSymbol{"_ZN5torch3jit20unregisterOpaqueTypeERK" MULTIPY_STRING,
                     "multipy_route_unregister_opaque_type",
                     "_ZN5torch3jit20unregisterOpaqueType"},
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
        "INS3_12ActivityTypeESt4lessIS8_ESaIS8_EERKSt13unordered_mapIS8_St13unordered_setI"
        MULTIPY_STRING "St4hashISM_ESt8equal_toISM_ESaISM_EESN_IS8_ESP_IS8_ESaISt4pairIKS8_SS_EEE",
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

// ------------------------------------------------------- autograd

using NodePointer = c10::intrusive_ptr<torch::autograd::Node>;

template <typename Node, typename... Arguments>
NodePointer makeNode(Arguments&&... arguments) {
  return c10::make_intrusive<Node>(std::forward<Arguments>(arguments)...);
}

// ------------------------------------------------------- Python objects

template <typename Owners>
struct Table : c10::impl::PyInterpreterVTable {
  void decref(PyObject* object) const override { Owners::of(object).decref(object); }
  bool try_incref(const c10::impl::PyObjectSlot& slot) const override {
    const PyObject* const object = slot.load_pyobj();
    return object && Owners::of(object).try_incref(slot);
  }
  size_t refcnt(PyObject* object) const override { return Owners::of(object).refcnt(object); }
  c10::SymBool sym_is_contiguous(const c10::TensorImpl* tensor,
                                 at::MemoryFormat format) const override {
    return Owners::of(tensor).sym_is_contiguous(tensor, format);
  }
};

inline const PyObject* objectOf(const c10::TensorImpl* tensor) {
  return const_cast<c10::TensorImpl*>(tensor)->pyobj_slot()->load_pyobj();
}

inline bool isOnlyMemory(const c10::StorageImpl& storage) {
  auto& readable = const_cast<c10::StorageImpl&>(storage);
  return c10::raw::intrusive_ptr::use_count(&readable) == 1 && !readable.pyobj_slot()->load_pyobj();
}

inline constexpr const char* kHooksName = "PyInterpreterHooks";  // what libc10 asks its registry for

inline c10::impl::PyInterpreter* processInterpreter() {
  return c10::impl::PyInterpreterHooksRegistry()->Has(kHooksName)
             ? c10::impl::getGlobalPyInterpreter()
             : nullptr;
}

template <c10::impl::PyInterpreter* (*make)()>
void setProcessInterpreter() {
  struct Hooks final : c10::impl::PyInterpreterHooksInterface {
    c10::impl::PyInterpreter* getPyInterpreter() const override { return make(); }
  };
  auto* const registry = c10::impl::PyInterpreterHooksRegistry();
  if (registry->Has(kHooksName)) return;
  registry->Register(kHooksName, [] {
    return std::unique_ptr<c10::impl::PyInterpreterHooksInterface>(std::make_unique<Hooks>());
  });
}

using HooksRegistry = std::remove_pointer_t<decltype(c10::impl::PyInterpreterHooksRegistry())>;

// ------------------------------------------------------- the profiler

using torch::autograd::profiler::ActivityFilter;
inline constexpr bool kTracesCanBePreparedAnew = true;

inline void prepareProfiler(const torch::profiler::impl::ProfilerConfig& config,
                            const std::set<torch::profiler::impl::ActivityType>& activities,
                            const void* filter) {
  torch::autograd::profiler::prepareProfiler(
      config, activities, *static_cast<const ActivityFilter*>(filter));
}

namespace tracing = torch::profiler::impl::python_tracer;

// What torch uses where there is no Python.
struct NoTracer final : tracing::PythonTracerBase {
  void stop() override {}
  void restart() override {}
  void register_gc_callback() override {}
  std::vector<std::shared_ptr<torch::profiler::impl::Result>> getEvents(
      std::function<c10::time_t(c10::approx_time_t)>, std::vector<tracing::CompressedEvent>&,
      c10::time_t) override {
    return {};
  }
};

using MemoryTracer = tracing::PythonMemoryTracerBase;
using MakeMemoryTracer = tracing::MakeMemoryFn;

struct NoMemoryTracer final : MemoryTracer {
  void start() override {}
  void stop() override {}
  void export_memory_history(const std::string&) override {}
};

inline void registerMemoryTracer(MakeMemoryTracer make) { tracing::registerMemoryTracer(make); }

// ------------------------------------------------------- tracebacks

/// `Owner::current()` is the unwinder of the interpreter that the thread is in, or null.
template <typename Owner>
struct UnwinderBase : torch::CapturedTraceback::Python {
  bool canGather() override {
    auto* const unwinder = Owner::current();
    return unwinder && unwinder->canGather();
  }
  std::vector<std::string> gatherForwardTraceback() override {
    auto* const unwinder = Owner::current();
    return unwinder ? unwinder->gatherForwardTraceback() : std::vector<std::string>{};
  }
};

// ------------------------------------------------------- opaque types

inline void registerOpaqueType(const std::string& name) { torch::jit::registerOpaqueType(name); }
inline void unregisterOpaqueType(const std::string& name) { torch::jit::unregisterOpaqueType(name); }

// ------------------------------------------------------- tensors for the stable C functions

/// Makes torch convert between tensors and their Python objects by the
/// interface that `current` gives: the current interpreter's, or null.
#if MULTIPY_TORCH_SERIES >= 214
template <void* (*current)()>
void installObjectConversion() {
  using Interface = torch::detail::PyObjectConversionInterface;
  struct Routed final : Interface {
    static const Interface& own() {
      const auto* const found = static_cast<const Interface*>(current());
      TORCH_CHECK(found, "converting a tensor from or to Python: the calling thread is in no "
                         "interpreter that has loaded torch");
      return *found;
    }
    at::Tensor tensor_from_pyobject(PyObject* object) const override {
      return own().tensor_from_pyobject(object);
    }
    PyObject* tensor_to_pyobject(const at::Tensor& tensor, PyObject* type) const override {
      return own().tensor_to_pyobject(tensor, type);
    }
  };
  torch::detail::setPyObjectConversionImpl(new Routed);  // for ever: torch keeps the address
}
#else
template <void* (*current)()>
void installObjectConversion() {}
#endif

}  // namespace multipy::routing::version
