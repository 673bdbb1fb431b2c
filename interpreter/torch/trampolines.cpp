// The functions that private torch libraries call in place of torch's own: each
// adds this interpreter's id and asks the host (torch_routes.h). They hold
// no state and define no types, so exceptions of torch pass through them.
//
// There is one for each row of abi/redirects.def.
#include "abi/torch_routes.h"

#include <ATen/core/operator_name.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpreter/common/host_connection.h"
#include "interpreter/common/reference.h"

namespace {

using multipy::host;
using multipy::Reference;

const multipy::TorchRoutes& routes() noexcept { return *host()->routes; }

// ------------------------------------------------------- torch.ops objects
// torch keeps the Python object of an operator (torch.ops.aten.add.Tensor) in
// the operator itself, once per process. Here each interpreter has its own.

struct ApiFunctions {
  std::unordered_map<const void*, PyObject*> objects;  // each holds a reference
  std::uint64_t generation = 0;
};

// Guarded by the GIL.
ApiFunctions& apiFunctions() {
  static auto* const cache = new ApiFunctions;
  return *cache;
}

void dropApiFunctions() {
  const auto old = std::exchange(apiFunctions().objects, {});
  for (const auto& [identity, object] : old) Py_DECREF(object);
}

// "aten::add", "Tensor" → torch.ops.aten.add.Tensor; null with a Python error.
Reference findApiFunction(const std::string& name, const std::string& overload) {
  const std::size_t colons = name.find("::");
  if (colons == std::string::npos) {
    PyErr_Format(PyExc_RuntimeError, "operator name %s has no namespace", name.c_str());
    return {};
  }
  Reference object = Reference::take(PyImport_ImportModule("torch"));
  for (const std::string& part :
       {std::string("ops"), name.substr(0, colons), name.substr(colons + 2),
        overload.empty() ? std::string("default") : overload}) {
    if (!object) break;
    object = Reference::take(PyObject_GetAttrString(object.get(), part.c_str()));
  }
  return object;
}

// Takes the pending Python error as text.
std::string takeErrorText() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const auto ownedType = Reference::take(type), ownedValue = Reference::take(value),
             ownedTraceback = Reference::take(traceback);
  const auto text = Reference::take(value ? PyObject_Str(value) : nullptr);
  const char* const utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string result = type ? reinterpret_cast<PyTypeObject*>(type)->tp_name : "unknown error";
  result += utf8 ? std::string(": ") + utf8 : "";
  PyErr_Clear();
  return result;
}

}  // namespace

#define MULTIPY_ROUTE extern "C" __attribute__((visibility("default")))

// extern "C" gives these functions their names alone: those that call them are C++, and
// expect what C++ would return.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif

namespace multipy {

#define MULTIPY_REDIRECT(route, result, parameters, arguments, ...)       \
  MULTIPY_ROUTE result multipy_route_##route parameters {                 \
    return host()->routes->route(host()->slot MULTIPY_FURTHER arguments); \
  }
#include "abi/redirects.def"

}  // namespace multipy

// Each interpreter registers its own Python kernels, so each is "in the hot
// seat", as torch calls it.
MULTIPY_ROUTE bool multipy_route_registerInterpreter(void*) { return true; }

// With the GIL. Returns a borrowed reference, as a pybind11::handle is returned:
// in a register.
MULTIPY_ROUTE PyObject* multipy_route_torchApiFunction(const void* operatorHandle) {
  const auto facts = routes().operatorFacts(operatorHandle);
  ApiFunctions& cache = apiFunctions();
  if (cache.generation != facts.generation) {
    if (cache.generation == 0) routes().onPurge(host()->slot, dropApiFunctions);
    cache.generation = facts.generation;
    dropApiFunctions();
  }
  if (const auto found = cache.objects.find(facts.identity); found != cache.objects.end())
    return found->second;

  Reference object = findApiFunction(*facts.name, *facts.overload);
  if (!object) {
    const std::string message = "looking up the Python object of operator " + *facts.name +
                                (facts.overload->empty() ? "" : "." + *facts.overload) +
                                " in torch.ops: " + takeErrorText();
    routes().fail(message.c_str());
  }
  // The look-up ran Python code, so another thread may have been here meanwhile.
  // torch.ops holds the object too: what is not cached remains valid.
  PyObject* const borrowed = object.get();
  if (cache.generation == facts.generation &&
      cache.objects.emplace(facts.identity, borrowed).second)
    object.release();
  return borrowed;
}

#undef MULTIPY_ROUTE
