// The host's functions, as this interpreter was given them.
//
// One copy of libinterpreter.so serves one interpreter, so this is a constant
// of the copy: set by attach() right after dlopen, before any other code runs
// here, and valid until the copy is unloaded.
#pragma once

#include "interpreter/host_services.h"

namespace multipy {

const HostServices* host() noexcept;
void connectHost(const HostServices* services) noexcept;

}  // namespace multipy
