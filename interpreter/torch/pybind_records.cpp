#include "interpreter/torch/pybind_records.h"

#include <pybind11/pybind11.h>

#if PYBIND11_VERSION_HEX >= 0x03000000 && PYBIND11_VERSION_HEX < 0x03000200
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <string_view>
#include <vector>

#include "base/object_list.h"

namespace multipy {
namespace {

/// Where the libraries of the process have what cannot be written.
class ConstantMemory {
 public:
  /// Throws std::bad_alloc.
  ConstantMemory() {
    const base::ObjectList objects([](const char*) { return true; });
    for (const auto& object : objects) {
      for (const auto& segment : object.headers) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W)) continue;
        const std::uintptr_t begin = object.base + segment.p_vaddr;
        ranges_.push_back({begin, begin + segment.p_memsz});
      }
    }
    std::ranges::sort(ranges_, {}, &Range::begin);
  }

  bool has(const void* pointer) const {
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto next = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
    return next != ranges_.begin() && address < std::prev(next)->end;
  }

 private:
  struct Range {
    std::uintptr_t begin, end;
  };
  std::vector<Range> ranges_;
};

const char* owned(const char* text, const ConstantMemory& constants) {
  if (!text || !constants.has(text)) return text;
  const char* const copy = strdup(text);
  if (!copy) throw std::bad_alloc();
  return copy;
}

/// Not is_function_record_PyObject(), which may make the type of another library's records.
bool isRecord(PyObject* object) {
  namespace types = pybind11::detail::function_record_PyTypeObject_methods;
  const std::string_view name = Py_TYPE(object)->tp_name;
  return name == types::tp_qualname_impl || name == types::tp_plainname_impl;
}

pybind11::detail::function_record* recordOf(PyObject* object) {
  PyObject* const self = PyCFunction_Check(object) ? PyCFunction_GET_SELF(object) : nullptr;
  if (!self || !isRecord(self)) return nullptr;
  return reinterpret_cast<pybind11::detail::function_record_PyObject*>(self)->cpp_func_rec;
}

}  // namespace

void ownArgumentNames(PyObject* objects) {
  const ConstantMemory constants;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); ++i) {
    for (auto* record = recordOf(PyList_GET_ITEM(objects, i)); record; record = record->next) {
      for (auto& argument : record->args) {
        argument.name = owned(argument.name, constants);
        argument.descr = owned(argument.descr, constants);
      }
    }
  }
}

}  // namespace multipy

#else

void multipy::ownArgumentNames(PyObject*) {}

#endif
