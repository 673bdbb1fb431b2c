#include "interpreter/values/package_file.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "interpreter/values/package_cursor.h"

namespace multipy {
namespace {

struct PackageFile {
  PyObject_HEAD PackageCursor* cursor;  // owned
};

PackageCursor& cursor(PyObject* self) { return *reinterpret_cast<PackageFile*>(self)->cursor; }

/// Calls `work`, whose result is returned; null with OSError or ValueError for what it throws.
/// With the GIL: torch's reader calls this with a lock of its own, for which another thread
/// may wait that has the GIL.
template <typename Work>
PyObject* withPythonErrors(const Work& work) {
  try {
    return work();
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_OSError, "the reader of the package threw what is no std::exception");
  }
  return nullptr;
}

PyObject* readinto(PyObject* self, PyObject* target) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(target, &buffer, PyBUF_WRITABLE) != 0) return nullptr;
  const std::span into(static_cast<char*>(buffer.buf), static_cast<std::size_t>(buffer.len));
  PyObject* got = withPythonErrors([&] { return PyLong_FromSize_t(cursor(self).readSome(into)); });
  PyBuffer_Release(&buffer);
  return got;
}

PyObject* read(PyObject* self, PyObject* args) {
  Py_ssize_t wanted = -1;
  if (!PyArg_ParseTuple(args, "|n", &wanted)) return nullptr;
  const Py_ssize_t left = cursor(self).left();
  wanted = wanted < 0 ? left : std::min(wanted, left);
  auto bytes = Reference::take(PyBytes_FromStringAndSize(nullptr, wanted));
  if (!bytes) return nullptr;
  const std::span into(PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(wanted));
  return withPythonErrors([&] {
    cursor(self).readAll(into);
    return bytes.release();
  });
}

PyObject* readline(PyObject* self, PyObject*) {
  return withPythonErrors([&] {
    const std::string line = cursor(self).readLine();
    return PyBytes_FromStringAndSize(line.data(), static_cast<Py_ssize_t>(line.size()));
  });
}

PyObject* tell(PyObject* self, PyObject*) { return PyLong_FromLongLong(cursor(self).position()); }

PyObject* seek(PyObject* self, PyObject* args) {
  Py_ssize_t offset;
  int whence = SEEK_SET;
  if (!PyArg_ParseTuple(args, "n|i", &offset, &whence)) return nullptr;
  return withPythonErrors([&] {
    cursor(self).seek(offset, whence);
    return tell(self, nullptr);
  });
}

void deallocate(PyObject* self) {
  delete reinterpret_cast<PackageFile*>(self)->cursor;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"read", read, METH_VARARGS, nullptr},        {"readinto", readinto, METH_O, nullptr},
    {"readline", readline, METH_NOARGS, nullptr}, {"tell", tell, METH_NOARGS, nullptr},
    {"seek", seek, METH_VARARGS, nullptr},        {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)}, {Py_tp_methods, methods}, {0, nullptr}};

PyType_Spec spec = {"_multipy_host.PackageFile", sizeof(PackageFile), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

Reference newPackageFile(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader) {
  static PyObject* type = nullptr;  // of this interpreter, since this library is
  if (!type) type = PyType_FromSpec(&spec);
  if (!type) return nullptr;
  return Reference::take(withPythonErrors([&]() -> PyObject* {
    auto place = std::make_unique<PackageCursor>(std::move(reader));
    auto* ofFiles = reinterpret_cast<PyTypeObject*>(type);
    PyObject* object = ofFiles->tp_alloc(ofFiles, 0);
    if (object) reinterpret_cast<PackageFile*>(object)->cursor = place.release();
    return object;
  }));
}

}  // namespace multipy
