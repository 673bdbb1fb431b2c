#include "torch_bridge/dispatch/py_interpreter_router.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/core/impl/PyInterpreter.h>
#include <c10/util/python_stub.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "abi/torch_routes.h"
#include "base/per_interpreter.h"
#include "multipy/runtime/Exception.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/features/interpreter_table.h"
#include "torch_bridge/symbols/features/python_objects.h"

namespace multipy::bridge {
namespace {

using c10::TensorImpl;
using c10::impl::PyInterpreter;
using c10::impl::PyInterpreterVTable;
using Table = PyInterpreterVTable;

PerInterpreter<std::atomic<const PyInterpreter*>>& interpreters() {
  static auto* const all = new PerInterpreter<std::atomic<const PyInterpreter*>>{};
  return *all;
}

// c10's table for interpreters that are gone: counts nothing, runs nothing.
const Table& deadTable() {
  static PyInterpreter* const dead = [] {
    auto* const one = new PyInterpreter(nullptr);
    one->disarm();
    return one;
  }();
  return **dead;
}

const Table* tableOf(InterpreterId slot) {
  if (!process::Ownership::instance().isLive(slot)) return nullptr;
  const PyInterpreter* const interpreter = interpreters()[slot].load(std::memory_order_acquire);
  return interpreter ? &**interpreter : nullptr;
}

const Table& ownerOf(const PyObject* object) {
  const Table* const table = tableOf(process::Ownership::instance().ownerOf(object));
  return table ? *table : deadTable();
}

using feature::objectOf;

const Table& current(const char* doing) {
  const Table* const table = tableOf(process::Ownership::instance().currentPython());
  TORCH_CHECK(table, doing,
              ": this needs Python, but the calling thread is in no interpreter "
              "that has loaded torch. Call it from Python, or inside a session of an interpreter");
  return *table;
}

// A tensor's Python object knows best; a tensor without one is asked about by
// the interpreter that is just making it.
const Table& ownerOf(const TensorImpl* tensor) {
  const PyObject* const object = objectOf(tensor);
  return object ? ownerOf(object) : current("asking Python about a tensor");
}

// A thread that torch itself has started (autograd's) may carry tensors of an
// interpreter without being in it: then the first such tensor among the
// arguments tells.
const Table* ownerAmong(const torch::jit::Stack& stack) {
  for (const c10::IValue& value : stack) {
    if (!value.isTensor() || !value.toTensor().defined()) continue;
    const PyObject* const object = objectOf(value.toTensor().unsafeGetTensorImpl());
    if (const Table* table =
            object ? tableOf(process::Ownership::instance().ownerOf(object)) : nullptr)
      return table;
  }
  return nullptr;
}

const Table& currentFor(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  if (const Table* table = tableOf(process::Ownership::instance().currentPython())) return *table;
  if (const Table* table = ownerAmong(stack)) return *table;
  return current(("calling " + c10::toString(op.operator_name()) + " in Python").c_str());
}

// For events that are not missed where there is no Python.
template <typename... Parameters, typename... Arguments>
void tell(void (Table::*event)(Parameters...) const, Arguments... arguments) {
  if (const Table* table = tableOf(process::Ownership::instance().currentPython()))
    (table->*event)(arguments...);
}

struct Owners {
  template <typename Thing>
  static const Table& of(const Thing* thing) {
    return ownerOf(thing);
  }
  static const Table& calling(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
    return currentFor(op, stack);
  }
};

struct Router final : feature::Table<Owners> {
  std::string name() const override { return "multipy"; }

  // --- about one object
  void reportErrorCallback(PyObject* callback, c10::DispatchKey key) const override {
    ownerOf(callback).reportErrorCallback(callback, key);
  }

  // --- about the running code
  void dispatch(const c10::OperatorHandle& op, torch::jit::Stack* stack) const override {
    currentFor(op, *stack).dispatch(op, stack);
  }
  void throw_abstract_impl_not_imported_error(std::string op, const char* module,
                                              const char* context) const override {
    current("reporting a missing fake implementation")
        .throw_abstract_impl_not_imported_error(std::move(op), module, context);
  }
  void python_dispatcher(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                         torch::jit::Stack* stack) const override {
    currentFor(op, *stack).python_dispatcher(op, keys, stack);
  }

  // --- about one tensor
  c10::intrusive_ptr<TensorImpl> detach(const TensorImpl* t) const override {
    return ownerOf(t).detach(t);
  }
  bool is_contiguous(const TensorImpl* t, at::MemoryFormat format) const override {
    return ownerOf(t).is_contiguous(t, format);
  }
  bool is_strides_like(const TensorImpl* t, at::MemoryFormat format) const override {
    return ownerOf(t).is_strides_like(t, format);
  }
  bool is_non_overlapping_and_dense(const TensorImpl* t) const override {
    return ownerOf(t).is_non_overlapping_and_dense(t);
  }
  c10::Device device(const TensorImpl* t) const override { return ownerOf(t).device(t); }
  int64_t dim(const TensorImpl* t) const override { return ownerOf(t).dim(t); }
  c10::IntArrayRef strides(const TensorImpl* t) const override { return ownerOf(t).strides(t); }
  c10::IntArrayRef sizes(const TensorImpl* t) const override { return ownerOf(t).sizes(t); }
  c10::SymIntArrayRef sym_sizes(const TensorImpl* t) const override {
    return ownerOf(t).sym_sizes(t);
  }
  c10::Layout layout(const TensorImpl* t) const override { return ownerOf(t).layout(t); }
  int64_t numel(const TensorImpl* t) const override { return ownerOf(t).numel(t); }
  c10::SymInt sym_numel(const TensorImpl* t) const override { return ownerOf(t).sym_numel(t); }
  c10::SymIntArrayRef sym_strides(const TensorImpl* t) const override {
    return ownerOf(t).sym_strides(t);
  }
  c10::SymInt sym_storage_offset(const TensorImpl* t) const override {
    return ownerOf(t).sym_storage_offset(t);
  }
  void reset_backward_hooks(const TensorImpl* t) const override {
    ownerOf(t).reset_backward_hooks(t);
  }

