// The host's functions, as this interpreter was given them.
//
// One copy of libinterpreter.so serves one interpreter, so this is a constant
// of the copy: set by attach() right after dlopen, before any other code runs
// here, and valid until the copy is unloaded.
#pragma once

#include "abi/host_services.h"

namespace multipy {

const HostServices* host() noexcept;
void connectHost(const HostServices* services) noexcept;

/// What crosses while one lives, on this thread, is one crossing: tensors that have a
/// storage in common keep it in common.
class CrossingTogether {
 public:
  CrossingTogether() { host()->openCrossing(); }
  ~CrossingTogether() { host()->closeCrossing(); }
  CrossingTogether(const CrossingTogether&) = delete;
  CrossingTogether& operator=(const CrossingTogether&) = delete;
};

}  // namespace multipy
