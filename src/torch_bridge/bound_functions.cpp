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

/// What is asked of the program's Python, of its C API.
class Python {
  bool isWhole_ = true;  // before what looks for the others

 public:
  static const Python& program() {
    static const Python one;
    return one;
  }

  int (*addPendingCall)(int (*)(void*), void*) = find("Py_AddPendingCall");
  void (*decRef)(Object*) = find("Py_DecRef");
  void (*clearError)() = find("PyErr_Clear");
  Object* (*attribute)(Object*, const char*) = find("PyObject_GetAttrString");
  Object* (*item)(Object*, Object*) = find("PyObject_GetItem");
  Object* (*typeOf)(Object*) = find("PyObject_Type");
  Object* (*modules)() = find("PyImport_GetModuleDict");
  Object* (*keys)(Object*) = find("PyMapping_Keys");
  Object* (*values)(Object*) = find("PyMapping_Values");
  std::ptrdiff_t (*size)(Object*) = find("PyList_Size");
  Object* (*at)(Object*, std::ptrdiff_t) = find("PyList_GetItem");
  const char* (*utf8)(Object*) = find("PyUnicode_AsUTF8");
  unsigned long (*typeFlags)(Object*) = find("PyType_GetFlags");
  const char* (*capsuleName)(Object*) = find("PyCapsule_GetName");
  Object* (*selfOf)(Object*) = find("PyCFunction_GetSelf");
  Object* (*functionOf)(Object*) = find("PyInstanceMethod_Function");
  Object* capsuleType = find("PyCapsule_Type");
  Object* functionType = find("PyCFunction_Type");
  Object* methodType = find("PyInstanceMethod_Type");

  /// One is missing: it is no Python that this is for.
  bool isWhole() const { return isWhole_; }

 private:
  struct Symbol {
    void* address;
    template <typename Pointee>
    operator Pointee*() const {  // NOLINT: to whatever it is there
      return reinterpret_cast<Pointee*>(address);
    }
  };
  Symbol find(const char* name) {
    void* const found = ::dlsym(RTLD_DEFAULT, name);
    isWhole_ = isWhole_ && found;
    return {found};
  }
};

/// A reference of the program's Python.
class Owned {
 public:
  explicit Owned(Object* object) : object_(object) {
    if (!object_) Python::program().clearError();
  }
  ~Owned() {
    if (object_) Python::program().decRef(object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Object* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Object* const object_;
};

Owned attribute(Object* object, const char* name) {
  return Owned(Python::program().attribute(object, name));
}

std::string_view textOf(Object* unicode) {
  const char* const text = Python::program().utf8(unicode);
  if (!text) Python::program().clearError();
  return text ? text : "";
}

class Search {
 public:
  Search(const ImportRedirections& redirections, void* libtorchPython) {
    for (const loader::ImportRedirection& each : redirections)
      if (void* const original = ::dlsym(libtorchPython, std::string(each.symbol).c_str()))
        replacements_[original] = const_cast<void*>(each.replacement);
  }

  /// A module's or a type's members, and those of the types among them.
  void lookInto(Object* object, int depth = 0) {
    const Owned members = attribute(object, "__dict__");
    if (!members) return;
    const Owned values(python_.values(members.get()));
    for (std::ptrdiff_t i = 0; values && i < python_.size(values.get()); ++i) {
      Object* const value = python_.at(values.get(), i);
      const Owned type(python_.typeOf(value));
      if (depth < 2 && hasTypes(type.get()))
        lookInto(value, depth + 1);
      else
        replaceIn(type.get() == python_.methodType ? python_.functionOf(value) : value);
    }
  }

 private:
  /// Whether its instances are types.
  bool hasTypes(Object* type) const {
    constexpr unsigned long kSubclassOfType = 1UL << 31;  // Py_TPFLAGS_TYPE_SUBCLASS
    return (python_.typeFlags(type) & kSubclassOfType) != 0;
  }

  void replaceIn(Object* function) {
    // A record begins with three texts, a vector and the function that unpacks arguments; then
    // comes what that one keeps (pybind11/attr.h).
    constexpr std::size_t kKept = 7, kKeptWords = 3;
    const Owned type(python_.typeOf(function));
    if (type.get() != python_.functionType) return;
    Object* const keeper = python_.selfOf(function);
    void** const record = keeper ? recordKeptBy(keeper) : nullptr;
    if (!record) return;
    for (std::size_t i = kKept; i < kKept + kKeptWords; ++i)
      if (const auto found = replacements_.find(record[i]); found != replacements_.end())
        record[i] = found->second;
  }

  /// Null: keeps none. Up to pybind11 2 a record's keeper is a capsule, without a name in older
  /// ones; from 3 on it is an object of a type of its own. Both have its address behind what all
  /// objects begin with.
  void** recordKeptBy(Object* keeper) {
    static_assert(sizeof(void*) == 8);
    constexpr std::size_t kObjectHead = 16;  // reference count and type
    const Owned type(python_.typeOf(keeper));
    if (type.get() == python_.capsuleType) {
      const char* const name = python_.capsuleName(keeper);
      if (name && !isRecords(name)) return nullptr;
    } else {
      const auto [known, isNew] = keepsRecords_.try_emplace(type.get(), false);
      if (isNew) {
        const Owned name = attribute(type.get(), "__name__");
        known->second = name && isRecords(textOf(name.get()));
      }
      if (!known->second) return nullptr;
    }
    return *reinterpret_cast<void***>(reinterpret_cast<std::byte*>(keeper) + kObjectHead);
  }

  static bool isRecords(std::string_view name) {
    return name.find("function_record") != std::string_view::npos;
  }

  const Python& python_ = Python::program();
  std::unordered_map<void*, void*> replacements_;
  std::unordered_map<Object*, bool> keepsRecords_;  // by the keeper's type
};

struct Request {
  const ImportRedirections& redirections;
  void* libtorchPython;
  void (*done)();
};

int replaceInModules(void* of) noexcept try {
  const std::unique_ptr<const Request> request(static_cast<const Request*>(of));
  Search search(request->redirections, request->libtorchPython);
  const Python& python = Python::program();
  Object* const modules = python.modules();
  const Owned names(python.keys(modules));
  for (std::ptrdiff_t i = 0; names && i < python.size(names.get()); ++i) {
    Object* const name = python.at(names.get(), i);
    if (!textOf(name).starts_with("torch._C")) continue;
    const Owned module(python.item(modules, name));
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
  const Python& python = Python::program();
  if (!python.isWhole()) return;
  auto request = std::make_unique<Request>(Request{redirections, libtorchPython, done});
  if (python.addPendingCall(replaceInModules, request.get()) == 0) request.release();
}

}  // namespace multipy::bridge
