#include "runtime/module_sources.h"

#include <utility>

#include "multipy/runtime/Exception.h"

namespace multipy::runtime {
namespace {

// Python allows letters of any script; what it can never import is an empty
// part, a part that begins with a digit, and ASCII that is no letter.
bool isModuleName(const std::string& name) {
  bool atStart = true;
  for (const unsigned char c : name) {
    if (c == '.') {
      if (atStart) return false;
      atStart = true;
      continue;
    }
    const bool letter = c == '_' || c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !(digit && !atStart)) return false;
    atStart = false;
  }
  return !atStart;
}

}  // namespace

void ModuleSources::add(std::string name, std::string source) {
  if (!isModuleName(name))
    throw InvalidArgument("registerModuleSource: the module name is '" + name +
                          "', expected one that Python can import, like \"tools\" or "
                          "\"tools.strings\"");
  const std::lock_guard lock(mutex_);
  sources_.insert_or_assign(std::move(name), std::move(source));
}

std::optional<std::string> ModuleSources::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(name);
  if (found == sources_.end()) return std::nullopt;
  return found->second;
}

bool ModuleSources::hasBelow(const std::string& package) const {
  const std::string beginning = package + ".";
  const std::lock_guard lock(mutex_);
  const auto first = sources_.lower_bound(beginning);
  return first != sources_.end() && first->first.starts_with(beginning);
}

std::size_t ModuleSources::count() const {
  const std::lock_guard lock(mutex_);
  return sources_.size();
}

}  // namespace multipy::runtime
