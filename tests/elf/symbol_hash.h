// The two hash functions by which the dynamic linker finds symbols, one step at
// a time: the hash of a name is its bytes fed, one after another, into a state.
#pragma once

#include <cstdint>
#include <string_view>

namespace multipy::elf {

enum class SymbolHash { Gnu, SysV };

constexpr uint32_t hashStart(SymbolHash hash) { return hash == SymbolHash::Gnu ? 5381 : 0; }

constexpr uint32_t hashStep(SymbolHash hash, uint32_t state, uint8_t byte) {
  if (hash == SymbolHash::Gnu) return state * 33 + byte;
  state = (state << 4) + byte;
  const uint32_t top = state & 0xf0000000;
  return (state ^ (top >> 24)) & ~top;
}

constexpr uint32_t symbolHash(SymbolHash hash, std::string_view name) {
  uint32_t state = hashStart(hash);
  for (const char c : name) state = hashStep(hash, state, static_cast<uint8_t>(c));
  return state;
}

}  // namespace multipy::elf
