#include "integrations/triton/shared_weights.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace multipy::triton {

void SharedWeights::share(const runtime::InterpreterSession& session, HostInterpreter::Key key) {
  constexpr const char* kModule = "_multipy_triton_weights";
  // A tuple of (key, tensor).
  const at::IValue found = session.global(kModule, "find")({key}).toIValue();
  std::vector<at::IValue> known;
  {
    const std::lock_guard lock(mutex_);
    for (const at::IValue& each : found.toTupleRef().elements()) {
      const auto& pair = each.toTupleRef().elements();
      known.emplace_back(all_.try_emplace(pair[0].toStringRef(), pair[1].toTensor()).first->second);
    }
  }
  session.global(kModule, "use")({c10::ivalue::Tuple::create(std::move(known))});
}

}  // namespace multipy::triton
