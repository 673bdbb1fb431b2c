// Numbers of bytes for people.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace multipy::tools {

/// "12.3 MB"
inline std::string sizeText(std::uintmax_t bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

}  // namespace multipy::tools
