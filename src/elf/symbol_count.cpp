// The dynamic linker never needs to know where .dynsym ends, so the file does
// not say it outside of its section headers, which may be missing or wrong.
// Three places tell:
//
//   DT_HASH      has one chain word per symbol: nchain is the count.
//   DT_GNU_HASH  sorts the defined symbols by bucket behind the undefined ones.
//                Each bucket names its first symbol; from there one chain word
//                per symbol follows, the last of a bucket marked by bit 0. So
//                the chain of the highest bucket ends at the table's end.
//                With no defined symbol there is no chain and the table says
//                nothing: GNU ld writes symoffset 1, lld the count.
//   relocations  name symbols by index. What no relocation names and no hash
//                table finds takes part in nothing.
#include "elf/symbol_count.h"

#include <elf.h>

#include <algorithm>
#include <limits>

#include "elf/checked_bytes.h"
#include "elf/shared_object.h"

namespace multipy::elf {
namespace {

using Word = uint32_t;

class Counter {
 public:
  explicit Counter(const SharedObject& object)
      : object_(object), file_(object.bytes(), object.name()) {}

  uint64_t fromSysvHash(uint64_t vaddr) const {
    const auto head = words(vaddr, 2, "DT_HASH");
    const uint64_t bucketCount = element<Word>(head, 0), chainCount = element<Word>(head, 1);
    // One span, since buckets and chains hold the same thing: symbol indices.
    const auto indices = words(vaddr + 8, bucketCount + chainCount, "DT_HASH");
    for (uint64_t i = 0; i < bucketCount + chainCount; ++i)
      if (const Word symbol = element<Word>(indices, i);
          symbol >= chainCount && symbol != STN_UNDEF)
        fail(object_.name(), "DT_HASH", symbol,
             "symbol indices below nchain, which is " + hex(chainCount));
    return chainCount;
  }

  /// Where no symbol is defined, `complete` is false: there may be more.
  struct GnuCount {
    uint64_t count;
    bool complete;
  };
  GnuCount fromGnuHash(uint64_t vaddr) const {
    const auto head = words(vaddr, 4, "DT_GNU_HASH");
    const uint64_t bucketCount = element<Word>(head, 0), firstHashed = element<Word>(head, 1),
                   bloomWords = element<Word>(head, 2);
    // glibc masks with bloomWords - 1, and asserts that it may.
    if (!std::has_single_bit(bloomWords))
      fail(object_.name(), "DT_GNU_HASH", bloomWords, "a power of two as the size of the filter");
    const uint64_t bucketsAt = vaddr + 16 + bloomWords * sizeof(Elf64_Addr);
    const auto buckets = words(bucketsAt, bucketCount, "DT_GNU_HASH");
    Word last = 0;
    for (uint64_t i = 0; i < bucketCount; ++i) {
      const Word symbol = element<Word>(buckets, i);
      if (symbol != 0 && symbol < firstHashed)
        fail(object_.name(), "DT_GNU_HASH", symbol,
             "buckets to name symbols from symoffset on, which is " + hex(firstHashed));
      last = std::max(last, symbol);
    }
    if (last == 0) return {firstHashed, false};
    const uint64_t chainsAt = bucketsAt + bucketCount * sizeof(Word);
    return {endOfChain(chainsAt, firstHashed, last), true};
  }

  uint64_t fromRelocations() const {
    return std::max(fromRelocations(DT_RELA, DT_RELASZ, "DT_RELA"),
                    fromRelocations(DT_JMPREL, DT_PLTRELSZ, "DT_JMPREL"));
  }

 private:
  std::span<const std::byte> words(uint64_t vaddr, uint64_t count, const char* field) const {
    const uint64_t offset = object_.fileOffset(vaddr, count * sizeof(Word), field);
    return file_.range(offset, count, sizeof(Word), field);
  }

  uint64_t endOfChain(uint64_t chainsAt, uint64_t firstHashed, uint64_t symbol) const {
    for (;; ++symbol) {
      const uint64_t vaddr = chainsAt + (symbol - firstHashed) * sizeof(Word);
      if (element<Word>(words(vaddr, 1, "DT_GNU_HASH"), 0) & 1) return symbol + 1;
    }
  }

  uint64_t fromRelocations(int64_t tableTag, int64_t sizeTag, const char* field) const {
    const auto vaddr = object_.dynamicValue(tableTag);
    const uint64_t size = object_.dynamicValue(sizeTag).value_or(0);
    if (!vaddr || size == 0) return 0;
    const uint64_t count = size / sizeof(Elf64_Rela);
    const auto table =
        file_.range(object_.fileOffset(*vaddr, size, field), count, sizeof(Elf64_Rela), field);
    uint64_t end = 0;
    for (uint64_t i = 0; i < count; ++i)
      end = std::max<uint64_t>(end, ELF64_R_SYM(element<Elf64_Rela>(table, i).r_info) + 1);
    return end;
  }

  const SharedObject& object_;
  CheckedBytes file_;
};

}  // namespace

uint32_t countSymbols(const SharedObject& object) {
  const Counter counter(object);
  const auto sysv = object.dynamicValue(DT_HASH);
  const auto gnu = object.dynamicValue(DT_GNU_HASH);
  const auto hashed = gnu ? counter.fromGnuHash(*gnu) : Counter::GnuCount{0, false};
  uint64_t count = std::max<uint64_t>(hashed.count, 1);  // the null symbol is always there
  if (sysv) {
    const uint64_t chains = counter.fromSysvHash(*sysv);
    if (chains < count)
      fail(object.name(), "DT_HASH", chains,
           "a chain for each of the " + hex(count) + " symbols of DT_GNU_HASH");
    count = chains;
  } else if (!hashed.complete) {
    count = std::max(count, counter.fromRelocations());
  }
  if (count > std::numeric_limits<uint32_t>::max())
    fail(object.name(), "DT_SYMTAB", count, "a symbol count of 32 bits");
  return static_cast<uint32_t>(count);
}

}  // namespace multipy::elf
