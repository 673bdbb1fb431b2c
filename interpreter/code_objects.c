// One object for equal tables of variables' kinds.
//
// Each code object has such a table, a byte for each local variable, which nobody sees: of
// the 26,000 that `import torch` makes 850 are different. CPython makes code objects with
// _PyCode_New, when it compiles and when it reads a .pyc; --wrap leads its calls here. In C
// since CPython's internal headers are.
//
// Threads: with the GIL.
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_code.h>

// More would be a program that makes up functions.
static const Py_ssize_t kMost = 4096;

// The table that stands for all those equal to `table`, or this one. Borrowed.
static PyObject* oneOf(PyObject* table) {
  static PyObject* tables;  // each its own value; ends with this library
  // Another interpreter that Python code makes inside of this one may have its own GIL.
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) return table;
  if (!tables && !(tables = PyDict_New())) goto failed;
  PyObject* known = PyDict_GetItemWithError(tables, table);
  if (known) return known;
  if (PyErr_Occurred()) goto failed;
  if (PyDict_GET_SIZE(tables) < kMost && PyDict_SetItem(tables, table, table) < 0) goto failed;
  return table;
failed:
  PyErr_Clear();
  return table;
}

PyCodeObject* __real__PzCode_New(struct _PyCodeConstructor* parts);

PyCodeObject* __wrap__PzCode_New(struct _PyCodeConstructor* parts) {
  PyObject* const given = parts->localspluskinds;
  if (given && PyBytes_CheckExact(given)) parts->localspluskinds = oneOf(given);
  PyCodeObject* const code = __real__PzCode_New(parts);
  parts->localspluskinds = given;
  return code;
}
