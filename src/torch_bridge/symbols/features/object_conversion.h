// The interface by which torch's stable C functions turn Python objects into tensors and back
// (torch 2.14 and later), and into types and devices (torch 2.15 and later).
#pragma once

#include "torch_bridge/symbols/torch_features.h"

#if MULTIPY_TORCH_OBJECT_CONVERSION
#include <torch/csrc/PyObjectConversion.h>
#endif

namespace multipy::bridge::feature {

/// Makes torch convert between tensors and their Python objects by the
/// interface that `current` gives: the current interpreter's, or null. Returns what torch keeps of
/// it, null where it has nothing of the kind.
#if MULTIPY_TORCH_OBJECT_CONVERSION
template <void* (*current)()>
const void* installObjectConversion() {
  using Interface = torch::detail::PyObjectConversionInterface;
  struct Routed final : Interface {
    static const Interface& own() {
      const auto* const found = static_cast<const Interface*>(current());
      TORCH_CHECK(found,
                  "converting an object from or to Python: the calling thread is in no "
                  "interpreter that has loaded torch");
      return *found;
    }
    at::Tensor tensor_from_pyobject(PyObject* object) const override {
      return own().tensor_from_pyobject(object);
    }
    PyObject* tensor_to_pyobject(const at::Tensor& tensor, PyObject* type) const override {
      return own().tensor_to_pyobject(tensor, type);
    }
#if MULTIPY_TORCH_TYPE_CONVERSION
    bool is_tensor_pyobject(PyObject* object) const override {
      return own().is_tensor_pyobject(object);
    }
    at::ScalarType dtype_from_pyobject(PyObject* object) const override {
      return own().dtype_from_pyobject(object);
    }
    PyObject* dtype_to_pyobject(at::ScalarType type) const override {
      return own().dtype_to_pyobject(type);
    }
    at::Device device_from_pyobject(PyObject* object) const override {
      return own().device_from_pyobject(object);
    }
    PyObject* device_to_pyobject(const at::Device& device) const override {
      return own().device_to_pyobject(device);
    }
#endif
  };
  static const Interface* const routed = new Routed;  // for ever: torch keeps the address
  torch::detail::setPyObjectConversionImpl(routed);
  return routed;
}
#else
template <void* (*current)()>
const void* installObjectConversion() {
  return nullptr;
}
#endif

}  // namespace multipy::bridge::feature
