#include "integrations/triton/python_environment_at.h"

#include <multipy/runtime/noop_environment.h>
#include <multipy/runtime/python_environment.h>

namespace multipy::triton {

std::shared_ptr<runtime::Environment> environmentAt(const std::string& prefix) {
  if (prefix.empty()) return std::make_shared<runtime::NoopEnvironment>();
  return std::make_shared<runtime::PythonEnvironment>(prefix);
}

}  // namespace multipy::triton
