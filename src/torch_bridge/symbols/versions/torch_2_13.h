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

#include "torch_bridge/symbols/versions/torch_series.h"

#if MULTIPY_TORCH_SERIES >= 214
#include <torch/csrc/PyObjectConversion.h>
#endif

#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace multipy::bridge::version {

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

// The functions below use private members: only for files that are compiled to be
// allowed that. They are templates so that the other files need not be.

template <typename Tensor>
bool isOnlyIn(Tensor& tensor, const PyObject* object) {
  return tensor.combined_refcount_.load(std::memory_order_acquire) ==
             (c10::detail::kHasPyObject | c10::detail::kUniqueRef) &&
         tensor.pyobj_slot()->load_pyobj() == object;
}

template <typename Storage>
bool isOnlyOnes(Storage& storage) {
  return storage.combined_refcount_.load(std::memory_order_acquire) == c10::detail::kUniqueRef;
}

// No other code knows the tensor, so that its two words need not change at once.
template <typename Tensor>
void leaveObject(Tensor& tensor) {
  tensor.pyobj_slot()->clear();
  tensor.combined_refcount_.store(c10::detail::kUniqueRef, std::memory_order_relaxed);
}

template <typename Tensor>
void enterObject(Tensor& tensor, PyObject* object) {
  tensor.pyobj_slot()->store_pyobj(object);
  tensor.combined_refcount_.store(c10::detail::kHasPyObject | c10::detail::kUniqueRef,
                                  std::memory_order_relaxed);
}

inline constexpr const char* kHooksName =
    "PyInterpreterHooks";  // what libc10 asks its registry for

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
  torch::autograd::profiler::prepareProfiler(config, activities,
                                             *static_cast<const ActivityFilter*>(filter));
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
inline void unregisterOpaqueType(const std::string& name) {
  torch::jit::unregisterOpaqueType(name);
}

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
      TORCH_CHECK(found,
                  "converting a tensor from or to Python: the calling thread is in no "
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

}  // namespace multipy::bridge::version
