// Shared objects: read, asked what the loader asks of them, and copied with edits.
#include "elf/minimal_library.h"
#include "fuzz/exercise_elf.h"
#include "fuzz/subject.h"
#include "loader/isolation_policy.h"
#include "loader/shared_pages.h"
#include "tools.h"

namespace multipy::fuzz {
namespace {

using elf::testing::MinimalLibrary;

/// Throws nothing but ElfError; none where SharedObject::parse() has accepted the file and
/// its symbols.
void askAsTheLoader(const elf::SharedObject& object) {
  static_cast<void>(loader::IsolationPolicy::whyUsesCApi(object));
  for (const elf::FileRange& range : loader::sharableRanges(object))
    promise(range.begin <= range.end && range.end <= object.bytes().size(),
            "pages outside of the file are to be shared");
}

MinimalLibrary withoutGnuHash() {
  MinimalLibrary library;
  library.remove(DT_GNU_HASH);
  return library;
}

Bytes compiled() {
  const elf::testing::Workshop shop;
  shop.write("v.map", "V1 { global: next; *Registry*; local: *; };");
  const auto library =
      shop.build(elf::testing::toolchains.front(), "seed.so", R"(
      #include <unistd.h>
      template <class T> struct Registry { static int entries; };
      template <class T> int Registry<T>::entries = 0;
      extern "C" int next() { return ++Registry<int>::entries + getpid(); })",
                 "-nostartfiles -Wl,-z,max-page-size=4096 -Wl,--hash-style=both "
                 "-Wl,--version-script=v.map -Wl,--build-id -Wl,-soname,libseed.so "
                 "-Wl,-rpath,'$ORIGIN' -Wl,--no-as-needed -lm");
  elf::testing::run(std::string(elf::testing::strip) + " " + library.string());
  return elf::testing::readFile(library);
}

}  // namespace

Outcome exercise(std::span<const std::byte> input) {
  const Bytes bytes(input.begin(), input.end());
  for (const auto* machine : {&elf::Machine::x86_64(), &elf::Machine::aarch64()}) {
    try {
      const auto object = elf::SharedObject::parse(bytes, "fuzzed.so", *machine);
      askAsTheLoader(object);
    } catch (const runtime::ElfError&) {
      continue;
    }
    const auto outcome = elf::testing::exercise(bytes, *machine);
    return outcome == elf::testing::Outcome::Copied ? Outcome::Accepted : Outcome::Refused;
  }
  return Outcome::Refused;
}

std::vector<Bytes> seeds() {
  return {MinimalLibrary().bytes(), withoutGnuHash().bytes(), compiled()};
}

std::vector<std::string> words() {
  return {
      "\x7f"
      "ELF",
      "libm.so.6",
      "libstdc++.so.6",
      "libother.so",
      "$ORIGIN",
      "${ORIGIN}",
      "getpid",
      "next",
      "Py_Initialize",
      "PyObject_Call"};
}

}  // namespace multipy::fuzz
