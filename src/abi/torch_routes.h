// Where a private libtorch_python's redirected calls end up.
//
// libtorch_python calls some sixty functions that change state which libtorch_cpu has once per
// process. In private copies those calls are renamed to functions of libinterpreter.so
// (interpreter/torch/trampolines.cpp), which know their interpreter and pass its id on to this
// table, implemented by the host (src/torch_bridge). redirects.def says which name goes where, and
// how arguments are passed.
//
// Threads: as the functions of torch that they stand for. No function waits for
// a GIL. The functions may throw c10::Error, where torch's own would.
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "base/interpreter_id.h"

struct _object;
namespace c10 {
struct FunctionSchema;
struct OperatorName;
}  // namespace c10

namespace multipy {

/// A std::unique_ptr as it is returned: one pointer, through memory.
struct OwnedPointer {
  explicit OwnedPointer(void* p) : pointer(p) {}
  OwnedPointer(const OwnedPointer&) = delete;
  ~OwnedPointer() {}
  void* pointer;
};

/// An object of a class that only some versions of torch have, as it is returned: it is made in
/// memory of the caller's (whose address comes in a register of its own on 64-bit ARM, and before
/// the arguments on x86-64), which ends it.
struct ReturnedInPlace {
  /// make(void*) makes it there. It may be larger than this.
  template <typename Make>
  explicit ReturnedInPlace(const Make& make) {
    make(static_cast<void*>(this));
  }
  ReturnedInPlace(const ReturnedInPlace&) = delete;
  ~ReturnedInPlace() {}
};

/// What stands between the parentheses of a row's parameters, behind another one.
#define MULTIPY_FURTHER(...) __VA_OPT__(, ) __VA_ARGS__

struct TorchRoutes {
#define MULTIPY_REDIRECT(route, result, parameters, ...) \
  result (*route)(InterpreterId MULTIPY_FURTHER parameters);
#include "abi/redirects.def"

  // --- for what libinterpreter.so does by hand
  /// Of an operator, whose Python object each interpreter keeps for itself.
  struct OperatorFacts {
    const void* identity;      // the same for all handles of one operator
    std::uint64_t generation;  // raised when an identity may get another meaning
    const std::string* name;   // "aten::add"
    const std::string* overload;
  };
  OperatorFacts (*operatorFacts)(const void* operatorHandle);
  /// What purge() shall call, with the GIL, to drop such objects.
  void (*onPurge)(InterpreterId interpreter, void (*dropCaches)());
  /// Throws c10::Error with this text.
  void (*fail)(const char* message);
  /// AnomalyMode::set_enabled(bool, bool), after this interpreter's own variables have
  /// been set (anomaly_mode.h)
  void (*setAnomalyMode)(InterpreterId interpreter, bool enabled, bool checkNan);
};

}  // namespace multipy
