// The resident copy: one of libinterpreter.so and libtorch_python that belongs
// to no interpreter and is never unloaded. It takes the registrations that torch
// keeps once per process, so that every real interpreter can be unloaded
// (src/torch_bridge/torch_bridge.h).
#pragma once

#include <memory>

#include "loader/copy_cache.h"

namespace multipy::runtime {

/// Tells the router how the resident copy is made, with its copies in `cache`: that of the
/// interpreter that was started last before torch is first needed. Any thread.
void prepareResidentCopy(std::shared_ptr<loader::CopyCache> cache);

}  // namespace multipy::runtime
