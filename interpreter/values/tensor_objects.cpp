#include "interpreter/values/tensor_objects.h"

#include <array>
#include <cstring>
#include <utility>

#include "interpreter/common/host_connection.h"

namespace multipy {
namespace {

constinit TensorLayout layout;

// Those that are kept: as many as the arguments of most calls.
struct Kept {
  std::array<PyObject*, 16> objects;
  std::size_t count = 0;
};
constinit Kept kept{};

// Hooks for gradients, attributes, weak references: what an object has beside its tensor.
bool hasAttachments(PyObject* object) {
  for (std::size_t at = layout.tensor + sizeof(at::Tensor); at < layout.end; at += sizeof(void*)) {
    const void* attached;
    std::memcpy(&attached, reinterpret_cast<const char*>(object) + at, sizeof attached);
    if (attached) return true;
  }
  if (layout.type->tp_weaklistoffset != 0) {
    const void* references;
    std::memcpy(&references, reinterpret_cast<const char*>(object) + layout.type->tp_weaklistoffset,
                sizeof references);
    if (references) return true;
  }
  PyObject** const attributes = _PyObject_GetDictPtr(object);
  return attributes && *attributes;
}

bool keep(PyObject* object) {
  if (kept.count == kept.objects.size() || !isOnlyOurTensor(object) || hasAttachments(object))
    return false;
  at::Tensor& inside = tensorInside(object);
  if (inside.defined() && !host()->dropTensor(inside, object)) return false;
  PyObject_GC_UnTrack(object);
  kept.objects[kept.count++] = object;
  return true;
}

}  // namespace

void setTensorLayout(const TensorLayout& known) { layout = known; }
const TensorLayout& tensorLayout() { return layout; }

Reference tensorObject(const TorchPython& torch, at::Tensor transferred) {
  if (kept.count == 0) return Reference::take(torch.wrap(std::move(transferred)));
  PyObject* const object = kept.objects[kept.count - 1];
  if (!host()->putTensor(transferred, tensorInside(object), object))
    return Reference::take(torch.wrap(std::move(transferred)));
  --kept.count;
  PyObject_GC_Track(object);
  return Reference::take(object);
}

void giveUpObject(Reference object) {
  if (keep(object.get())) object.release();  // NOLINT: `kept` has it
}

// A class with __del__ (torch.Tensor may have been given one) wants to see its tensor.
bool isOnlyOurTensor(PyObject* object) {
  return Py_TYPE(object) == layout.type && Py_REFCNT(object) == 1 && !layout.type->tp_finalize;
}

}  // namespace multipy
