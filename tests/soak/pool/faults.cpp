#include "faults.h"

#include <cstdio>

namespace multipy::soak::pool {
namespace {

constexpr long kPrinted = 10;  // of each kind

}  // namespace

void Faults::note(const std::string& kind, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const long count = ++kinds_[kind];
  if (count <= kPrinted)
    std::fprintf(stderr, "%s: %.3000s\n%s", kind.c_str(), text.c_str(),
                 count == kPrinted ? "(further ones of this kind are only counted)\n" : "");
}

std::string Faults::byKind() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [kind, count] : kinds_)
    text += (text.empty() ? "" : ", ") + kind + " " + std::to_string(count);
  return text;
}

}  // namespace multipy::soak::pool
