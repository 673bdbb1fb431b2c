#include "interpreter/cpython/source_lines.h"

#include "interpreter/common/reference.h"

namespace multipy {
namespace {

// The cache's dictionary, or null (with or without an exception): linecache may not be imported,
// or be importing itself. (Not PyImport_GetModule(), which waits for another thread's import of
// it: this runs within finders, and that import may need a module that this thread is importing.)
Reference cacheOfLinecache() {
  auto linecache = Reference::borrow(PyDict_GetItemString(PyImport_GetModuleDict(), "linecache"));
  if (!linecache) return {};
  auto cache = Reference::take(PyObject_GetAttrString(linecache.get(), "cache"));
  return cache && PyDict_CheckExact(cache.get()) ? std::move(cache) : Reference();
}

bool othersRunPython() {
  PyObject* const currentFrames = PySys_GetObject("_current_frames");
  if (!currentFrames) return true;
  auto frames = Reference::take(PyObject_CallNoArgs(currentFrames));
  return !frames || !PyDict_Check(frames.get()) || PyDict_GET_SIZE(frames.get()) > 1;
}

// (size, mtime, lines, name); mtime is None where there is no file, and a tuple of one is a
// loader that has not been asked yet.
bool isOfAFile(PyObject* entry) {
  return PyTuple_CheckExact(entry) && PyTuple_GET_SIZE(entry) == 4 &&
         PyTuple_GET_ITEM(entry, 1) != Py_None;
}

void forget(PyObject* cache) {
  auto files = Reference::take(PyList_New(0));
  if (!files) return;
  PyObject *name, *entry;
  for (Py_ssize_t position = 0; PyDict_Next(cache, &position, &name, &entry);) {
    if (!isOfAFile(entry)) continue;
    if (PyList_Append(files.get(), name) != 0) return;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(files.get()); ++i) {
    if (PyDict_DelItem(cache, PyList_GET_ITEM(files.get(), i)) != 0) return;
  }
}

}  // namespace

PyObject* forgetSourceLines(PyObject*, PyObject*) {
  Reference cache = cacheOfLinecache();
  if (cache && PyDict_GET_SIZE(cache.get()) > 0 && !othersRunPython()) forget(cache.get());
  PyErr_Clear();  // no caller has asked for this
  Py_RETURN_NONE;
}

}  // namespace multipy
