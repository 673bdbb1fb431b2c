// Objects as bytes and shared storages (python/_multipy_movable.py does the
// pickling), and torch.package importers over the host's files.
#include "interpreter/common/failure.h"
#include "interpreter/common/python_modules.h"
#include "interpreter/common/reference.h"
#include "interpreter/values/objects.h"
#include "interpreter/values/package_file.h"
#include "interpreter/values/tensors.h"
#include "interpreter/values/values.h"

namespace multipy {
namespace {

PyObject* orNone(BorrowedReference object) { return object ? object.get() : Py_None; }

// dump() gives (bytes, byte tensors, values, uses_torch).
bool takeDumped(PyObject* dumped, Pickled* out, Failure& failure) {
  PyObject *bytes, *tensors, *values;
  int usesTorch;
  if (!PyArg_ParseTuple(dumped, "SO!O!p", &bytes, &PyList_Type, &tensors, &PyList_Type, &values,
                        &usesTorch)) {
    takePythonError(failure);
    return false;
  }
  out->bytes.assign(PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes));
  out->usesTorch = usesTorch != 0;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tensors); i++) {
    at::Tensor storage = tensorFromPython(PyList_GET_ITEM(tensors, i), failure);
    if (!storage.defined()) return false;
    out->storages.push_back(std::move(storage));
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); i++)
    if (!fromPython(PyList_GET_ITEM(values, i), &out->values.emplace_back(), failure)) return false;
  return true;
}

template <typename Elements, typename Convert>
Reference pythonList(const Elements& elements, Failure& failure, Convert&& convert) {
  Reference list = taken(PyList_New(0), failure);
  for (const auto& element : elements) {
    const Reference item = list ? convert(element) : nullptr;
    if (!item) return {};
    if (PyList_Append(list.get(), item.get()) != 0) {
      takePythonError(failure);
      return {};
    }
  }
  return list;
}

}  // namespace

bool pickleObject(BorrowedReference object, BorrowedReference importer, Pickled* out,
                  Failure& failure) {
  PyObject* dump = ourFunction("_multipy_movable", "dump");
  const Reference dumped = taken(
      dump ? PyObject_CallFunctionObjArgs(dump, object.get(), orNone(importer), nullptr) : nullptr,
      failure);
  return dumped && takeDumped(dumped.get(), out, failure);
}

NewReference unpickleObject(const Pickled& pickled, BorrowedReference importer, Failure& failure) {
  const Reference storages = pythonList(pickled.storages, failure, [&](const at::Tensor& storage) {
    return tensorToPython(storage, failure);
  });
  if (!storages) return nullptr;
  const Reference values = pythonList(
      pickled.values, failure, [&](const c10::IValue& value) { return toPython(value, failure); });
  if (!values) return nullptr;
  const auto bytes = Reference::take(PyBytes_FromStringAndSize(
      pickled.bytes.data(), static_cast<Py_ssize_t>(pickled.bytes.size())));
  PyObject* load = bytes ? ourFunction("_multipy_movable", "load") : nullptr;
  Reference object =
      taken(load ? PyObject_CallFunctionObjArgs(load, bytes.get(), storages.get(), values.get(),
                                                orNone(importer),
                                                pickled.usesTorch ? Py_True : Py_False, nullptr)
                 : nullptr,
            failure);
  return object.give();
}

NewReference openPackage(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader,
                         const char* name, Failure& failure) {
  const Reference file = newPackageFile(std::move(reader));
  PyObject* open = file ? ourFunction("_multipy_movable", "open_package") : nullptr;
  Reference importer =
      taken(open ? PyObject_CallFunction(open, "Os", file.get(), name) : nullptr, failure);
  return importer.give();
}

}  // namespace multipy
