#include "loader/interpreter_names.h"

#include <elf.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/blake2b.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

// Of the rows of c_functions.def, those that private libraries find.
#define MULTIPY_FOR_LIBPYTHON(name)
#define MULTIPY_FOR_PRIVATE_LIBRARIES(name) #name,
#define MULTIPY_FOR_BOTH(name) #name,
#define MULTIPY_C_FUNCTION(name, callers) MULTIPY_FOR_##callers(name)
constexpr std::string_view kReplaced[] = {
#include "loader/c_functions.def"
};

}  // namespace

std::string InterpreterNames::replacementOf(std::string_view name) {
  if (std::ranges::find(kReplaced, name) == std::end(kReplaced)) return {};
  return "multipy_" + std::string(name);
}

std::span<const std::string_view> InterpreterNames::replaced() noexcept { return kReplaced; }

InterpreterNames::InterpreterNames(const elf::SharedObject& payload) {
  // (In the order of the table, which the linker makes by the names' hashes.)
  for (uint32_t index = 1; index < payload.symbolCount(); ++index) {
    const elf::Symbol symbol = payload.symbol(index);
    if (symbol.defined && symbol.binding != STB_LOCAL) (text_ += symbol.name) += '\0';
  }
  for (std::size_t at = 0; at < text_.size(); at = text_.find('\0', at) + 1)
    names_.emplace(text_.c_str() + at);
  digest_ = base::Blake2b::digest(std::as_bytes(std::span(text_)));
  for (const std::string_view name : kReplaced) {
    if (exports(replacementOf(name))) continue;
    throw runtime::InternalError(payload.name() + ": does not export " + replacementOf(name) +
                                 ", which private libraries call in place of " + std::string(name) +
                                 "; the payload was built wrongly");
  }
}

}  // namespace multipy::loader
