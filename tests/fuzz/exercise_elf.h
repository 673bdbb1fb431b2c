// What the fuzzer and the mutation test do with bytes that claim to be a shared
// object: everything that the loader would. Only ElfError may come of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "elf/edited_copy.h"
#include "elf/library_names.h"
#include "multipy/runtime/Exception.h"

namespace multipy::elf::testing {

/// How far the bytes came.
enum class Outcome { Refused, Read, Copied };

inline Edits allEdits() {
  Edits edits;
  edits.soname = "libfuzzed-copy.so";
  edits.neededFirst = {"/private/libinterpreter.so"};
  edits.needed = {{"libm.so.6", "/private/libm.so"}, {"libother.so", "/private/libother.so"}};
  edits.neededDropped = {"libstdc++.so.6"};
  edits.origin = "/opt/environment/lib";
  edits.renameUndefined = [](std::string_view name) {
    return name.starts_with("g") ? "renamed_" + std::string(name) : std::string();
  };
  edits.renameDefined = {{"next", "elsewhere"}};
  return edits;
}

/// Throws unless the copy is its original outside of rangesEditedInPlace().
inline void checkUnedited(const SharedObject& original, std::span<const std::byte> copy) {
  const auto before = original.bytes();
  uint64_t at = 0;
  const auto checkUpTo = [&](uint64_t end) {
    if (end > at && !std::equal(before.begin() + at, before.begin() + end, copy.begin() + at))
      throw std::logic_error("edited outside of rangesEditedInPlace()");
  };
  for (const FileRange& range : rangesEditedInPlace(original)) {
    checkUpTo(range.begin);
    at = std::max(at, range.end);
  }
  checkUpTo(before.size());
}

/// Throws unless the copy has the names that it was to get.
inline void checkNames(const SharedObject& original, const Edits& edits, const SharedObject& copy) {
  if (copy.soname() != edits.soname) throw std::logic_error("the copy has another soname");
  std::vector<std::string> expected = edits.neededFirst;
  for (const std::string_view name : original.needed()) {
    const auto edited = editedName(name, original, edits);
    if (edited && std::ranges::find(edits.neededFirst, *edited) == edits.neededFirst.end())
      expected.push_back(*edited);
  }
  if (!std::ranges::equal(copy.needed(), expected))
    throw std::logic_error("the copy needs other libraries");
  for (const std::string_view path : {copy.rpath(), copy.runpath()})
    if (expandOrigin(path, edits.origin) != path)
      throw std::logic_error("$ORIGIN is left in the copy");
  if (copy.symbolCount() != original.symbolCount())
    throw std::logic_error("the copy has another number of symbols");
}

inline Outcome exercise(std::vector<std::byte> bytes, const Machine& machine) {
  auto outcome = Outcome::Refused;
  try {
    const auto object = SharedObject::parse(std::move(bytes), "fuzzed.so", machine);
    static_cast<void>(object.needed());
    for (uint32_t i = 1; i < object.symbolCount(); ++i) static_cast<void>(object.symbol(i));
    outcome = Outcome::Read;
    const Edits edits = allEdits();
    auto copy = edit(object, edits);
    outcome = Outcome::Copied;
    checkUnedited(object, copy.bytes);
    // Damage that the first reading has no reason to look at may refuse this
    // one, and in no other way.
    const auto again = SharedObject::parse(std::move(copy.bytes), "copy of fuzzed.so", machine);
    checkNames(object, edits, again);
    static_cast<void>(edit(again, edits));
  } catch (const runtime::ElfError&) {
  }
  return outcome;
}

}  // namespace multipy::elf::testing
