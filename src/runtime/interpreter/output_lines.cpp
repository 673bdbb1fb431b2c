#include "runtime/interpreter/output_lines.h"

#include <exception>

#include "base/mutex.h"

namespace multipy::runtime {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;

}  // namespace

/// One line, taken out of `pending` before the hook sees it: the hook may add to it.
void OutputLines::give(OutputStream stream, std::string& pending, std::size_t length,
                       std::size_t end) {
  const std::string line = pending.substr(0, length);
  pending.erase(0, end);
  if (hook_) hook_(slot_.number(), stream, line);
}

void OutputLines::add(OutputStream stream, std::string_view text) {
  const base::Lock lock(mutex_);
  std::string& pending = pending_[static_cast<std::size_t>(stream)];
  pending += text;
  for (;;) {
    const std::size_t newline = pending.find('\n');
    if (newline <= kLongestLine)
      give(stream, pending, newline, newline + 1);
    else if (pending.size() > kLongestLine)
      give(stream, pending, kLongestLine, kLongestLine);
    else
      return;
  }
}

void OutputLines::finish() noexcept {
  for (const OutputStream stream : {OutputStream::Stdout, OutputStream::Stderr}) {
    const base::Lock lock(mutex_);
    std::string& pending = pending_[static_cast<std::size_t>(stream)];
    while (!pending.empty()) {
      const std::size_t left = pending.size();
      try {
        add(stream, "");  // lines behind one that the hook threw at
        if (!pending.empty()) give(stream, pending, pending.size(), pending.size());
      } catch (...) {
        // By the contract of OutputHook. That line is gone: the loop ends, and where there was
        // no memory to take it out, all are.
        if (pending.size() >= left) pending.clear();
      }
    }
  }
}

}  // namespace multipy::runtime
