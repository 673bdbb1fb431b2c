// The host's own functions for abi/value_makers.h.
//
// Threads: any.
#pragma once

namespace multipy {
struct ValueMakers;
}

namespace multipy::runtime {

const ValueMakers& valueMakers() noexcept;

}  // namespace multipy::runtime
