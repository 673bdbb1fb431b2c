// Interpreters with and without slimTorch, and what Python code gives in them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "multipy/runtime/interpreter.h"
#include "multipy/runtime/noop_environment.h"

namespace multipy::runtime {

inline Interpreter interpreter(const InterpreterOptions& options) {
  return Interpreter(std::make_shared<NoopEnvironment>(), options);
}

inline Interpreter interpreter(bool slim) {
  InterpreterOptions options;
  options.slimTorch = slim;
  return interpreter(options);
}

/// The value of `expression` as text, after `statements`, in a namespace of their own.
inline std::string text(const Interpreter& in, const std::string& statements,
                        const std::string& expression) {
  auto I = in.acquireSession();
  const Obj names = I.global("builtins", "dict")(std::vector<Obj>());
  I.global("builtins", "exec")({I.fromIValue(statements), names});
  return I.global("builtins", "eval")({I.fromIValue("str(" + expression + ")"), names})
      .toIValue()
      .toStringRef();
}

}  // namespace multipy::runtime
