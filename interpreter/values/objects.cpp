#include "interpreter/values/objects.h"

#include <array>
#include <optional>

#include "interpreter/common/failure.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/common/python_modules.h"
#include "interpreter/common/reference.h"
#include "interpreter/values/tensor_objects.h"
#include "interpreter/values/values.h"

namespace multipy {
namespace {

// The arguments of one call as the vectorcall protocol (PEP 590) wants them:
// positional ones, then the values of the keywords, then a tuple of their
// names. Calls with few arguments need no allocation.
class Arguments {
 public:
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (std::size_t i = 0; i < count_; i++) giveUpObject(Reference::take(objects_[i]));
  }

  bool convert(const c10::IValue* args, std::size_t n, const KeywordArgument* kwargs,
               std::size_t nkw, Failure& failure) {
    std::optional<TransferGroup> together;
    if (n + nkw > 1) together.emplace();
    if (n + nkw > few_.size()) {
      many_.resize(n + nkw);
      objects_ = many_.data();
    }
    positional_ = n;
    for (std::size_t i = 0; i < n; i++)
      if (!add(args[i], failure)) return false;
    for (std::size_t i = 0; i < nkw; i++)
      if (!add(*kwargs[i].value, failure)) return false;
    return nkw == 0 || nameKeywords(kwargs, nkw, failure);
  }

  Reference call(BorrowedReference callable) const {
    return Reference::take(
        PyObject_Vectorcall(callable.get(), objects_, positional_, names_.get()));
  }

 private:
  bool add(const c10::IValue& value, Failure& failure) {
    Reference object = toPython(value, failure);
    if (!object) return false;
    objects_[count_++] = object.release();
    return true;
  }

  bool nameKeywords(const KeywordArgument* kwargs, std::size_t nkw, Failure& failure) {
    names_ = Reference::take(PyTuple_New(static_cast<Py_ssize_t>(nkw)));
    for (std::size_t i = 0; names_ && i < nkw; i++) {
      const std::string& name = *kwargs[i].name;
      auto text = Reference::take(
          PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "strict"));
      if (!text)
        names_ = {};
      else
        PyTuple_SET_ITEM(names_.get(), static_cast<Py_ssize_t>(i), text.release());
    }
    if (!names_) takePythonError(failure);
    return static_cast<bool>(names_);
  }

  std::array<PyObject*, 8> few_;
  std::vector<PyObject*> many_;
  PyObject** objects_ = few_.data();  // the first count_ of them are owned
  std::size_t count_ = 0;
  std::size_t positional_ = 0;
  Reference names_;
};

}  // namespace

// `from module import name`: submodules are found, too.
NewReference globalObject(const char* module, const char* name, Failure& failure) {
  const auto names = Reference::take(Py_BuildValue("(s)", name));
  const auto moduleName = Reference::take(names ? PyUnicode_FromString(module) : nullptr);
  const auto loaded =
      Reference::take(moduleName ? PyImport_ImportModuleLevelObject(moduleName.get(), nullptr,
                                                                    nullptr, names.get(), 0)
                                 : nullptr);
  return taken(loaded ? PyObject_GetAttrString(loaded.get(), name) : nullptr, failure).give();
}

NewReference objectFromIValue(const c10::IValue& value, Failure& failure) {
  return toPython(value, failure).give();
}

bool objectToIValue(BorrowedReference object, c10::IValue* out, Failure& failure) {
  return fromPython(object.get(), out, failure);
}

bool takeIValue(NewReference object, c10::IValue* out, Failure& failure) {
  return resultFromPython(Reference::take(std::move(object)), out, failure);
}

NewReference callObject(BorrowedReference callable, const BorrowedReference* args, std::size_t n,
                        Failure& failure) {
  static_assert(sizeof(BorrowedReference) == sizeof(PyObject*));
  const auto* const objects = reinterpret_cast<PyObject* const*>(args);
  return taken(PyObject_Vectorcall(callable.get(), objects, n, nullptr), failure).give();
}

NewReference callWithIValues(BorrowedReference callable, const c10::IValue* args, std::size_t n,
                             const KeywordArgument* kwargs, std::size_t nkw, Failure& failure) {
  Arguments arguments;
  if (!arguments.convert(args, n, kwargs, nkw, failure)) return nullptr;
  Reference result = arguments.call(callable);
  if (!result) takePythonError(failure);
  return result.give();
}

bool callToIValue(BorrowedReference callable, const c10::IValue* args, std::size_t n,
                  const KeywordArgument* kwargs, std::size_t nkw, c10::IValue* out,
                  Failure& failure) {
  // What was an argument and is the result is given up as an argument first.
  auto result = Reference::take(callWithIValues(callable, args, n, kwargs, nkw, failure));
  return result && resultFromPython(std::move(result), out, failure);
}

NewReference objectAttribute(BorrowedReference object, const char* name, Failure& failure) {
  return taken(PyObject_GetAttrString(object.get(), name), failure).give();
}

int objectHasAttribute(BorrowedReference object, const char* name, Failure& failure) {
  const auto value = Reference::take(PyObject_GetAttrString(object.get(), name));
  if (value) return 1;
  if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
    PyErr_Clear();
    return 0;
  }
  takePythonError(failure);
  return -1;
}

bool argumentNames(BorrowedReference callable, std::vector<std::string>* out, Failure& failure) {
  PyObject* function = ourFunction("_multipy_movable", "argument_names");
  const auto names =
      Reference::take(function ? PyObject_CallOneArg(function, callable.get()) : nullptr);
  if (!names) {
    takePythonError(failure);
    return false;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names.get()); i++)
    out->push_back(textOf(PyList_GET_ITEM(names.get(), i)));
  return true;
}

}  // namespace multipy
