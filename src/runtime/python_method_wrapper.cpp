#include "multipy/runtime/python_method_wrapper.h"

#include <utility>

#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/keyword_arguments.h"
#include "runtime/replicated_state.h"

namespace multipy::runtime {

PythonMethodWrapper::PythonMethodWrapper(ReplicatedObj model, std::string methodName)
    : model_(std::move(model)), methodName_(std::move(methodName)) {}

c10::IValue PythonMethodWrapper::operator()(std::vector<c10::IValue> args,
                                            const IValueMap& kwargs) const {
  const KeywordArguments named(kwargs);
  return model_.state().call(methodName_.c_str(), args, named.data(), named.size());
}

void PythonMethodWrapper::setArgumentNames(std::vector<std::string>& names) const {
  const auto version = model_.state().version();
  const Reservation reservation(*model_.state().manager);
  const auto& core = reservation.core();
  const Entered inside(*core, "ask a method for its arguments");
  Failure failure;
  const OwnedReference method(
      inside, inside.python().attr(version->objectIn(inside), methodName_.c_str(), failure));
  if (!method || !inside.python().argumentNames(method.get(), &names, failure))
    throwFailure(failure, version->wantedBy());
}

}  // namespace multipy::runtime
