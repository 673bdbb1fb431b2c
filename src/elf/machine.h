// What differs between the machines whose shared objects we read: numbers, and
// no code. A new 64-bit little-endian machine is one more row in machine.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace multipy::elf {

struct Machine {
  std::string_view name;  // as in `uname -m`
  uint16_t elfMachine;    // e_machine
  uint64_t maxPageSize;   // p_align of segments we add

  static const Machine& x86_64();
  static const Machine& aarch64();
  /// The machine this was compiled for.
  static const Machine& host();
};

}  // namespace multipy::elf
