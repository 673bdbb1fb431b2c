#include "tensors.h"

#include <ATen/core/jit_type.h>

#include <exception>
#include <optional>

#include "base/interpreter_id.h"
#include "interpreter/common/reference.h"
#include "torch_bridge/python_binding.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::host {
namespace {

// What torch throws, as a Python exception. (Its python_error has set one.)
template <typename Body>
bool guarded(Body&& body) {
  try {
    body();
    return !PyErr_Occurred();
  } catch (const std::exception& error) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, error.what());
    return false;
  }
}

// Of an imported torch; null with a Python exception.
const TorchPython* importedTorch() {
  const auto ofProgram = [] { return bridge::torchPython(InterpreterId::program()); };
  if (!ofProgram() && !guarded(bridge::prepareForTorch)) return nullptr;
  const TorchPython* const torch = ofProgram();
  if (torch && *torch->variableClass) return torch;
  PyObject* const module = PyImport_ImportModule("torch");
  Py_XDECREF(module);
  if (!module) return nullptr;
  if (torch && *torch->variableClass) return torch;
  PyErr_SetString(PyExc_RuntimeError,
                  "the torch that this Python imports is not the one that interpreters share");
  return nullptr;
}

}  // namespace

bool unwrapTensor(PyObject* object, at::Tensor& tensor) {
  const TorchPython* const torch = importedTorch();
  return torch && guarded([&] {
           tensor = torch->toIValue(object, c10::TensorType::get(), std::nullopt).toTensor();
         });
}

bool isPlainTensor(PyObject* object) {
  const TorchPython* const torch = bridge::torchPython(InterpreterId::program());
  if (!torch || reinterpret_cast<PyObject*>(Py_TYPE(object)) != *torch->variableClass) return false;
  const auto attributes = Reference::take(PyObject_GetAttrString(object, "__dict__"));
  if (!attributes) PyErr_Clear();
  return attributes && PyDict_CheckExact(attributes.get()) &&
         PyDict_GET_SIZE(attributes.get()) == 0;
}

PyObject* wrapTensor(const at::Tensor& tensor) {
  const TorchPython* const torch = importedTorch();
  PyObject* object = nullptr;
  if (torch && guarded([&] { object = torch->wrap(at::Tensor(tensor)); })) return object;
  return nullptr;
}

}  // namespace multipy::host
