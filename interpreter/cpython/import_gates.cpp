#include "interpreter/cpython/import_gates.h"

#include <atomic>

#include "interpreter/common/reference.h"

extern "C" PyObject* __real_PzImport_ImportModuleLevelObject(PyObject* name, PyObject* globals,
                                                             PyObject* locals, PyObject* fromList,
                                                             int level);

namespace multipy {
namespace {

constinit thread_local std::uint64_t token = 0;
constinit thread_local bool importing = false;  // by itself: `token` is no inherited one

// How many imports of this interpreter hold gates. (Atomic: an interpreter that Python code
// makes inside of this one may have its own GIL.)
constinit std::atomic<int> underWay{0};

// What is asked before an import of another thread meanwhile. Never given up.
constinit PyObject* before = nullptr;

// The type of what stands for names of modules that have not been executed, and what is asked
// about those that `from module import name` finds in a module. Never given up.
constinit PyObject* standIn = nullptr;
constinit PyObject* about = nullptr;

bool isStandIn(PyObject* value) { return reinterpret_cast<PyObject*>(Py_TYPE(value)) == standIn; }

// A table of what modules have that are not executed. It has them at its beginning: what is
// imported again and again may be large.
bool holdsStandIns(PyObject* value) {
  constexpr Py_ssize_t kLookedAt = 64;
  if (PyDict_CheckExact(value)) {
    PyObject* held = nullptr;
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < kLookedAt && PyDict_Next(value, &at, nullptr, &held); ++i)
      if (isStandIn(held)) return true;
  } else if (PyList_CheckExact(value)) {
    for (Py_ssize_t i = 0; i < kLookedAt && i < PyList_GET_SIZE(value); ++i)
      if (isStandIn(PyList_GET_ITEM(value, i))) return true;
  }
  return false;
}

// `module` or null with an exception.
PyObject* withoutStandIns(Reference module, PyObject* names, PyObject* globals) {
  if (!PyModule_Check(module.get())) return module.release();
  PyObject* const there = PyModule_GetDict(module.get());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* const name = PyTuple_GET_ITEM(names, i);
    const bool isAll = PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "*") == 0;
    PyObject* const value = isAll ? nullptr : PyDict_GetItemWithError(there, name);
    if (!value && PyErr_Occurred()) return nullptr;
    if (!isAll && (!value || !(isStandIn(value) || holdsStandIns(value)))) continue;
    const auto importer = Reference::borrow(globals ? globals : Py_None);
    const auto done = Reference::take(
        PyObject_CallFunctionObjArgs(about, module.get(), name, importer.get(), nullptr));
    if (!done) return nullptr;
  }
  return module.release();
}

// False with an exception.
bool mayImport(PyObject* name, PyObject* globals, int level) {
  const auto names = Reference::borrow(globals ? globals : Py_None);
  const auto done = Reference::take(PyObject_CallFunction(before, "OOi", name, names.get(), level));
  return static_cast<bool>(done);
}

}  // namespace

std::uint64_t importToken() noexcept { return token; }

WithinImport::WithinImport(std::uint64_t of) noexcept : before_(token) { token = of; }
WithinImport::~WithinImport() { token = before_; }

PyObject* importTokenObject(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(token); }

PyObject* beginImport(PyObject*, PyObject* given) {
  const std::uint64_t value = PyLong_AsUnsignedLongLong(given);
  if (PyErr_Occurred()) return nullptr;
  token = value;
  importing = true;
  underWay.fetch_add(1);
  Py_RETURN_NONE;
}

PyObject* endImport(PyObject*, PyObject* outer) {
  const std::uint64_t value = PyLong_AsUnsignedLongLong(outer);
  if (PyErr_Occurred()) return nullptr;
  token = value;
  importing = false;
  underWay.fetch_sub(1);
  Py_RETURN_NONE;
}

PyObject* callBeforeImports(PyObject*, PyObject* function) {
  before = Py_NewRef(function);
  Py_RETURN_NONE;
}

PyObject* callAboutStandIns(PyObject*, PyObject* given) {
  PyObject *type, *function;
  if (!PyArg_ParseTuple(given, "O!O", &PyType_Type, &type, &function)) return nullptr;
  about = Py_NewRef(function);
  standIn = Py_NewRef(type);
  Py_RETURN_NONE;
}

}  // namespace multipy

// import statements, __import__() and PyImport_Import() come here (--wrap).
extern "C" PyObject* __wrap_PzImport_ImportModuleLevelObject(PyObject* name, PyObject* globals,
                                                             PyObject* locals, PyObject* fromList,
                                                             int level) {
  using namespace multipy;
  if (underWay.load(std::memory_order_relaxed) != 0 && !importing && before && name) [[unlikely]] {
    if (!mayImport(name, globals, level)) return nullptr;
  }
  PyObject* const module =
      __real_PzImport_ImportModuleLevelObject(name, globals, locals, fromList, level);
  if (!module || !standIn || !fromList || !PyTuple_Check(fromList)) return module;
  return withoutStandIns(Reference::take(module), fromList, globals);
}
