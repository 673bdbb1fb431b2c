#include "printed_lines.h"

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

namespace multipy::soak {

void PrintedLines::add(runtime::OutputStream stream, std::string_view line) {
  if (!line.starts_with(kMark)) {
    std::fprintf(stderr, "printed: %.*s\n", static_cast<int>(line.size()), line.data());
    return;
  }
  const std::string token(line.substr(0, line.find(' ', kMark.size())));
  const std::lock_guard lock(mutex_);
  lines_[{stream, token}].emplace_back(line);
}

std::size_t PrintedLines::count(const Key& key) {
  const std::lock_guard lock(mutex_);
  return lines_[key].size();
}

// A line may be on its way when print() has returned: another thread, which prints in the same
// interpreter, gives it together with its own.
PrintedLines::Lines PrintedLines::take(runtime::OutputStream stream, const std::string& token,
                                       std::size_t count) {
  const Key key{stream, token};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (this->count(key) < count && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::lock_guard lock(mutex_);
  Lines taken = std::move(lines_[key]);
  lines_.erase(key);
  return taken;
}

}  // namespace multipy::soak
