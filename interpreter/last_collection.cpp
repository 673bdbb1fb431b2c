#include "interpreter/last_collection.h"

#include "interpreter/pybind_tables.h"
#include "interpreter/reference.h"
#include "interpreter/threads.h"

extern "C" void __real__PzGC_Fini(PyInterpreterState* interpreter);

namespace multipy {
namespace {

// gc.get_objects. Null: there is nothing to do.
constinit PyObject* getObjects = nullptr;
// The tp_clear() of classes that Python code has made.
constinit inquiry emptyInstance = nullptr;

void emptyType(PyTypeObject* type) {
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || !type->tp_dict) return;
  PyDict_Clear(type->tp_dict);
  PyType_Modified(type);
}

bool isContainer(PyTypeObject* type) {
  return type == &PyDict_Type || type == &PyList_Type || type == &PySet_Type ||
         type == &PyFrozenSet_Type;
}

// Of an instance of a Python class. Types that were written in C may expect more of a
// tp_clear() than that the object is not used any more (torch's tensors: that no C++ code has
// them), so theirs is not called: what inherits from them loses its dictionary alone.
void emptyAttributes(PyObject* object) {
  PyTypeObject* base = Py_TYPE(object);
  while (base->tp_clear == emptyInstance) base = base->tp_base;
  if (!base->tp_clear || isContainer(base)) {
    emptyInstance(object);
    return;
  }
  const auto dictionary = Reference::take(PyObject_GenericGetDict(object, nullptr));
  if (dictionary && PyDict_Check(dictionary.get())) PyDict_Clear(dictionary.get());
}

void emptyContainer(PyObject* object) {
  if (PyType_Check(object))
    emptyType(reinterpret_cast<PyTypeObject*>(object));
  else if (PyDict_Check(object))
    PyDict_Clear(object);
  else if (PyList_Check(object))
    PyList_SetSlice(object, 0, PyList_GET_SIZE(object), nullptr);
  else if (PyAnySet_Check(object))
    PySet_Type.tp_clear(object);
  else if (PyCell_Check(object))
    PyCell_Set(object, nullptr);
  // (One of a class that inherits from dict has both.)
  if (Py_TYPE(object)->tp_clear == emptyInstance) emptyAttributes(object);
  PyErr_Clear();
}

void dropCallbacks(PyObject* object) {
  if (PyWeakref_Check(object)) Py_TYPE(object)->tp_clear(object);
}

void forEach(PyObject* list, void (*doTo)(PyObject*)) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) doTo(PyList_GET_ITEM(list, i));
}

void takeApart() {
  const auto left = Reference::take(PyObject_CallNoArgs(getObjects));
  if (left && PyList_Check(left.get())) {
    forEach(left.get(), dropCallbacks);
    forEach(left.get(), emptyContainer);
  }
  PyErr_Clear();
}

}  // namespace

void prepareLastCollection() {
  const auto module = Reference::take(PyImport_ImportModule("gc"));
  const auto sample =
      Reference::take(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(){}",
                                            "multipy_sample"));
  if (module && sample) {
    emptyInstance = reinterpret_cast<PyTypeObject*>(sample.get())->tp_clear;
    getObjects = PyObject_GetAttrString(module.get(), "get_objects");
  }
  PyErr_Clear();  // no memory: what is left stays
  findPybindTables();
}

}  // namespace multipy

// CPython's last step before its collector ends.
extern "C" void __wrap__PzGC_Fini(PyInterpreterState* interpreter) {
  using namespace multipy;
  if (getObjects && interpreter == PyInterpreterState_Main() && liveThreads() == 0) {
    takeApart();
    Py_CLEAR(getObjects);
    PyGC_Enable();
    PyGC_Collect();
    shrinkPybindTables();
  }
  __real__PzGC_Fini(interpreter);
}
