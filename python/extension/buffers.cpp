#include "buffers.h"

#include <new>
#include <utility>

#include "gil.h"

namespace multipy::host {
namespace {

std::atomic<HostBuffer*> givenUp{nullptr};

int releaseSoon(void*) {
  HostBuffer::releaseGivenUp();
  return 0;
}

}  // namespace

HostBuffer* HostBuffer::of(PyObject* object, int flags) {
  auto* const buffer = new (std::nothrow) HostBuffer;
  if (!buffer) {
    PyErr_NoMemory();
    return nullptr;
  }
  if (PyObject_GetBuffer(object, &buffer->view_, flags) == 0) return buffer;
  delete buffer;
  return nullptr;
}

void HostBuffer::hold(void* buffer) noexcept {
  static_cast<HostBuffer*>(buffer)->holds_.fetch_add(1, std::memory_order_relaxed);
}

void HostBuffer::giveUp(void* given) noexcept {
  auto* const buffer = static_cast<HostBuffer*>(given);
  if (buffer->holds_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  buffer->next_ = givenUp.load(std::memory_order_relaxed);
  while (!givenUp.compare_exchange_weak(buffer->next_, buffer, std::memory_order_release)) {
  }
  // Where that has no room, the next call of a worker sees to it.
  if (!buffer->next_) Py_AddPendingCall(releaseSoon, nullptr);
}

void HostBuffer::releaseGivenUp() noexcept {
  for (HostBuffer* buffer = givenUp.exchange(nullptr, std::memory_order_acquire); buffer;) {
    HostBuffer* const next = buffer->next_;
    PyBuffer_Release(&buffer->view_);
    delete buffer;
    buffer = next;
  }
}

// ------------------------------------------------------- results' memory

namespace {

struct ResultMemory {
  PyObject_HEAD std::shared_ptr<ResultOwner> owner;
  void* address;
  Py_ssize_t size;
  bool isReadOnly;
};

void dealloc(PyObject* self) {
  auto* const memory = reinterpret_cast<ResultMemory*>(self);
  PyTypeObject* const type = Py_TYPE(self);
  std::shared_ptr<ResultOwner> owner = std::move(memory->owner);
  memory->owner.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
  // The last of an interpreter's may be what it has waited for to end.
  const GilReleased released;
  owner.reset();
}

int getBuffer(PyObject* self, Py_buffer* view, int flags) {
  const auto* const memory = reinterpret_cast<ResultMemory*>(self);
  return PyBuffer_FillInfo(view, self, memory->address, memory->size, memory->isReadOnly, flags);
}

PyTypeObject* resultMemoryType = nullptr;

}  // namespace

bool initResultMemory() {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_bf_getbuffer, reinterpret_cast<void*>(getBuffer)},
                         {0, nullptr}};
  PyType_Spec spec{"multipy._host.ResultMemory", sizeof(ResultMemory), 0, Py_TPFLAGS_DEFAULT,
                   slots};
  resultMemoryType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return resultMemoryType != nullptr;
}

PyObject* newResultMemory(std::shared_ptr<ResultOwner> owner, void* address, Py_ssize_t size,
                          bool isReadOnly) {
  PyObject* const self = resultMemoryType->tp_alloc(resultMemoryType, 0);
  if (!self) return nullptr;
  auto* const memory = reinterpret_cast<ResultMemory*>(self);
  new (&memory->owner) std::shared_ptr<ResultOwner>(std::move(owner));
  memory->address = address;
  memory->size = size;
  memory->isReadOnly = isReadOnly;
  return self;
}

}  // namespace multipy::host
