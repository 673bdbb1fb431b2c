// The environment variables that this interpreter's code sees.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace multipy {

/// "NAME=value" each: from now on they are this interpreter's own. Without a value: the
/// process's. Once, before Python starts.
void adoptEnvironment(const std::optional<std::vector<std::string>>& variables);

/// Before CPython reads the variable `environ`: it finds what the variables are now.
void lookAtEnvironment();

}  // namespace multipy
