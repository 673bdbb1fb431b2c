// What private copies may expect of libinterpreter.so: the names it exports.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "elf/shared_object.h"

namespace multipy::loader {

class InterpreterNames {
 public:
  /// Reads them from a payload. Throws ElfError, or InternalError if it does
  /// not export what every payload has to.
  explicit InterpreterNames(const elf::SharedObject& payload);
  InterpreterNames(InterpreterNames&&) = delete;  // names_ points into text_

  bool exports(std::string_view name) const { return names_.contains(name); }
  /// Digest of all names: part of the key of every copy that was made for them.
  const std::string& digest() const noexcept { return digest_; }

  /// Where private code's use of the undefined symbol `name` goes, because the
  /// system's function of that name does not know private libraries: "dlopen" →
  /// "multipy_dlopen". Empty for all other names.
  static std::string replacementOf(std::string_view name);
  /// All names for which that is not empty.
  static std::span<const std::string_view> replaced() noexcept;

 private:
  std::string text_;  // the names, each with its null character
  std::unordered_set<std::string_view> names_;
  std::string digest_;
};

}  // namespace multipy::loader
