#include "torch_bridge/bound_functions.h"

#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>

namespace multipy::bridge {
namespace {

struct Object;  // PyObject

template <typename Function>
Function* ofProgram(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// A reference of the program's Python.
class Owned {
 public:
  explicit Owned(Object* object) : object_(object) {
    if (!object_) ofProgram<void()>("PyErr_Clear")();
  }
  ~Owned() {
    if (object_) ofProgram<void(Object*)>("Py_DecRef")(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* const object_;
};

Owned attribute(Object* object, const char* name) {
  return Owned(ofProgram<Object*(Object*, const char*)>("PyObject_GetAttrString")(object, name));
}

std::string_view textOf(Object* unicode) {
  const char* const text = ofProgram<const char*(Object*)>("PyUnicode_AsUTF8")(unicode);
  if (!text) ofProgram<void()>("PyErr_Clear")();
  return text ? text : "";
}

/// By pybind11's name for what keeps a record: up to version 2 a capsule, from 3 on an object of a
/// type of its own. Both have its address behind what all objects begin with. Null: keeps none.
void** recordKeptBy(Object* keeper) {
  static_assert(sizeof(void*) == 8);
  constexpr std::size_t kObjectHead = 16;  // reference count and type
  const Owned type(ofProgram<Object*(Object*)>("PyObject_Type")(keeper));
  if (type.get() == ofProgram<Object>("PyCapsule_Type")) {
    const char* const name = ofProgram<const char*(Object*)>("PyCapsule_GetName")(keeper);
    if (name && std::string_view(name).find("function_record") == std::string_view::npos)
      return nullptr;
  } else {
    const Owned name = attribute(type.get(), "__name__");
    if (!name || textOf(name.get()).find("function_record") == std::string_view::npos)
      return nullptr;
  }
  return *reinterpret_cast<void***>(reinterpret_cast<std::byte*>(keeper) + kObjectHead);
}

class Search {
 public:
  Search(const ImportRedirections& redirections, void* libtorchPython) {
    for (const loader::ImportRedirection& each : redirections)
      if (void* const original = ::dlsym(libtorchPython, std::string(each.symbol).c_str()))
        replacements_[original] = const_cast<void*>(each.replacement);
  }

  /// A module's or a type's members, and those of the types among them.
  void lookInto(Object* object, int depth = 0) const {
    const Owned members = attribute(object, "__dict__");
    if (!members) return;
    const Owned values(ofProgram<Object*(Object*)>("PyMapping_Values")(members.get()));
    const auto size = ofProgram<std::ptrdiff_t(Object*)>("PyList_Size");
    const auto item = ofProgram<Object*(Object*, std::ptrdiff_t)>("PyList_GetItem");
    for (std::ptrdiff_t i = 0; values && i < size(values.get()); ++i) {
      Object* const value = item(values.get(), i);
      const Owned type(ofProgram<Object*(Object*)>("PyObject_Type")(value));
      if (type.get() == ofProgram<Object>("PyCFunction_Type") ||
          type.get() == ofProgram<Object>("PyInstanceMethod_Type"))
        replaceIn(value);
      else if (depth < 2 && isType(type.get()))
        lookInto(value, depth + 1);
    }
  }

 private:
  /// `type` has the types as its objects.
  static bool isType(Object* type) {
    constexpr unsigned long kSubclassOfType = 1UL << 31;  // Py_TPFLAGS_TYPE_SUBCLASS
    return (ofProgram<unsigned long(Object*)>("PyType_GetFlags")(type) & kSubclassOfType) != 0;
  }

  void replaceIn(Object* function) const {
    // A record begins with three texts, a vector and the function that unpacks arguments; then
    // comes what that one keeps (pybind11/attr.h).
    constexpr std::size_t kKept = 7, kKeptWords = 3;
    const Owned keeper = attribute(function, "__self__");
    void** const record = keeper ? recordKeptBy(keeper.get()) : nullptr;
    if (!record) return;
    for (std::size_t i = kKept; i < kKept + kKeptWords; ++i)
      if (const auto found = replacements_.find(record[i]); found != replacements_.end())
        record[i] = found->second;
  }

  std::unordered_map<void*, void*> replacements_;
};

struct Request {
  const ImportRedirections& redirections;
  void* libtorchPython;
  void (*done)();
};

int replaceInModules(void* of) noexcept try {
  const std::unique_ptr<const Request> request(static_cast<const Request*>(of));
  const Search search(request->redirections, request->libtorchPython);
  Object* const modules = ofProgram<Object*()>("PyImport_GetModuleDict")();
  const Owned names(ofProgram<Object*(Object*)>("PyDict_Keys")(modules));
  const auto size = ofProgram<std::ptrdiff_t(Object*)>("PyList_Size");
  const auto item = ofProgram<Object*(Object*, std::ptrdiff_t)>("PyList_GetItem");
  for (std::ptrdiff_t i = 0; names && i < size(names.get()); ++i) {
    Object* const name = item(names.get(), i);
    if (!textOf(name).starts_with("torch._C")) continue;
    const Owned module(ofProgram<Object*(Object*, Object*)>("PyObject_GetItem")(modules, name));
    if (module) search.lookInto(module.get());
  }
  request->done();
  return 0;
} catch (const std::bad_alloc&) {
  return 0;  // as if it had not been asked
}

}  // namespace

void redirectBoundFunctions(const ImportRedirections& redirections, void* libtorchPython,
                            void (*done)()) {
  auto* const addPendingCall = ofProgram<int(int (*)(void*), void*)>("Py_AddPendingCall");
  auto request = std::make_unique<Request>(Request{redirections, libtorchPython, done});
  if (addPendingCall && addPendingCall(replaceInModules, request.get()) == 0) request.release();
}

}  // namespace multipy::bridge
