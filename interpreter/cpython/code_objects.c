// Code objects share what is alike: tables of variables' kinds, within this interpreter, and
// the text of long constants with the others (string_pool.h).
//
// Each code object has such a table, a byte for each local variable, which no code sees: of
// the 26,000 that `import torch` makes 850 are different. (CPython 3.10 has no such tables.)
// CPython makes code objects with one function, when it compiles and when it reads a .pyc;
// --wrap leads its calls here. In C since CPython's internal headers are.
//
// Threads: with the GIL.
#define Py_BUILD_CORE 1
#include <Python.h>
#if PY_VERSION_HEX >= 0x030B0000
#include <internal/pycore_code.h>
#endif

#include "interpreter/cpython/string_pool.h"

#if PY_VERSION_HEX >= 0x030B0000

// More would be a program that makes up functions.
static const Py_ssize_t kMost = 4096;

// The table that stands for all those equal to `table`, or this one. Borrowed.
static PyObject* oneOf(PyObject* table) {
  static PyObject* tables;  // each its own value; ends with this library
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
  // Another interpreter that Python code makes inside of this one may have its own GIL.
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) {
    if (given && PyBytes_CheckExact(given)) parts->localspluskinds = oneOf(given);
    multipy_share_texts(parts->consts);
  }
  PyCodeObject* const code = __real__PzCode_New(parts);
  parts->localspluskinds = given;
  return code;
}

#else

PyCodeObject* __real_PzCode_NewWithPosOnlyArgs(int arguments, int positionalOnly, int keywordOnly,
                                               int locals, int stack, int flags, PyObject* code,
                                               PyObject* constants, PyObject* names,
                                               PyObject* variables, PyObject* free, PyObject* cells,
                                               PyObject* file, PyObject* name, int line,
                                               PyObject* lines);

PyCodeObject* __wrap_PzCode_NewWithPosOnlyArgs(int arguments, int positionalOnly, int keywordOnly,
                                               int locals, int stack, int flags, PyObject* code,
                                               PyObject* constants, PyObject* names,
                                               PyObject* variables, PyObject* free, PyObject* cells,
                                               PyObject* file, PyObject* name, int line,
                                               PyObject* lines) {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) multipy_share_texts(constants);
  return __real_PzCode_NewWithPosOnlyArgs(arguments, positionalOnly, keywordOnly, locals, stack,
                                          flags, code, constants, names, variables, free, cells,
                                          file, name, line, lines);
}

#endif
