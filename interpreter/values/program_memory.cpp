#include "interpreter/values/program_memory.h"

namespace multipy {
namespace {

struct ProgramMemory {
  PyObject_HEAD void* address;
  Py_ssize_t size;
  int isReadOnly;
  void (*giveUp)(void*);
  void* token;
};

void dealloc(PyObject* self) {
  auto* const memory = reinterpret_cast<ProgramMemory*>(self);
  PyTypeObject* const type = Py_TYPE(self);
  if (memory->giveUp) memory->giveUp(memory->token);
  type->tp_free(self);
  Py_DECREF(type);
}

int getBuffer(PyObject* self, Py_buffer* view, int flags) {
  const auto* const memory = reinterpret_cast<ProgramMemory*>(self);
  return PyBuffer_FillInfo(view, self, memory->address, memory->size, memory->isReadOnly, flags);
}

// Borrowed; null with an exception. (With the GIL: made once.)
PyTypeObject* programMemoryType() {
  static PyTypeObject* made = nullptr;
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                {Py_bf_getbuffer, reinterpret_cast<void*>(getBuffer)},
                                {0, nullptr}};
  static PyType_Spec spec{"_multipy_host.ProgramMemory", sizeof(ProgramMemory), 0,
                          Py_TPFLAGS_DEFAULT, slots};
  if (!made) made = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return made;
}

}  // namespace

PyObject* newProgramMemory(PyObject*, PyObject* arguments) {
  unsigned long long address = 0, hold = 0, giveUp = 0, token = 0;
  Py_ssize_t size = 0;
  int isReadOnly = 0;
  if (!PyArg_ParseTuple(arguments, "KnpKKK", &address, &size, &isReadOnly, &hold, &giveUp, &token))
    return nullptr;
  PyTypeObject* const type = programMemoryType();
  auto* const memory = type ? reinterpret_cast<ProgramMemory*>(type->tp_alloc(type, 0)) : nullptr;
  if (!memory) return nullptr;
  memory->address = reinterpret_cast<void*>(address);
  memory->size = size;
  memory->isReadOnly = isReadOnly;
  memory->giveUp = reinterpret_cast<void (*)(void*)>(giveUp);
  memory->token = reinterpret_cast<void*>(token);
  if (hold) reinterpret_cast<void (*)(void*)>(hold)(memory->token);
  return reinterpret_cast<PyObject*>(memory);
}

PyObject* bufferFacts(PyObject*, PyObject* object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0) return nullptr;
  PyObject* const facts =
      Py_BuildValue("KnO", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(view.buf)),
                    view.len, view.readonly ? Py_True : Py_False);
  PyBuffer_Release(&view);
  return facts;
}

PyObject* callProgram(PyObject*, PyObject* arguments) {
  unsigned long long address = 0;
  PyObject* object = nullptr;
  if (!PyArg_ParseTuple(arguments, "KO", &address, &object)) return nullptr;
  reinterpret_cast<void (*)(PyObject*)>(address)(object);
  Py_RETURN_NONE;
}

}  // namespace multipy
