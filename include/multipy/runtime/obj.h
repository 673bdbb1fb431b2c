// A Python object of one interpreter, held by C++.
//
//   auto I = manager.acquireOne();
//   Obj sqrt = I.global("math", "sqrt");
//   double root = sqrt({2.0}).toIValue().toDouble();
//
// An Obj is a small value: copies refer to the same Python object. It belongs
// to the session that made it (InterpreterSession::isOwner) and can be used as
// long as that session lives; to take an object elsewhere, make a ReplicatedObj
// of it, or take its value with toIValue().
//
// Threads: every member but toIValue() && is const and may be called from any thread; each takes
// its interpreter's GIL for as long as it works (see interpreter_session.h for
// how to keep it over several calls). Two threads may not assign to one and the
// same Obj variable at once, nor give it up by toIValue() &&. Copying and dropping an Obj never
// waits for a GIL: where the thread does not hold it, the reference is given up by the thread that
// enters the interpreter next.
//
// Errors: HandleError when the session or its manager has gone, or an argument
// lives in another interpreter; InvalidArgument for an empty Obj or a null name;
// PythonException (ModuleNotFoundError) for what Python raises; ConversionError
// for a value that has no form on the other side. The object and its session
// stay usable after each of these.
#pragma once

#include <ATen/core/ivalue.h>

#include <concepts>
#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace multipy::runtime {

struct ObjectState;

class Obj {
 public:
  /// An empty Obj: it can be assigned to and asked nothing.
  Obj() noexcept = default;
  Obj(const Obj& other) noexcept;
  Obj(Obj&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Obj& operator=(Obj other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Obj();

  /// The object's value as C++ sees it. Tensors share their memory with Python.
  at::IValue toIValue() const&;
  /// The same of an Obj that nothing needs any more, as in `f({x}).toIValue()`: Python gives the
  /// object up in the same step. It is empty afterwards, also where this throws a ConversionError.
  at::IValue toIValue() &&;

  /// Calls the object with positional arguments: Python objects of the same
  /// interpreter (also of another session there), or C++ values.
  Obj operator()(at::ArrayRef<Obj> args) const;
  Obj operator()(at::ArrayRef<at::IValue> args) const;
  Obj operator()(std::initializer_list<at::IValue> args) const;
  /// For `f({0, 0})`, which could else be two null pointers (and is, to clang).
  template <std::integral Integer>
  requires std::convertible_to<Integer, at::IValue> Obj
  operator()(std::initializer_list<Integer> args) const {
    return (*this)(at::ArrayRef<at::IValue>(std::vector<at::IValue>(args.begin(), args.end())));
  }

  /// Calls the object with positional and named arguments.
  Obj callKwargs(const std::vector<at::IValue>& args,
                 const std::unordered_map<std::string, at::IValue>& kwargs) const;
  Obj callKwargs(const std::unordered_map<std::string, at::IValue>& kwargs) const;

  /// Python's hasattr(): an error other than AttributeError is thrown.
  bool hasattr(const char* name) const;
  /// Python's getattr().
  Obj attr(const char* name) const;

 private:
  friend struct ObjectState;
  explicit Obj(ObjectState* state) noexcept : state_(state) {}

  ObjectState* state_ = nullptr;  // one of its counted uses is ours
};

}  // namespace multipy::runtime
