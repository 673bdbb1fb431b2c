// How an interpreter comes by a ReplicatedObj's object, its storages, and the Python object in each
// interpreter that has used it.
//
// One from createMovable() is the object pickled. One from loadPickle() is a recipe: which
// pickle of the package each interpreter loads with its own importer; nothing is pickled.
//
// Threads: `package` and `origin` are not changed once made; the rest with the interpreter's GIL.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "abi/interpreter_api.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/object_table.h"
#include "runtime/packages/package_source.h"

namespace multipy::runtime {

struct ObjectVersion {
  explicit ObjectVersion(std::shared_ptr<PackageSource> from) : package(std::move(from)) {}

  /// The object in this interpreter, unpickled on first use. Throws what that raises.
  BorrowedReference objectIn(const Entered& inside);

  std::string_view wantedBy() const noexcept {
    return package ? std::string_view(package->name()) : std::string_view();
  }

  const std::shared_ptr<PackageSource> package;  // null: not from a package
  std::variant<Pickled, PackagedPickle> origin;
  ObjectTable objects;

 private:
  NewReference bringTo(const Entered& inside, Failure& failure);
};

}  // namespace multipy::runtime
