// Values with values in them, and a text of them that soak_values.canonical() writes alike.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "random.h"

namespace multipy::soak {

/// Numbers, texts, lists, tuples and dicts, `depth` levels of them at most.
at::IValue nestedValue(Random& random, int depth);
/// Tells values and types apart, also numbers that print alike.
std::string canonical(const at::IValue& value);

}  // namespace multipy::soak
