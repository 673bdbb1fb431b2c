// Anomaly mode (torch.autograd.detect_anomaly) of this interpreter.
//
// torch has two variables for it, which code that was compiled with torch's headers
// reads and writes in place. In private libraries those references lead to the two
// variables below, so what they see is this interpreter's mode and no other's.
//
// libtorch_cpu, which is shared, has to know whether any interpreter has it on
// (src/torch_bridge/autograd/anomaly_mode.h), and a variable does not tell when it is written. One
// function of torch._C writes them, and a class that C++ extensions use, so these report, too.
#include <Python.h>

#include <string_view>

#include "abi/torch_routes.h"
#include "interpreter/common/host_connection.h"

#define MULTIPY_ROUTE extern "C" __attribute__((visibility("default")))

// (torch's values to begin with.)
MULTIPY_ROUTE bool multipy_route_anomalyEnabled;
MULTIPY_ROUTE bool multipy_route_anomalyCheckNan;
bool multipy_route_anomalyEnabled = false;
bool multipy_route_anomalyCheckNan = true;

namespace {

using multipy::host;

PyCFunctionWithKeywords torchsSetter = nullptr;  // guarded by the GIL

void tellHost() {
  host()->routes->setAnomalyMode(host()->slot, multipy_route_anomalyEnabled,
                                 multipy_route_anomalyCheckNan);
}

PyObject* setAnomalyEnabled(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* const result = torchsSetter(self, arguments, keywords);
  tellHost();
  return result;
}

PyMethodDef* findMethod(PyMethodDef* methods, std::string_view name) {
  for (PyMethodDef* method = methods; method && method->ml_name; ++method)
    if (method->ml_name == name) return method;
  return nullptr;
}

}  // namespace

// torch::autograd::DetectAnomalyGuard of C++ extensions: the object is a bool, what the check for
// NaN was before. (That of libtorch_cpu sets torch's own variables.)
MULTIPY_ROUTE void multipy_route_openAnomalyGuard(bool* guard, bool checkNan) {
  *guard = multipy_route_anomalyCheckNan;
  multipy_route_anomalyEnabled = true;
  multipy_route_anomalyCheckNan = checkNan;
  tellHost();
}
MULTIPY_ROUTE void multipy_route_closeAnomalyGuard(const bool* guard) {
  multipy_route_anomalyEnabled = false;
  multipy_route_anomalyCheckNan = *guard;
  tellHost();
}

// In place of PyModule_Create2() in libtorch_python.
MULTIPY_ROUTE PyObject* multipy_route_createModule(PyModuleDef* definition, int version) {
  if (std::string_view(definition->m_name) == "torch._C") {
    PyMethodDef* const setter = findMethod(definition->m_methods, "set_anomaly_enabled");
    if (!setter || (setter->ml_flags & METH_KEYWORDS) == 0) {
      PyErr_SetString(PyExc_ImportError,
                      "creating torch._C: it has no function set_anomaly_enabled that takes "
                      "keywords (expected, to give this interpreter an anomaly mode of its own); "
                      "this torch is not one that multipy was built for");
      return nullptr;
    }
    torchsSetter =
        reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void*>(setter->ml_meth));
    setter->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(setAnomalyEnabled));
  }
  return PyModule_Create2(definition, version);
}

#undef MULTIPY_ROUTE
