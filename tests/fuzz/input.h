// An input that stands for more than one file, taken apart: parts of text that end at a
// byte which no text has, and what is left behind them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fuzz/subject.h"

namespace multipy::fuzz {

class Input {
 public:
  static constexpr char separator = '\x1e';  // ASCII's own, RS

  explicit Input(std::span<const std::byte> bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }

  /// 0 where nothing is left.
  uint8_t byte() { return empty() ? 0 : std::to_integer<uint8_t>(take(1).front()); }

  /// Up to the next separator, which is skipped.
  std::string part() {
    const auto end = std::find(left_.begin(), left_.end(), std::byte{separator});
    const auto found = take(static_cast<std::size_t>(end - left_.begin()));
    if (!empty()) take(1);
    return textOf(found);
  }

  std::span<const std::byte> rest() { return take(left_.size()); }

  std::span<const std::byte> take(std::size_t atMost) {
    const auto taken = left_.first(std::min(atMost, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace multipy::fuzz
