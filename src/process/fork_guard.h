// In a child of fork() multipy cannot be used: process/forked_child.h says why.
#pragma once

#include "process/forked_child.h"

namespace multipy::process {

/// Throws HandleError in a forked child; `doing` as in "call a ReplicatedObj".
void refuseInForkedChild(const char* doing);

}  // namespace multipy::process
