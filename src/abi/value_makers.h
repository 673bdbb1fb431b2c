// How an interpreter makes values that C++ may keep for longer than the interpreter lives.
//
// The classes behind a list, dict, tuple, complex number, enum member, object of TorchScript or
// Future are virtual, and defined in headers: each library has a vtable of its own for what it
// makes. One of libinterpreter.so's is gone with it, and to drop the value later would call what
// is no more. So the host makes them; its vtables stay.
//
// Threads: any. All of them throw std::bad_alloc where there is no memory.
#pragma once

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/enum_type.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <cstddef>
#include <string>
#include <vector>

namespace multipy {

struct ValueMakers {
  /// `type`: of one with field names; null: one without.
  c10::IValue (*tuple)(std::vector<c10::IValue>&& elements, const c10::TupleTypePtr& type);
  c10::impl::GenericList (*list)(const c10::TypePtr& elementType);
  c10::impl::GenericDict (*dict)(const c10::TypePtr& keyType, const c10::TypePtr& valueType);
  c10::IValue (*complexNumber)(c10::complex<double> value);
  c10::IValue (*enumMember)(const std::string& className, const c10::TypePtr& valueType,
                            std::vector<c10::EnumNameValue>&& members, const std::string& name,
                            c10::IValue&& value);
  /// Its attributes are still to be set.
  c10::intrusive_ptr<c10::ivalue::Object> (*object)(c10::StrongTypePtr type,
                                                    std::size_t attributes);
  /// Of any type, not completed.
  c10::intrusive_ptr<c10::ivalue::Future> (*future)();
};

}  // namespace multipy
