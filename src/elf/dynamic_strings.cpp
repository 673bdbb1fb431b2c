#include "elf/dynamic_strings.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "multipy/runtime/Exception.h"

namespace multipy::elf {

DynamicStrings::DynamicStrings(std::span<const std::byte> original) : original_(original) {
  // Should the last string lack its end, ours must not become part of it.
  if (!original.empty() && original.back() != std::byte{0}) added_.push_back('\0');
}

uint32_t DynamicStrings::add(std::string_view text) {
  if (const auto known = offsets_.find(std::string(text)); known != offsets_.end())
    return known->second;
  if (text.find('\0') != std::string_view::npos)
    throw runtime::InvalidArgument("editing a copy: the new name \"" + std::string(text.data()) +
                                   "\" goes on behind a NUL byte");
  const uint64_t offset = size();
  if (offset > std::numeric_limits<uint32_t>::max())
    throw runtime::InvalidArgument("editing a copy: the string table has outgrown 4 GiB");
  added_.append(text).push_back('\0');
  offsets_.emplace(text, static_cast<uint32_t>(offset));
  return static_cast<uint32_t>(offset);
}

void DynamicStrings::write(std::span<std::byte> out) const {
  if (out.size() != size())
    throw runtime::InternalError("writing an edited copy: the string table has " +
                                 std::to_string(size()) + " bytes, its place " +
                                 std::to_string(out.size()));
  std::copy(original_.begin(), original_.end(), out.begin());
  std::memcpy(out.data() + original_.size(), added_.data(), added_.size());
}

}  // namespace multipy::elf
