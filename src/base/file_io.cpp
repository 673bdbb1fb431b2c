#include "base/file_io.h"

#include <unistd.h>

#include <cerrno>

namespace multipy::base {

int writeAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

int writeAll(int descriptor, const std::string& text) {
  return writeAll(descriptor, std::as_bytes(std::span(text)));
}

std::optional<std::string> readAll(int descriptor, std::size_t limit) {
  std::string text;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > limit) return std::nullopt;
  }
}

}  // namespace multipy::base
