// References to Python objects on their way between an interpreter and the host.
//
// CPython's C API has two kinds and one type, PyObject*, for both: a borrowed reference is valid
// as long as something else keeps the object; a new one has to be given up by its receiver.
// Here they are two types. An interpreter makes a Reference (interpreter/common/reference.h) of a
// new one, the host an OwnedReference (runtime/interpreter/gil.h); both give it up by themselves.
#pragma once

#include <cstddef>
#include <utility>

struct _object;  // PyObject, opaque to the host

namespace multipy {

class BorrowedReference {
 public:
  constexpr BorrowedReference() noexcept = default;
  constexpr BorrowedReference(std::nullptr_t) noexcept {}
  constexpr explicit BorrowedReference(_object* object) noexcept : object_(object) {}

  constexpr explicit operator bool() const noexcept { return object_ != nullptr; }
  _object* get() const noexcept { return object_; }

 private:
  _object* object_ = nullptr;
};

/// Whatever it is moved into last has to take it over: nothing is given up by this type.
class [[nodiscard]] NewReference {
 public:
  constexpr NewReference() noexcept = default;
  constexpr NewReference(std::nullptr_t) noexcept {}
  explicit NewReference(_object* owned) noexcept : object_(owned) {}
  NewReference(NewReference&& other) noexcept : object_(other.release()) {}
  NewReference& operator=(NewReference&& other) noexcept {
    object_ = other.release();
    return *this;
  }

  constexpr explicit operator bool() const noexcept { return object_ != nullptr; }
  BorrowedReference borrowed() const noexcept { return BorrowedReference(object_); }
  /// The caller takes it over.
  _object* release() noexcept { return std::exchange(object_, nullptr); }

 private:
  _object* object_ = nullptr;
};

}  // namespace multipy
