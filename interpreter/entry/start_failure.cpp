#include "interpreter/entry/start_failure.h"

#include "interpreter/common/failure.h"
#include "interpreter/common/python_version.h"
#include "interpreter/common/reference.h"

namespace multipy {

// CPython leaves the exception out of the status that it returns, and set in the thread state,
// from which its own program would print it. A start that failed early has neither.
std::string takeStartException() {
  if (!attachedThreadState()) return {};
  PyObject *rawType, *rawValue, *rawTraceback;
  PyErr_Fetch(&rawType, &rawValue, &rawTraceback);
  if (!rawType) return {};
  PyErr_NormalizeException(&rawType, &rawValue, &rawTraceback);
  const auto type = Reference::take(rawType);
  const auto value = Reference::take(rawValue);
  const auto traceback = Reference::take(rawTraceback);
  return ": " + typeName(reinterpret_cast<PyTypeObject*>(type.get())) + ": " + textOf(value.get());
}

}  // namespace multipy

// CPython calls this when it has found no codec for the file system's encoding. Its own
// prints the search path to the process's stderr (initconfig.c).
extern "C" void _Py_DumpPathConfig(PyThreadState*) {}
