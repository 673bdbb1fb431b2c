// Whole-file reading and writing on descriptors, with errors as values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace multipy::base {

/// Writes everything. 0, or errno.
int writeAll(int descriptor, std::span<const std::byte> bytes);
int writeAll(int descriptor, const std::string& text);

/// Reads to the end, at most `limit` bytes. Nothing if reading fails or there is more.
std::optional<std::string> readAll(int descriptor, std::size_t limit);

}  // namespace multipy::base
