#include "interpreter/cpython/string_pool.h"

#include <cstring>
#include <string_view>

#include "interpreter/common/host_connection.h"
#include "interpreter/common/reference.h"
#include "interpreter/cpython/python_heap.h"

namespace multipy {
namespace {

// Such an object is 24 bytes larger than a compact one without its text, 32 before 3.12. Of
// shorter texts, down to 128, there are 900 in `import torch`, of 0.2 MB together.
constexpr Py_ssize_t kShortest = 256;

bool canBeShared(PyObject* constant) {
  if (!PyUnicode_CheckExact(constant) || !PyUnicode_IS_COMPACT_ASCII(constant)) return false;
  if (PyUnicode_GET_LENGTH(constant) < kShortest || Py_REFCNT(constant) != 1) return false;
  if (PyUnicode_CHECK_INTERNED(constant)) return false;
  // What looks like a name _PyCode_New will intern.
  return std::memchr(PyUnicode_DATA(constant), ' ', PyUnicode_GET_LENGTH(constant)) != nullptr;
}

// Where the object is made, and where its text will be freed: nothing is in between.
bool bothArePymalloc() {
  PyMemAllocatorEx objects, memory;
  PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &objects);
  PyMem_GetAllocator(PYMEM_DOMAIN_MEM, &memory);
  return !objects.ctx && !memory.ctx && objects.free == memory.free;
}

// Null without an exception where it is not to be had.
Reference withTextOutside(PyObject* compact) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(compact);
  if (!bothArePymalloc()) return nullptr;
  auto* const text = static_cast<PyUnicodeObject*>(PyObject_Malloc(sizeof(PyUnicodeObject)));
  if (!text) return nullptr;
  const char* const shared =
      liesInPythonHeap(text)  // else pymalloc has been replaced
          ? host()->shareText({static_cast<const char*>(PyUnicode_DATA(compact)),
                               static_cast<std::size_t>(length)})
          : nullptr;
  if (!shared) {
    PyObject_Free(text);
    return nullptr;
  }
  std::memset(static_cast<void*>(text), 0, sizeof *text);
  PyObject* const object = PyObject_Init(reinterpret_cast<PyObject*>(text), &PyUnicode_Type);
  PyASCIIObject& ascii = text->_base._base;
  ascii.length = length;
  ascii.state.kind = PyUnicode_1BYTE_KIND;
  ascii.state.ascii = 1;
#if PY_VERSION_HEX < 0x030C0000
  ascii.state.ready = 1;
#endif
  text->data.any = const_cast<char*>(shared);
  text->_base.utf8 = const_cast<char*>(shared);  // the same text, which CPython knows
  text->_base.utf8_length = length;
  ascii.hash = -1;
  PyObject_Hash(object);  // sets it
  return Reference::take(object);
}

}  // namespace
}  // namespace multipy

void multipy_share_texts(PyObject* constants) {
  if (!constants || !PyTuple_CheckExact(constants)) return;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); ++i) {
    PyObject* const constant = PyTuple_GET_ITEM(constants, i);
    if (!multipy::canBeShared(constant)) continue;
    if (multipy::Reference outside = multipy::withTextOutside(constant)) {
      PyTuple_SET_ITEM(constants, i, outside.release());
      Py_DECREF(constant);
    }
  }
}
