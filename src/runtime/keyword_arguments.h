// A call's named arguments.
#pragma once

#include <ATen/core/ivalue.h>

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi/interpreter_api.h"

namespace multipy::runtime {

/// Named arguments in the form that interpreters take them: pointers into the
/// user's map.
class KeywordArguments {
 public:
  explicit KeywordArguments(const std::unordered_map<std::string, at::IValue>& named)
      : size_(named.size()), many_(size_ > few_.size() ? size_ : 0) {
    KeywordArgument* next = many_.empty() ? few_.data() : many_.data();
    for (const auto& [name, value] : named) *next++ = {&name, &value};
  }
  const KeywordArgument* data() const noexcept {
    return many_.empty() ? few_.data() : many_.data();
  }
  std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_;
  std::array<KeywordArgument, 8> few_{};  // spares an allocation
  std::vector<KeywordArgument> many_;
};

}  // namespace multipy::runtime
