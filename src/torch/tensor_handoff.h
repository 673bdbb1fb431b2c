// What torch_router.h leaves out of the hand-off of tensors. See the essay in
// tensor_handoff.cpp.
#pragma once

#include <c10/core/TensorImpl.h>

namespace multipy::routing {

/// One block of bytes with sizes and strides, and nothing else that would have to be
/// looked at: no other layout, no wrapper, no subclass of TensorImpl, no metadata.
bool isPlain(const c10::TensorImpl& tensor);

}  // namespace multipy::routing
