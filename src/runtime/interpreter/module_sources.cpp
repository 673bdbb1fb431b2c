#include "runtime/interpreter/module_sources.h"

#include <functional>
#include <utility>

#include "base/mutex.h"
#include "multipy/runtime/Exception.h"

namespace multipy::runtime {

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

ModuleSources::Table::~Table() {
  for (auto& list : lists_) {
    for (const Entry* each = list.load(); each;) delete std::exchange(each, each->next);
  }
}

std::size_t ModuleSources::Table::listOf(const std::string& name) {
  return std::hash<std::string>()(name) % kLists;
}

void ModuleSources::Table::add(std::string name, std::string source) {
  std::atomic<const Entry*>& first = lists_[listOf(name)];
  first.store(new Entry{std::move(name), std::move(source), first.load()});
}

const ModuleSources::Entry* ModuleSources::Table::find(const std::string& name) const {
  const Entry* each = lists_[listOf(name)].load();
  while (each && each->name != name) each = each->next;
  return each;
}

void ModuleSources::add(std::string name, std::string source) {
  if (!isModuleName(name))
    throw InvalidArgument("registerModuleSource: the module name is '" + name +
                          "', expected one that Python can import, like \"tools\" or "
                          "\"tools.strings\"");
  const base::Lock lock(mutex_);
  for (std::size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1)) {
    const std::string package = name.substr(0, dot);
    if (!packages_.find(package)) packages_.add(package, {});
  }
  const bool isNew = !sources_.find(name);
  sources_.add(std::move(name), std::move(source));
  if (isNew) ++count_;
}

std::optional<std::string> ModuleSources::find(const std::string& name) const {
  const Entry* const found = sources_.find(name);
  if (!found) return std::nullopt;
  return found->source;
}

bool ModuleSources::hasBelow(const std::string& package) const {
  return packages_.find(package) != nullptr;
}

std::size_t ModuleSources::count() const { return count_.load(); }

}  // namespace multipy::runtime
