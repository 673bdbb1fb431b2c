#include "loader/interpreter_names.h"

#include <elf.h>

#include <algorithm>
#include <array>

#include "loader/blake2b.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

constexpr std::array<std::string_view, 5> kReplaced = {"dlopen", "dlsym", "dladdr", "dlerror",
                                                       "dlclose"};

}  // namespace

std::string InterpreterNames::replacementOf(std::string_view name) {
  if (std::find(kReplaced.begin(), kReplaced.end(), name) == kReplaced.end()) return {};
  return "multipy_" + std::string(name);
}

InterpreterNames::InterpreterNames(const elf::SharedObject& payload) {
  Blake2b hash;
  for (uint32_t index = 1; index < payload.symbolCount(); ++index) {
    const elf::Symbol symbol = payload.symbol(index);
    if (symbol.defined && symbol.binding != STB_LOCAL) names_.emplace(symbol.name);
  }
  for (const std::string& name : names_) {
    hash.update(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  }
  digest_ = hash.finish();
  for (const std::string_view name : kReplaced) {
    if (exports(replacementOf(name))) continue;
    throw runtime::InternalError(payload.name() + ": does not export " + replacementOf(name) +
                                 ", which private libraries call in place of " + std::string(name) +
                                 "; the payload was built wrongly");
  }
}

}  // namespace multipy::loader
