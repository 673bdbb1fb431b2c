// Loading a pickle of a torch.package whose storages lie once for all interpreters: what
// python/_multipy_sharing.py needs of C++.
#include <memory>
#include <string>
#include <vector>

#include "interpreter/common/failure.h"
#include "interpreter/common/no_memory.h"
#include "interpreter/common/python_modules.h"
#include "interpreter/common/reference.h"
#include "interpreter/values/objects.h"
#include "interpreter/values/tensors.h"

namespace multipy {
namespace {

// ------------------------------------------------------------ the table, as Python has it

struct StoragesObject {
  PyObject_HEAD std::shared_ptr<SharedStorages>* storages;
};

SharedStorages& storagesOf(PyObject* self) {
  return **reinterpret_cast<StoragesObject*>(self)->storages;
}

PyObject* raise(const Failure& failure) {
  PyErr_Format(PyExc_RuntimeError, "sharing a storage of a package: %s%s%s", failure.type.c_str(),
               failure.type.empty() ? "" : ": ", failure.message.c_str());
  return nullptr;
}

PyObject* asPython(const at::Tensor& bytes) {
  Failure failure;
  Reference object = tensorToPython(bytes, failure);
  return object ? object.release() : raise(failure);
}

// False: with a Python error.
bool take(PyObject* text, std::string* out) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes) out->assign(bytes, static_cast<std::size_t>(size));
  return bytes != nullptr;
}

// find(name): a tensor over its bytes, or None.
PyObject* find(PyObject* self, PyObject* argument) {
  std::string name;
  if (!take(argument, &name)) return nullptr;
  const at::Tensor found = storagesOf(self).find(name);
  if (!found.defined()) Py_RETURN_NONE;
  return asPython(found);
}

// keep(name, tensor): a tensor over the bytes that are kept under this name, another
// interpreter's if it was faster. It is a new one also where they are the given tensor's.
PyObject* keep(PyObject* self, PyObject* arguments) {
  PyObject *givenName, *tensor;
  std::string name;
  if (!PyArg_ParseTuple(arguments, "OO", &givenName, &tensor) || !take(givenName, &name))
    return nullptr;
  if (!isTensor(tensor)) {
    PyErr_Format(PyExc_TypeError, "keep: expected a torch.Tensor, found %s",
                 Py_TYPE(tensor)->tp_name);
    return nullptr;
  }
  Failure failure;
  const at::Tensor ours = tensorFromPython(tensor, failure);
  if (!ours.defined()) return raise(failure);
  const at::Tensor kept = storagesOf(self).keep(name, ours);
  if (!kept.defined()) return PyErr_NoMemory();
  return asPython(kept);
}

// names(prefix): of all that are there.
PyObject* names(PyObject* self, PyObject* argument) {
  std::string prefix;
  if (!take(argument, &prefix)) return nullptr;
  std::vector<std::string> found;
  if (!storagesOf(self).list(prefix, &found)) return PyErr_NoMemory();
  auto list = Reference::take(PyList_New(0));
  for (const std::string& each : found) {
    const auto name = Reference::take(
        list ? PyUnicode_FromStringAndSize(each.data(), static_cast<Py_ssize_t>(each.size()))
             : nullptr);
    if (!name || PyList_Append(list.get(), name.get()) != 0) return nullptr;
  }
  return list.release();
}

void deallocate(PyObject* self) {
  delete reinterpret_cast<StoragesObject*>(self)->storages;
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {{"find", orMemoryError<find>, METH_O, nullptr},
                         {"keep", orMemoryError<keep>, METH_VARARGS, nullptr},
                         {"names", orMemoryError<names>, METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)}, {Py_tp_methods, methods}, {0, nullptr}};

PyType_Spec spec = {"_multipy_host.SharedStorages", sizeof(StoragesObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

Reference newStoragesObject(const std::shared_ptr<SharedStorages>& storages) {
  static PyTypeObject* type = nullptr;  // of this interpreter, since this library is
  if (!type) type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  auto place = std::make_unique<std::shared_ptr<SharedStorages>>(storages);
  PyObject* const object = type ? type->tp_alloc(type, 0) : nullptr;
  if (object) reinterpret_cast<StoragesObject*>(object)->storages = place.release();
  return Reference::take(object);
}

// ------------------------------------------------------------ one load at a time

// Holds an importer's lock, for which it waits without the GIL.
class Loading {
 public:
  explicit Loading(PyObject* importer)
      : lock_(Reference::take(PyObject_GetAttrString(importer, "_loading"))) {
    const auto done =
        Reference::take(lock_ ? PyObject_CallMethod(lock_.get(), "acquire", nullptr) : nullptr);
    held_ = static_cast<bool>(done);
  }
  ~Loading() {
    if (!held_) return;
    const ErrorsAside aside;
    const auto done = Reference::take(PyObject_CallMethod(lock_.get(), "release", nullptr));
    if (!done) PyErr_WriteUnraisable(lock_.get());
  }
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

  /// False: with a Python error.
  bool held() const { return held_; }

 private:
  const Reference lock_;
  bool held_;
};

Reference load(PyObject* importer, const PackagedPickle& pickle) {
  const Reference storages = newStoragesObject(pickle.storages);
  PyObject* const function = storages ? ourFunction("_multipy_sharing", "load_pickle") : nullptr;
  return Reference::take(function ? PyObject_CallFunction(function, "OssO", importer,
                                                          pickle.module.c_str(),
                                                          pickle.file.c_str(), storages.get())
                                  : nullptr);
}

}  // namespace

NewReference loadPackagedPickle(BorrowedReference importer, const PackagedPickle& pickle,
                                const std::atomic<BorrowedReference>& present, Failure& failure) {
  const Loading lock(importer.get());
  Reference object;
  if (lock.held()) {
    // Nothing runs between the lock's release and the caller's keeping the object.
    object = Reference::borrow(present.load().get());
    if (!object) object = load(importer.get(), pickle);
  }
  if (!object) takePythonError(failure);
  return object.give();
}

}  // namespace multipy
