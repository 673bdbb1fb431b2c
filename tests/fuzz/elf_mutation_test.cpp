// The fuzzer's little sister, for every day: real libraries and a minimal one
// are damaged in many small ways, always the same ones. None may crash the
// reader or the editor or come out as anything else than an ElfError. Run it
// under AddressSanitizer and UndefinedBehaviorSanitizer too.
#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "elf/minimal_library.h"
#include "fuzz/exercise_elf.h"
#include "fuzz/mutations.h"
#include "tools.h"

namespace multipy::elf::testing {
namespace {

constexpr int mutationsPerSeed = 3'000;

struct Range {
  uint64_t offset, size;
};

// The parts of a file that the reader looks at: there damage matters.
std::vector<Range> metadata(const std::vector<std::byte>& bytes, const Machine& machine) {
  const auto object = SharedObject::parse(bytes, "seed.so", machine);
  std::vector<Range> ranges{{0, sizeof(Elf64_Ehdr)}};
  const auto add = [&](uint64_t offset, uint64_t size) {
    ranges.push_back({offset, std::min<uint64_t>(size, bytes.size() - offset)});
  };
  const auto addTable = [&](int64_t tag, uint64_t size) {
    if (const auto vaddr = object.dynamicValue(tag))
      add(object.fileOffset(*vaddr, 1, "seed"), size);
  };
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  add(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  if (header.e_shoff != 0) add(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  for (const Segment& s : object.segments())
    if (s.type == PT_DYNAMIC || s.type == PT_NOTE) add(s.offset, s.fileSize);
  addTable(DT_GNU_HASH, 64);
  addTable(DT_HASH, 64);
  addTable(DT_VERNEED, 128);
  addTable(DT_VERDEF, 128);
  addTable(DT_RELA, 96);
  add(static_cast<uint64_t>(object.symbolTable().data() - object.bytes().data()),
      object.symbolTable().size());
  add(static_cast<uint64_t>(object.stringTable().data() - object.bytes().data()),
      object.stringTable().size());
  if (const auto versions = object.versionTable(); !versions.empty())
    add(static_cast<uint64_t>(versions.data() - object.bytes().data()), versions.size());
  return ranges;
}

class Mutator {
 public:
  Mutator(const std::vector<std::byte>& seed, const Machine& machine, uint32_t number)
      : seed_(seed), ranges_(metadata(seed, machine)), random_(number) {}

  std::vector<std::byte> next() {
    auto bytes = seed_;
    for (auto changes = 1 + pick(3); changes > 0; --changes) changeOne(bytes);
    if (pick(20) == 0) bytes.resize(pick(bytes.size() + 1));
    return bytes;
  }

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }

  void changeOne(std::vector<std::byte>& bytes) {
    const Range range = ranges_[pick(ranges_.size())];
    const std::size_t width = std::size_t{1} << pick(4);
    const uint64_t at = range.offset + pick(range.size) / width * width;
    if (at + width > bytes.size()) return;
    uint64_t value = 0;
    std::memcpy(&value, &bytes[at], width);
    value = fuzz::mutated(value, width, random_);
    std::memcpy(&bytes[at], &value, width);
  }

  const std::vector<std::byte>& seed_;
  std::vector<Range> ranges_;
  std::mt19937_64 random_;  // the standard fixes its numbers
};

void expectOnlyElfErrors(const std::vector<std::byte>& seed, const Machine& machine,
                         uint32_t number) {
  ASSERT_EQ(exercise(seed, machine), Outcome::Copied);
  Mutator mutator(seed, machine, number);
  std::array<int, 3> outcomes{};
  for (int i = 0; i < mutationsPerSeed; ++i) {
    const auto mutated = mutator.next();
    try {
      ++outcomes[static_cast<std::size_t>(exercise(mutated, machine))];
    } catch (const std::exception& error) {
      FAIL() << "mutation " << i << ": " << typeid(error).name() << ": " << error.what();
    }
  }
  // Mutations that are all refused, or all harmless, would prove little.
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::Refused)], mutationsPerSeed / 20);
  EXPECT_GT(outcomes[static_cast<std::size_t>(Outcome::Copied)], mutationsPerSeed / 20);
}

TEST(ElfMutations, OfAMinimalLibrary) {
  expectOnlyElfErrors(MinimalLibrary().bytes(), Machine::x86_64(), 1);
}

class ElfMutations : public ::testing::TestWithParam<Toolchain> {};

TEST_P(ElfMutations, OfARealLibrary) {
  const Workshop shop;
  shop.write("v.map", "V1 { global: next; *Registry*; }; V2 { global: other; local: *; } V1;");
  const auto library = shop.build(GetParam(), "seed.so", R"(
      #include <cmath>
      #include <unistd.h>
      #include <string>
      template <class T> struct Registry { static int entries; };
      template <class T> int Registry<T>::entries = 0;
      extern "C" int next() { return ++Registry<int>::entries + getpid(); }
      extern "C" double other(double x) { std::string s(int(x), 'x'); return std::cos(x) + s.size(); })",
                                  "-Wl,--hash-style=both -Wl,--version-script=v.map -Wl,--build-id "
                                  "-Wl,-soname,libseed.so -Wl,-rpath,'$ORIGIN' -lm");
  run(std::string(strip) + " " + library.string());
  expectOnlyElfErrors(readFile(library), Machine::host(), 2);
}

INSTANTIATE_TEST_SUITE_P(With, ElfMutations, ::testing::ValuesIn(toolchains),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace multipy::elf::testing
