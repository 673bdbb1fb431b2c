#include "interpreter/values/tensors.h"

#include <ATen/core/class_type.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

#include <cstring>
#include <unordered_map>

#include "abi/value_makers.h"
#include "base/interpreter_id.h"
#include "interpreter/common/failure.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/values/tensor_objects.h"
#include "interpreter/values/values.h"

namespace multipy {
namespace {

constexpr InterpreterId kFromCpp = InterpreterId::none();

// libtorch_python's functions, once torch has been imported completely.
constinit const TorchPython* imported = nullptr;

// Runs `body`, which calls into torch, and turns what it throws into `failure`.
template <typename Body>
bool guarded(Failure& failure, const char* doing, Body&& body) {
  try {
    body();
    return true;
  } catch (const std::exception& error) {
    // python_error and pybind11's error_already_set: the exception is (or is
    // put back) where Python has it.
    if (PyErr_Occurred()) {
      takePythonError(failure);
    } else {
      std::string text = error.what();
      if (const auto trace = text.find("\nException raised from"); trace != std::string::npos)
        text.resize(trace);
      conversionFailure(failure, std::string(doing) + ": " + text);
    }
    return false;
  }
}

// torch.Tensor's C++ part is found and not assumed: it is the word in a fresh
// object that holds the TensorImpl's address.
std::size_t tensorOffset(PyObject* object, const at::TensorBase& tensor) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(tensor.unsafeGetTensorImpl());
  for (std::size_t at = sizeof(PyObject); at + sizeof(wanted) <= 64; at += sizeof(wanted)) {
    std::uintptr_t word;
    std::memcpy(&word, reinterpret_cast<char*>(object) + at, sizeof word);
    if (word == wanted) return at;
  }
  return 0;
}

// The class torch.Tensor is written in Python, on top of one whose objects are all C++'s.
bool knowTensorLayout(const TorchPython* torch, Failure& failure) {
  if (tensorLayout().type) return true;
  const at::Tensor probe(c10::make_intrusive<c10::TensorImpl, c10::UndefinedTensorImpl>(
      c10::DispatchKeySet(c10::DispatchKey::CPU), caffe2::TypeMeta::Make<float>(), c10::kCPU));
  return guarded(failure, "finding out how torch.Tensor is laid out",
                 [&] {
                   const auto object = Reference::take(torch->wrap(at::Tensor(probe)));
                   if (!object) return takePythonError(failure);
                   auto* const type = reinterpret_cast<PyTypeObject*>(*torch->variableClass);
                   const std::size_t tensor = tensorOffset(object.get(), probe);
                   if (tensor == 0)
                     return conversionFailure(
                         failure,
                         "the layout of torch.Tensor is not understood: no word of the "
                         "object holds its TensorImpl; this torch is not supported");
                   setTensorLayout(
                       {type, tensor, static_cast<std::size_t>(type->tp_base->tp_basicsize)});
                 }) &&
         failure.kind == Failure::Kind::None;
}

// The functions of a completely imported torch; imports it if need be.
const TorchPython* importedTorch(Failure& failure) {
  if (imported) [[likely]]
    return imported;
  const auto module = Reference::take(PyImport_ImportModule("torch"));
  if (!module) {
    takePythonError(failure);
    if (failure.kind == Failure::Kind::ModuleNotFound && failure.module == "torch")
      failure.message +=
          ". A torch value crosses into this interpreter, whose environment has no torch: install "
          "into it the torch that this program is linked with";
    return nullptr;
  }
  const TorchPython* functions = host()->torchPython(host()->context);
  if (!functions || !*functions->variableClass) {
    conversionFailure(
        failure, "the module torch that was imported (" +
                     textOf(PyModule_GetFilenameObject(module.get())) +
                     ") brought no libtorch_python: something else named torch is on sys.path");
    return nullptr;
  }
  if (!knowTensorLayout(functions, failure)) return nullptr;
  return imported = functions;
}

// Of a torch.Tensor object, which may come from a torch still being imported.
const TorchPython* presentTorch() {
  if (imported) [[likely]]
    return imported;
  const TorchPython* functions = host()->torchPython(host()->context);
  return functions && *functions->variableClass ? functions : nullptr;
}

// ----------------------------------------------------------------- transfer
// IValues that are transferred as a whole hold tensors deep inside; those must
// be transferred too. Objects are copied slot by slot, sharing type (and so code)
// and tensor bytes.
class Transfer {
 public:
  Transfer(InterpreterId owner, Failure& failure) : owner_(owner), failure_(failure) {}

  c10::IValue transfer(const c10::IValue& value) {
    if (value.isTensor()) return tensor(value.toTensor());
    if (value.isObject()) return object(value);
    if (value.isFuture()) return future(value);
    if (value.isPyObject()) return pythonObject(value);
    if (value.isTuple()) return tuple(value);
    if (value.isList()) return list(value);
    if (value.isGenericDict()) return dict(value);
    return value;
  }
  bool ok() const { return failure_.kind == Failure::Kind::None; }

