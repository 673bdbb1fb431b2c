// A PyInterpreter's table that counts in place of Python.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/PyInterpreter.h>

#include <stdexcept>
#include <string>

namespace multipy::bridge {

// Answers what the tests ask; everything else is not called.
struct Counting final : c10::impl::PyInterpreterVTable {
  [[noreturn]] static void no() { throw std::logic_error("not expected"); }
  mutable int increfs = 0, decrefs = 0, dispatches = 0;
  std::string name() const override { return "counting"; }
  // (Each torch declares some of these.)
  void incref(PyObject*) const { ++increfs; }
  void decref(PyObject*, bool) const { ++decrefs; }
  void decref(PyObject*) const { ++decrefs; }
  bool try_incref(const c10::impl::PyObjectSlot&) const { return true; }
  size_t refcnt(PyObject*) const { return 7; }
  c10::SymBool sym_is_contiguous(const c10::TensorImpl*, at::MemoryFormat) const { no(); }
  void python_op_registration_trampoline(const c10::OperatorHandle&, c10::DispatchKey,
                                         c10::DispatchKeySet, torch::jit::Stack*, bool) const {
    no();
  }
  void python_op_registration_trampoline(const c10::OperatorHandle&, c10::DispatchKey,
                                         c10::DispatchKeySet, torch::jit::Stack*, bool,
                                         bool) const {
    no();
  }
  void dispatch(const c10::OperatorHandle&, torch::jit::Stack*) const override { ++dispatches; }
  c10::intrusive_ptr<c10::TensorImpl> detach(const c10::TensorImpl*) const override { no(); }
  void reportErrorCallback(PyObject*, c10::DispatchKey) const override { no(); }
  void throw_abstract_impl_not_imported_error(std::string, const char*,
                                              const char*) const override {
    no();
  }
  void python_dispatcher(const c10::OperatorHandle&, c10::DispatchKeySet,
                         torch::jit::Stack*) const override {
    no();
  }
  bool is_contiguous(const c10::TensorImpl*, at::MemoryFormat) const override { no(); }
  bool is_strides_like(const c10::TensorImpl*, at::MemoryFormat) const override { no(); }
  bool is_non_overlapping_and_dense(const c10::TensorImpl*) const override { no(); }
  c10::Device device(const c10::TensorImpl*) const override { no(); }
  int64_t dim(const c10::TensorImpl*) const override { no(); }
  c10::IntArrayRef strides(const c10::TensorImpl*) const override { no(); }
  c10::IntArrayRef sizes(const c10::TensorImpl*) const override { no(); }
  c10::SymIntArrayRef sym_sizes(const c10::TensorImpl*) const override { no(); }
  c10::Layout layout(const c10::TensorImpl*) const override { no(); }
  int64_t numel(const c10::TensorImpl*) const override { no(); }
  c10::SymInt sym_numel(const c10::TensorImpl*) const override { no(); }
  c10::SymIntArrayRef sym_strides(const c10::TensorImpl*) const override { no(); }
  c10::SymInt sym_storage_offset(const c10::TensorImpl*) const override { no(); }
  void trace_gpu_event_creation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_deletion(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_record(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_event_wait(c10::DeviceType, uintptr_t, uintptr_t) const override {}
  void trace_gpu_memory_allocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_memory_deallocation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_stream_creation(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_device_synchronization(c10::DeviceType) const override {}
  void trace_gpu_stream_synchronization(c10::DeviceType, uintptr_t) const override {}
  void trace_gpu_event_synchronization(c10::DeviceType, uintptr_t) const override {}
  void reset_backward_hooks(const c10::TensorImpl*) const override { no(); }
};

}  // namespace multipy::bridge
