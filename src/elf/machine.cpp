#include "elf/machine.h"

#include <elf.h>

namespace multipy::elf {

// The page size is what segments that we add are aligned to: the largest one
// that Linux uses on the machine, so that a copy loads whatever the kernel's
// choice is. (x86-64 always has 4 KiB; arm64 has 4, 16 or 64.)
const Machine& Machine::x86_64() {
  static constexpr Machine machine{"x86_64", EM_X86_64, 0x1000};
  return machine;
}

const Machine& Machine::aarch64() {
  static constexpr Machine machine{"aarch64", EM_AARCH64, 0x10000};
  return machine;
}

const Machine& Machine::host() {
#if defined(__x86_64__)
  return x86_64();
#elif defined(__aarch64__)
  return aarch64();
#else
#error "No row for this machine yet: add one above."
#endif
}

}  // namespace multipy::elf