  // --- events of GPUs
  void trace_gpu_event_creation(c10::DeviceType d, uintptr_t e) const override {
    tell(&Table::trace_gpu_event_creation, d, e);
  }
  void trace_gpu_event_deletion(c10::DeviceType d, uintptr_t e) const override {
    tell(&Table::trace_gpu_event_deletion, d, e);
  }
  void trace_gpu_event_record(c10::DeviceType d, uintptr_t e, uintptr_t s) const override {
    tell(&Table::trace_gpu_event_record, d, e, s);
  }
  void trace_gpu_event_wait(c10::DeviceType d, uintptr_t e, uintptr_t s) const override {
    tell(&Table::trace_gpu_event_wait, d, e, s);
  }
  void trace_gpu_memory_allocation(c10::DeviceType d, uintptr_t p) const override {
    tell(&Table::trace_gpu_memory_allocation, d, p);
  }
  void trace_gpu_memory_deallocation(c10::DeviceType d, uintptr_t p) const override {
    tell(&Table::trace_gpu_memory_deallocation, d, p);
  }
  void trace_gpu_stream_creation(c10::DeviceType d, uintptr_t s) const override {
    tell(&Table::trace_gpu_stream_creation, d, s);
  }
  void trace_gpu_device_synchronization(c10::DeviceType d) const override {
    tell(&Table::trace_gpu_device_synchronization, d);
  }
  void trace_gpu_stream_synchronization(c10::DeviceType d, uintptr_t s) const override {
    tell(&Table::trace_gpu_stream_synchronization, d, s);
  }
  void trace_gpu_event_synchronization(c10::DeviceType d, uintptr_t e) const override {
    tell(&Table::trace_gpu_event_synchronization, d, e);
  }
};

const Table* routerTable() {
  static const auto* const one = new Router;
  return one;
}

// The one that torch's core asks.
PyInterpreter* routerInterpreter() {
  static auto* const one = new PyInterpreter(routerTable());
  return one;
}

// ------------------------------------------------------- registries of the copies

using feature::HooksRegistry;

// One for each slot and one for the resident copy, made anew for each interpreter: what
// an earlier one registered is code of a library that is gone. It is leaked, not
// destroyed, since it ends with the code of the creators in it.
PerInterpreterAndProcess<std::atomic<HooksRegistry*>>& registries() {
  static auto* const all = new PerInterpreterAndProcess<std::atomic<HooksRegistry*>>{};
  return *all;
}

void* hooksRegistry(InterpreterId slot) {
  auto& place = registries()[slot];
  HooksRegistry* registry = place.load();
  if (registry) return registry;
  auto* const fresh = new HooksRegistry;
  if (place.compare_exchange_strong(registry, fresh)) return fresh;
  delete fresh;
  return registry;
}

}  // namespace

void registerPyInterpreter() {
  static std::once_flag once;
  std::call_once(once, [] {
    feature::setProcessInterpreter<routerInterpreter>();
    if (feature::processInterpreter() != routerInterpreter())
      throw runtime::UnsupportedTorchError(
          "preparing this process for private Python interpreters: its libtorch is connected to a "
          "Python already (libtorch_python has been loaded, `import torch` in the host's own "
          "Python). Create the first InterpreterManager before torch is imported there",
          {"the process's PyInterpreter: expected none registered, found one"});
    deadTable();
  });
}

// (Torch's core and the program's libtorch_python keep that one's address: it stays, and answers as
// the router does.)
void adoptPyInterpreter(void* own) {
  auto* const programs = static_cast<PyInterpreter*>(own);
  setPyInterpreter(InterpreterId::program(), new PyInterpreter(&**programs));
  feature::setProcessInterpreter<routerInterpreter>();
  PyInterpreter* const asked = feature::processInterpreter();
  if (asked != routerInterpreter() && asked != programs)
    throw runtime::UnsupportedTorchError(
        "preparing this process for private Python interpreters: its libtorch is connected to a "
        "Python that is not that of its libtorch_python",
        {"the process's PyInterpreter: expected none or libtorch_python's, found another one"});
  // Read by other threads meanwhile, a word as ever.
  std::atomic_ref<const Table*>(asked->vtable_).store(routerTable(), std::memory_order_release);
  deadTable();
}

void setPyInterpreter(InterpreterId slot, void* interpreter) noexcept {
  if (slot.isInterpreter())
    interpreters()[slot].store(static_cast<const PyInterpreter*>(interpreter));
}

// (libtorch_python does so as it ends: here, as soon as Python has ended. Nothing deletes it.)
void disarmPyInterpreter(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  const PyInterpreter* const own = interpreters()[slot].load();
  if (own && own != routerInterpreter()) const_cast<PyInterpreter*>(own)->disarm();
}

void clearPyInterpreter(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  interpreters()[slot].store(nullptr);
  registries()[slot].store(nullptr);
}

void addPyInterpreterRoutes(TorchRoutes& routes) {
  routes.hooksRegistry = hooksRegistry;
  routes.gpuTrace = [](InterpreterId, const void*) {
    c10::impl::GPUTrace::set_trace(routerInterpreter());
  };
}

}  // namespace multipy::bridge
