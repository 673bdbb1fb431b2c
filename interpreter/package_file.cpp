#include "interpreter/package_file.h"

#include <caffe2/serialize/read_adapter_interface.h>

#include <algorithm>
#include <string>

namespace multipy {
namespace {

using Reader = std::shared_ptr<caffe2::serialize::ReadAdapterInterface>;

struct PackageFile {
  PyObject_HEAD
  Reader* reader;
  Py_ssize_t position;
  Py_ssize_t size;
};

PackageFile* file(PyObject* self) { return reinterpret_cast<PackageFile*>(self); }

// Reads at the file's position; -1 with OSError set. With the GIL: torch's reader calls this
// with a lock of its own, for which another thread may wait that has the GIL.
Py_ssize_t readSome(PackageFile* self, char* into, Py_ssize_t wanted) {
  const Py_ssize_t n = std::clamp<Py_ssize_t>(self->size - self->position, 0, wanted);
  if (n == 0) return 0;
  std::string error;
  std::size_t got = 0;
  try {
    got = (*self->reader)->read(self->position, into, n, "reading a torch.package");
  } catch (const std::exception& e) {
    error = e.what();
  }
  if (error.empty() && got == 0)
    error = "the package ends at byte " + std::to_string(self->position) + ", expected " +
            std::to_string(self->size) + " bytes: it was truncated after it had been opened";
  if (!error.empty()) {
    PyErr_SetString(PyExc_OSError, error.c_str());
    return -1;
  }
  self->position += static_cast<Py_ssize_t>(got);
  return static_cast<Py_ssize_t>(got);
}

PyObject* readinto(PyObject* self, PyObject* target) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(target, &buffer, PyBUF_WRITABLE) != 0) return nullptr;
  const Py_ssize_t got = readSome(file(self), static_cast<char*>(buffer.buf), buffer.len);
  PyBuffer_Release(&buffer);
  return got < 0 ? nullptr : PyLong_FromSsize_t(got);
}

PyObject* read(PyObject* self, PyObject* args) {
  Py_ssize_t wanted = -1;
  if (!PyArg_ParseTuple(args, "|n", &wanted)) return nullptr;
  const Py_ssize_t left = std::max<Py_ssize_t>(0, file(self)->size - file(self)->position);
  wanted = wanted < 0 ? left : std::min(wanted, left);
  auto bytes = Reference::take(PyBytes_FromStringAndSize(nullptr, wanted));
  if (!bytes) return nullptr;
  Py_ssize_t filled = 0;
  while (filled < wanted) {
    const Py_ssize_t got =
        readSome(file(self), PyBytes_AS_STRING(bytes.get()) + filled, wanted - filled);
    if (got < 0) return nullptr;
    filled += got;
  }
  return bytes.release();
}

PyObject* readline(PyObject* self, PyObject*) {
  std::string line;
  char next = 0;
  while (next != '\n') {
    const Py_ssize_t got = readSome(file(self), &next, 1);
    if (got < 0) return nullptr;
    if (got == 0) break;
    line += next;
  }
  return PyBytes_FromStringAndSize(line.data(), static_cast<Py_ssize_t>(line.size()));
}

PyObject* tell(PyObject* self, PyObject*) { return PyLong_FromSsize_t(file(self)->position); }

PyObject* seek(PyObject* self, PyObject* args) {
  Py_ssize_t offset;
  int whence = SEEK_SET;
  if (!PyArg_ParseTuple(args, "n|i", &offset, &whence)) return nullptr;
  const Py_ssize_t base = whence == SEEK_SET   ? 0
                          : whence == SEEK_CUR ? file(self)->position
                                               : file(self)->size;
  if (whence < SEEK_SET || whence > SEEK_END || base + offset < 0) {
    PyErr_SetString(PyExc_ValueError, "seek to before the start of the package");
    return nullptr;
  }
  file(self)->position = base + offset;
  return PyLong_FromSsize_t(file(self)->position);
}

void deallocate(PyObject* self) {
  delete file(self)->reader;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"read", read, METH_VARARGS, nullptr},
                         {"readinto", readinto, METH_O, nullptr},
                         {"readline", readline, METH_NOARGS, nullptr},
                         {"tell", tell, METH_NOARGS, nullptr},
                         {"seek", seek, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                       {Py_tp_methods, methods},
                       {0, nullptr}};

PyType_Spec spec = {"_multipy_host.PackageFile", sizeof(PackageFile), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

PyObject* newPackageFile(Reader reader) {
  static PyObject* type = nullptr;  // of this interpreter, since this library is
  if (!type) type = PyType_FromSpec(&spec);
  if (!type) return nullptr;
  auto* object = reinterpret_cast<PyTypeObject*>(type)->tp_alloc(reinterpret_cast<PyTypeObject*>(type), 0);
  if (!object) return nullptr;
  file(object)->size = static_cast<Py_ssize_t>(reader->size());
  file(object)->position = 0;
  file(object)->reader = new Reader(std::move(reader));
  return object;
}

}  // namespace multipy