 private:
  c10::IValue tensor(const at::Tensor& given) {
    std::string error;
    at::Tensor transferred = host()->transferTensor(given, owner_, error);
    if (!error.empty()) conversionFailure(failure_, error);
    return transferred;
  }

  c10::IValue object(const c10::IValue& value) {
    const auto original = value.toObject();
    const auto done = copies_.find(original.get());
    if (done != copies_.end()) return done->second;
    const auto type = original->type();
    const std::size_t slots = original->slots().size();
    auto copy =
        host()->values->object(c10::StrongTypePtr(original->compilation_unit(), type), slots);
    copies_.emplace(original.get(), copy);
    for (std::size_t i = 0; i < slots; i++) copy->setSlot(i, transfer(original->getSlot(i)));
    return copy;
  }

  // What Python put into a Future, say: taken as any other Python object.
  c10::IValue pythonObject(const c10::IValue& value) {
    c10::IValue taken;
    fromPython(value.toPyObjectHolder()->getPyObject(), &taken, failure_);
    return taken;
  }

  // A Future that is done is made anew with its result transferred; for one that is
  // not the host keeps code that does so later.
  c10::IValue future(const c10::IValue& value) {
    const auto original = value.toFuture();
    if (!original->completed() || (!original->hasError() && holdsException(original->value())))
      return host()->linkFuture(host()->context, original, owner_, transferLater);
    if (original->hasError()) {
      auto failed = host()->values->future();
      failed->setError(original->exception_ptr());
      return failed;
    }
    c10::IValue result = transfer(original->value());
    auto copy = host()->values->future();
    if (ok()) copy->markCompleted(std::move(result));
    return copy;
  }

  c10::IValue tuple(const c10::IValue& value) {
    std::vector<c10::IValue> elements;
    for (const c10::IValue& element : value.toTupleRef().elements())
      elements.push_back(transfer(element));
    auto type = value.toTupleRef().type();
    return host()->values->tuple(std::move(elements), type->schema() ? type : nullptr);
  }

  c10::IValue list(const c10::IValue& value) {
    const auto original = value.toList();
    c10::impl::GenericList copy = host()->values->list(original.elementType());
    for (const c10::IValue& element : original.vec()) copy.push_back(transfer(element));
    return copy;
  }

  c10::IValue dict(const c10::IValue& value) {
    const auto original = value.toGenericDict();
    c10::impl::GenericDict copy = host()->values->dict(original.keyType(), original.valueType());
    for (const auto& entry : original) copy.insert(transfer(entry.key()), transfer(entry.value()));
    return copy;
  }

  // torch.futures.Future.set_exception() puts the exception where a result stands.
  static bool holdsException(const c10::IValue& value) {
    return value.isPyObject() && PyExceptionInstance_Check(value.toPyObjectHolder()->getPyObject());
  }
  static bool transferLater(const c10::IValue& value, InterpreterId owner, c10::IValue* result,
                            std::string& error);

  InterpreterId owner_;
  Failure& failure_;
  std::unordered_map<const void*, c10::IValue> copies_;
};

// On the housekeeping thread, some time after the transfer that asked for it.
bool Transfer::transferLater(const c10::IValue& value, InterpreterId owner, c10::IValue* result,
                             std::string& error) {
  const PyGILState_STATE before = PyGILState_Ensure();
  Failure failure;
  if (holdsException(value)) {
    PyObject* const exception = value.toPyObjectHolder()->getPyObject();
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
    takePythonError(failure);
  } else {
    guarded(failure, "passing on the result of a Future",
            [&] { *result = Transfer(owner, failure).transfer(value); });
  }
  PyGILState_Release(before);
  if (failure.kind == Failure::Kind::None) return true;
  error = failure.type.empty() ? failure.message : failure.type + ": " + failure.message;
  return false;
}

// ------------------------------------------------------------ torch's objects
// The type that torch::jit::toIValue must be asked for, by the Python type.
c10::TypePtr wantedType(PyObject* object) {
  const char* name = Py_TYPE(object)->tp_name;
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("torch.device")) return c10::DeviceObjType::get();
  if (is("torch.dtype") || is("torch.layout") || is("torch.memory_format") || is("torch.qscheme"))
    return c10::IntType::get();
  if (is("torch._C.Generator") || is("torch.Generator")) return c10::GeneratorType::get();
  if (is("torch.SymInt") || is("SymInt")) return c10::SymIntType::get();
  if (is("torch.SymFloat") || is("SymFloat")) return c10::SymFloatType::get();
  if (is("torch.SymBool") || is("SymBool")) return c10::SymBoolType::get();
  return nullptr;
}

