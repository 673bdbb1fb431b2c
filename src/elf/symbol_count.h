// How many entries .dynsym has. Nothing in the dynamic section says so.
#pragma once

#include <cstdint>

namespace multipy::elf {

class SharedObject;

/// Counts the dynamic symbols of `object`, whose segments and dynamic section
/// have been read, and checks the hash tables on the way. Throws ElfError.
uint32_t countSymbols(const SharedObject& object);

}  // namespace multipy::elf
