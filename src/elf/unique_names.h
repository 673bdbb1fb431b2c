// Other names for a symbol, under which the hash table it is in still finds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "elf/symbol_hash.h"

namespace multipy::elf {

/// The name number `salt` among those of the same length and hash as `name`.
/// Salt 0 gives the name itself, different salts different names, and with one
/// salt different names stay different. Nothing where there are not that many:
/// a name of 8 characters has over a thousand, each further pair of characters
/// makes about 6 times as many.
std::optional<std::string> sameHashName(std::string_view name, uint32_t salt, SymbolHash hash);

}  // namespace multipy::elf
