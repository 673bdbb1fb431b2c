#include "stops.h"

#include <new>

#include "gil.h"
#include "interpreter/common/reference.h"

namespace multipy::host {
namespace {

struct Stop {
  PyObject_HEAD std::stop_source source;
};

PyTypeObject* stopType = nullptr;

std::stop_source& sourceOf(PyObject* self) { return reinterpret_cast<Stop*>(self)->source; }

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self) new (&sourceOf(self)) std::stop_source();
  return self;
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  sourceOf(self).~stop_source();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* request(PyObject* self, PyObject*) {
  std::stop_source source = sourceOf(self);
  const GilReleased released;
  source.request_stop();
  Py_RETURN_NONE;
}

PyObject* isRequested(PyObject* self, PyObject*) {
  return PyBool_FromLong(sourceOf(self).stop_requested());
}

}  // namespace

bool addStopType(PyObject* module) {
  static PyMethodDef methods[] = {{"request", request, METH_NOARGS, "Ends the call that has it."},
                                  {"is_requested", isRequested, METH_NOARGS, "Whether that was."},
                                  {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{"multipy._host.Stop", sizeof(Stop), 0, Py_TPFLAGS_DEFAULT, slots};
  stopType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return stopType &&
         PyModule_AddObjectRef(module, "Stop", reinterpret_cast<PyObject*>(stopType)) == 0;
}

PyObject* newStop() { return create(stopType, nullptr, nullptr); }

bool stopTokenOf(PyObject* stop, std::stop_token& token) {
  if (stop == Py_None) return true;
  if (!PyObject_TypeCheck(stop, stopType)) {
    PyErr_SetString(PyExc_TypeError, "expected a Stop or None");
    return false;
  }
  token = sourceOf(stop).get_token();
  return true;
}

}  // namespace multipy::host
