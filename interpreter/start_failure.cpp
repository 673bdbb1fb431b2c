#include "interpreter/start_failure.h"

#include <Python.h>

#include "interpreter/failure.h"
#include "interpreter/reference.h"

namespace multipy {
namespace {
// One start for each libinterpreter.so.
std::string failure;
}  // namespace

const std::string& encodingsFailure() { return failure; }

}  // namespace multipy

// CPython calls this when it has found no codec for the file system's encoding, while the
// exception that says why is set. Its own prints the search path to the process's stderr and leaves
// the exception out of the status that it returns (pycore_initconfig.h, unicodeobject.c).
extern "C" void _Py_DumpPathConfig(PyThreadState*) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (!type) return;
  PyErr_NormalizeException(&type, &value, &traceback);
  multipy::failure = ": " + multipy::typeName(reinterpret_cast<PyTypeObject*>(type)) + ": " +
                     multipy::textOf(value);
  PyErr_Restore(type, value, traceback);
}
