// A method of a ReplicatedObj as a torch::IMethod, the interface that TorchScript
// methods have too.
//
//   PythonMethodWrapper forward(model, "forward");
//   at::Tensor y = forward({x}).toTensor();
//   forward.getArgumentNames();               // {"x"}
//
// Threads: every member from any thread, except that the first call of
// getArgumentNames() (which torch caches without a lock) may not run in two
// threads at once.
// Errors: as ReplicatedObj; PythonException if there is no such attribute.
#pragma once

#include <torch/csrc/api/include/torch/imethod.h>

#include <string>
#include <vector>

#include "multipy/runtime/replicated_obj.h"

namespace multipy::runtime {

class PythonMethodWrapper : public torch::IMethod {
 public:
  PythonMethodWrapper(ReplicatedObj model, std::string methodName);

  const std::string& name() const override { return methodName_; }  // as it was given
  c10::IValue operator()(std::vector<c10::IValue> args,
                         const IValueMap& kwargs = IValueMap()) const override;  // its result

 private:
  void setArgumentNames(std::vector<std::string>& names) const override;

  ReplicatedObj model_;
  std::string methodName_;
};

}  // namespace multipy::runtime