bool isInstanceOf(PyObject* object, const char* module, const char* type) {
  PyObject* loaded = PyDict_GetItemString(PyImport_GetModuleDict(), module);
  const auto cls = Reference::take(loaded ? PyObject_GetAttrString(loaded, type) : nullptr);
  const int is = cls ? PyObject_IsInstance(object, cls.get()) : 0;
  if (!cls || is < 0) PyErr_Clear();
  return is == 1;
}

// Objects with state, for which torch's converter wants a type that fits but
// then takes the object's own.
c10::TypePtr wantedObjectType(PyObject* object) {
  if (isInstanceOf(object, "torch._C", "Future"))
    return c10::FutureType::create(c10::AnyType::get());
  if (isInstanceOf(object, "torch.jit", "ScriptModule") ||
      isInstanceOf(object, "torch._C", "ScriptObject"))
    return c10::ClassType::create(c10::QualifiedName("__torch__.Any"), {});
  if (isInstanceOf(object, "torch", "Stream")) return c10::StreamObjType::get();
  return nullptr;
}

// torch gives its bare C++ module; users know torch.jit.ScriptModule.
Reference scriptModule(const Reference& bare, Failure& failure) {
  const auto recursive = Reference::take(PyImport_ImportModule("torch.jit._recursive"));
  return taken(recursive ? PyObject_CallMethod(recursive.get(), "wrap_cpp_module", "O", bare.get())
                         : nullptr,
               failure);
}

}  // namespace

Reference tensorToPython(const at::Tensor& tensor, Failure& failure) {
  const TorchPython* torch = importedTorch(failure);
  if (!torch) return nullptr;
  if (!tensor.defined()) return Reference::borrow(Py_None);
  std::string error;
  at::Tensor transferred = host()->transferTensor(tensor, kFromCpp, error);
  if (!transferred.defined()) {
    conversionFailure(failure, std::move(error));
    return nullptr;
  }
  Reference object;
  guarded(failure, "giving a tensor to Python", [&] {
    object = tensorObject(*torch, std::move(transferred));
    if (!object) takePythonError(failure);
  });
  return object;
}

bool isTensor(PyObject* object) {
  const TorchPython* torch = presentTorch();
  if (!torch) return false;
  auto* cls = reinterpret_cast<PyTypeObject*>(*torch->variableClass);
  return Py_TYPE(object) == cls || PyType_IsSubtype(Py_TYPE(object), cls);
}

namespace {

// `move` gives the tensor inside an object that is one, or says why it cannot.
template <typename Move>
at::Tensor fromObject(PyObject* object, Failure& failure, Move&& move) {
  if (!knowTensorLayout(presentTorch(), failure)) return {};
  at::Tensor& inside = tensorInside(object);
  if (!inside.defined()) {
    conversionFailure(failure,
                      "a torch.Tensor object without a tensor in it (an undefined one) "
                      "cannot cross to C++: return None instead");
    return {};
  }
  std::string error;
  at::Tensor transferred = move(inside, error);
  if (!transferred.defined()) conversionFailure(failure, std::move(error));
  return transferred;
}

}  // namespace

at::Tensor tensorFromPython(PyObject* object, Failure& failure) {
  return fromObject(object, failure, [](const at::Tensor& inside, std::string& error) {
    return host()->transferTensor(inside, host()->slot, error);
  });
}

at::Tensor tensorTakenFrom(PyObject* object, Failure& failure) {
  return fromObject(object, failure, [object](at::Tensor& inside, std::string& error) {
    return host()->moveTensor(inside, object, host()->slot, error);
  });
}

Reference torchValueToPython(const c10::IValue& value, Failure& failure) {
  if (value.isCapsule() || value.isBlob()) {
    conversionFailure(failure, "a value of type " + value.tagKind() +
                                   " has no Python form: pass what it holds instead");
    return nullptr;
  }
  const TorchPython* torch = importedTorch(failure);
  if (!torch) return nullptr;
  Transfer one(kFromCpp, failure);
  Reference object;
  guarded(failure, ("giving a " + value.tagKind() + " to Python").c_str(), [&] {
    const c10::IValue transferred = one.transfer(value);
    if (one.ok()) object = Reference::take(torch->toPyObject(transferred).pointer);
  });
  if (object && value.isModule()) return scriptModule(object, failure);
  return object;
}

bool torchValueFromPython(PyObject* object, c10::IValue* out, Failure& failure) {
  const TorchPython* torch = presentTorch();
  if (!torch) return false;
  c10::TypePtr type = wantedType(object);
  const bool stateful = !type;
  if (stateful) type = wantedObjectType(object);
  if (!type) return false;
  return guarded(failure, ("taking a " + typeName(Py_TYPE(object)) + " from Python").c_str(),
                 [&] {
                   *out = torch->toIValue(object, type, std::nullopt);
                   if (!stateful) return;
                   Transfer one(host()->slot, failure);
                   *out = one.transfer(*out);
                 }) &&
         failure.kind == Failure::Kind::None;
}

}  // namespace multipy
