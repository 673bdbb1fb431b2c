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

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace multipy::bridge::version {

// ------------------------------------------------------- autograd

using NodePointer = std::shared_ptr<torch::autograd::Node>;

template <typename Node, typename... Arguments>
NodePointer makeNode(Arguments&&... arguments) {
  // Not with torch's deleteNode, which takes a node's edges away before its destructor
  // could hand them to their owner. What they lead to has it: no deep recursion.
  return NodePointer(new Node(std::forward<Arguments>(arguments)...));
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

// An object holds its tensor in another way here, and the tensor is marked with an
// interpreter: tensors always cross by being made anew.
inline bool isOnlyIn(const c10::TensorImpl&, const PyObject*) { return false; }
inline bool isOnlyOnes(const c10::StorageImpl&) { return false; }
inline void leaveObject(const c10::TensorImpl&) {}
inline void enterObject(const c10::TensorImpl&, PyObject*) {}

inline c10::impl::PyInterpreter* processInterpreter() {
  return at::impl::PythonOpRegistrationTrampoline::getInterpreter();
}

template <c10::impl::PyInterpreter* (*make)()>
void setProcessInterpreter() {
  if (!processInterpreter()) at::impl::PythonOpRegistrationTrampoline::registerInterpreter(make());
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

/// This torch has no memory tracer: none is registered.
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

}  // namespace multipy::bridge::version
