// libFuzzer's entry. Build with -DMULTIPY_FUZZ=ON and clang, then for instance
//   fuzz_elf -max_len=65536 corpus/
// with a few small libraries in corpus/.
#include <cstdint>

#include "fuzz/exercise_elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  multipy::elf::testing::exercise({bytes, bytes + size}, multipy::elf::Machine::x86_64());
  return 0;
}
