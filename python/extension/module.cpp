// multipy._host: interpreters in an ordinary Python process. Private to the package `multipy`.
#include <Python.h>

#include "buffers.h"
#include "crossing.h"
#include "keyboard_interrupts.h"
#include "pool.h"
#include "stops.h"
#include "torch_bridge/torch_bridge.h"
#include "worker.h"

namespace {

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "multipy._host",
                          "Interpreters in this process.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__host() {
  multipy::bridge::adoptWithTorch();
  if (!multipy::host::initResultMemory()) return nullptr;
  multipy::host::prepareKeyboardInterrupts();
  PyObject* const module = PyModule_Create(&definition);
  if (module && multipy::host::addExceptions(module) && multipy::host::addWorkerType(module) &&
      multipy::host::addPoolType(module) && multipy::host::addStopType(module))
    return module;
  Py_XDECREF(module);
  return nullptr;
}
