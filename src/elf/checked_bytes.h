// The only way in which numbers get out of a file that may be damaged: a span
// of bytes that knows its file's name, and refuses to read past its end.
//
// Tables in a file need not be aligned for the host, so values are copied out,
// never pointed at. Files and hosts are both little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "multipy/runtime/Exception.h"

namespace multipy::elf {

static_assert(std::endian::native == std::endian::little,
              "values are copied from little-endian files as they are");

/// `value` as "0x2a".
std::string hex(uint64_t value);

/// Throws ElfError: `field` of `file` is `found` and should be `expected`.
[[noreturn]] void fail(const std::string& file, const char* field, uint64_t found,
                       const std::string& expected);
[[noreturn]] void fail(const std::string& file, const char* field, const std::string& found,
                       const std::string& expected);

class CheckedBytes {
 public:
  /// Neither the bytes nor the name are copied.
  CheckedBytes(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), file_(file) {}

  uint64_t size() const noexcept { return bytes_.size(); }
  const std::string& file() const noexcept { return file_; }

  /// `count` elements of `elementSize` bytes at `offset`. Throws ElfError about
  /// `field` unless they all lie within the file.
  std::span<const std::byte> range(uint64_t offset, uint64_t count, uint64_t elementSize,
                                   const char* field) const;

  template <class T>
  T load(uint64_t offset, const char* field) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, range(offset, 1, sizeof(T), field).data(), sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& file_;
};

/// Element `index` of a table whose range has been checked before.
template <class T>
T element(std::span<const std::byte> table, uint64_t index) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, table.subspan(index * sizeof(T), sizeof(T)).data(), sizeof(T));
  return value;
}

/// Puts `value` at `offset` of bytes that are being written.
template <class T>
void store(std::span<std::byte> bytes, uint64_t offset, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    throw runtime::InternalError("writing an edited copy: offset " + hex(offset) +
                                 " is behind the end at " + hex(bytes.size()));
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

/// Least multiple of `alignment` (a power of two) that is not below `value`.
constexpr uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace multipy::elf
