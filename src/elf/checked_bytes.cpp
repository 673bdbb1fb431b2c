#include "elf/checked_bytes.h"

#include <charconv>

namespace multipy::elf {

std::string hex(uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16).ptr;
  return "0x" + std::string(digits, end);
}

void fail(const std::string& file, const char* field, const std::string& found,
          const std::string& expected) {
  throw runtime::ElfError(file, field, found, expected);
}

void fail(const std::string& file, const char* field, uint64_t found, const std::string& expected) {
  fail(file, field, hex(found), expected);
}

std::span<const std::byte> CheckedBytes::range(uint64_t offset, uint64_t count,
                                               uint64_t elementSize, const char* field) const {
  if (offset > size() || count > (size() - offset) / elementSize)
    fail(file_, field, offset,
         "room for " + std::to_string(count) + " × " + std::to_string(elementSize) +
             " bytes before the end of the file at " + hex(size()));
  return bytes_.subspan(offset, count * elementSize);
}

}  // namespace multipy::elf
