#include "interpreter/torch/last_collection.h"

#include <cstring>
#include <new>
#include <unordered_set>

#include "interpreter/common/reference.h"
#include "interpreter/libc/threads.h"
#include "interpreter/torch/pybind_records.h"
#include "interpreter/torch/pybind_tables.h"

extern "C" void __real__PzGC_Fini(PyInterpreterState* interpreter);

namespace multipy {
namespace {

// gc.get_objects. Null: there is nothing to do.
constinit PyObject* getObjects = nullptr;
// The tp_clear() of classes that Python code has made.
constinit inquiry clearInstance = nullptr;

// The types of torch among the objects that are left, and those that inherit from them.
class TorchTypes {
 public:
  /// Throws std::bad_alloc.
  explicit TorchTypes(PyObject* objects) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); ++i) {
      PyObject* const object = PyList_GET_ITEM(objects, i);
      if (PyType_Check(object) && inherits(reinterpret_cast<PyTypeObject*>(object)))
        types_.insert(reinterpret_cast<PyTypeObject*>(object));
    }
  }

  bool contain(PyTypeObject* type) const { return types_.contains(type); }

  static bool isModule(PyObject* name) {
    const char* const text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
    return text && std::strncmp(text, "torch", 5) == 0 && (text[5] == 0 || text[5] == '.');
  }

 private:
  static bool inherits(PyTypeObject* type) {
    for (; type; type = type->tp_base) {
      const bool isMade = type->tp_flags & Py_TPFLAGS_HEAPTYPE;
      if (isMade && type->tp_dict && isModule(PyDict_GetItemString(type->tp_dict, "__module__")))
        return true;
    }
    return false;
  }

  std::unordered_set<PyTypeObject*> types_;
};

void emptyType(PyTypeObject* type) {
  PyDict_Clear(type->tp_dict);
  PyType_Modified(type);
}

// Types that were written in C may expect more of a tp_clear() than that the object is not used
// any more (torch's tensors: that no C++ code has them), so theirs is not called: what inherits
// from them loses its dictionary alone.
void emptyInstance(PyObject* object) {
  PyTypeObject* base = Py_TYPE(object);
  while (base->tp_clear == clearInstance) base = base->tp_base;
  if (!base->tp_clear || base == &PyDict_Type || base == &PyList_Type || base == &PySet_Type) {
    clearInstance(object);
    return;
  }
  const auto dictionary = Reference::take(PyObject_GenericGetDict(object, nullptr));
  if (dictionary && PyDict_Check(dictionary.get())) PyDict_Clear(dictionary.get());
}

void empty(PyObject* object, const TorchTypes& torchs) {
  PyTypeObject* const type = Py_TYPE(object);
  if (PyType_Check(object)) {
    auto* const itself = reinterpret_cast<PyTypeObject*>(object);
    if (torchs.contain(itself)) emptyType(itself);
  } else if (type->tp_clear == clearInstance) {
    if (torchs.contain(type)) emptyInstance(object);
  } else if (PyDict_CheckExact(object)) {
    if (TorchTypes::isModule(PyDict_GetItemString(object, "__name__"))) PyDict_Clear(object);
  }
  PyErr_Clear();
}

void takeApart() {
  const auto left = Reference::take(PyObject_CallNoArgs(getObjects));
  if (left && PyList_Check(left.get())) {
    const TorchTypes torchs(left.get());
    ownArgumentNames(left.get());
    const Py_ssize_t count = PyList_GET_SIZE(left.get());
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* const object = PyList_GET_ITEM(left.get(), i);
      if (PyWeakref_Check(object)) Py_TYPE(object)->tp_clear(object);
    }
    for (Py_ssize_t i = 0; i < count; ++i) empty(PyList_GET_ITEM(left.get(), i), torchs);
  }
  PyErr_Clear();
}

}  // namespace

void prepareLastCollection() {
  const auto module = Reference::take(PyImport_ImportModule("gc"));
  const auto sample = Reference::take(
      PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(){}", "multipy_sample"));
  if (module && sample) {
    clearInstance = reinterpret_cast<PyTypeObject*>(sample.get())->tp_clear;
    getObjects = PyObject_GetAttrString(module.get(), "get_objects");
  }
  PyErr_Clear();  // no memory for it: what is left stays
  findPybindTables();
}

}  // namespace multipy

// CPython's last step before its collector ends.
extern "C" void __wrap__PzGC_Fini(PyInterpreterState* interpreter) {
  using namespace multipy;
  if (getObjects && interpreter == PyInterpreterState_Main() && liveThreads() == 0) {
    try {
      takeApart();
    } catch (const std::bad_alloc&) {
      // What is left stays.
    }
    Py_CLEAR(getObjects);
    PyGC_Enable();
    PyGC_Collect();
    shrinkPybindTables();
  }
  __real__PzGC_Fini(interpreter);
}
