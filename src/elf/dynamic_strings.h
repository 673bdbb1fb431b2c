// .dynstr of an edited copy: the original's strings where they were, new ones
// behind them, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace multipy::elf {

class DynamicStrings {
 public:
  /// `original` is not copied and has to outlive this object.
  explicit DynamicStrings(std::span<const std::byte> original);

  /// Offset of `text` in the whole table. InvalidArgument if `text` has a NUL
  /// byte in it, or the table outgrows the 32 bits of st_name.
  uint32_t add(std::string_view text);

  uint64_t size() const noexcept { return original_.size() + added_.size(); }
  /// Writes the whole table to `out`, which has size() bytes.
  void write(std::span<std::byte> out) const;

 private:
  std::span<const std::byte> original_;
  std::string added_;
  std::unordered_map<std::string, uint32_t> offsets_;  // of what was added
};

}  // namespace multipy::elf
