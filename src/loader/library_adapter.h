// Knowledge of particular libraries, torch's above all, which the loader itself has none of.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/interpreter_id.h"
#include "elf/shared_object.h"

namespace multipy::loader {

/// The seam through which knowledge of particular libraries (torch) enters the
/// loader. Called under the loading lock. One adapter serves all spaces.
class LibraryAdapter {
 public:
  virtual ~LibraryAdapter() = default;

  /// Further symbols of the private copy of `library` to redirect to the
  /// interpreter: old name → name that libinterpreter.so exports. `defined` of
  /// them may be the library's own. Called before any copy is written or
  /// loaded; may throw to refuse the library (UnsupportedTorchError).
  struct Renames {
    std::map<std::string, std::string> undefined;
    std::map<std::string, std::string> defined;
    /// Part of the copy's cache key: changes when the tables change.
    std::string version;
  };
  virtual Renames renames(const elf::SharedObject& library) = 0;

  /// Before the private copy of `original` is given to dlopen in `slot`.
  virtual void beforeLoad(InterpreterId slot, const std::filesystem::path& original) = 0;
  /// After dlopen: also when it failed, then with a null handle. Called once
  /// per dlopen call that beforeLoad announced.
  virtual void afterLoad(InterpreterId slot, const std::filesystem::path& original,
                         void* handle) = 0;

  /// A private library has been mapped at [begin, end) for `slot` (each DSO
  /// once: the one asked for and every private one it brought along).
  virtual void mapped(InterpreterId slot, const void* begin, const void* end) = 0;
  /// The space in `slot` has been unloaded: what mapped() said of it is over,
  /// also where glibc could not unload all.
  virtual void unmapped(InterpreterId slot) = 0;
};

}  // namespace multipy::loader
