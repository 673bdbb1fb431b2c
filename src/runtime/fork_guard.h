// In a child of fork() multipy cannot be used: torch/forked_child.h says why.
#pragma once

#include "torch/forked_child.h"

namespace multipy::runtime {

using routing::inForkedChild;

/// Throws HandleError in a forked child; `doing` as in "call a ReplicatedObj".
void refuseInForkedChild(const char* doing);

}  // namespace multipy::runtime
