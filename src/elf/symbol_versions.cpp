#include "elf/symbol_versions.h"

#include <elf.h>

#include <algorithm>

#include "elf/checked_bytes.h"
#include "elf/shared_object.h"

namespace multipy::elf {
namespace {

constexpr uint16_t indexMask = 0x7fff;  // the top bit means "hidden", as ld.so has it

// Offsets in the chain are relative to the record they stand in and unsigned,
// so a chain cannot loop; that each step passes a whole record makes it short.
uint64_t follow(const std::string& file, uint64_t from, uint64_t step, uint64_t recordSize,
                const char* field) {
  if (step < recordSize) fail(file, field, step, "0 or at least " + hex(recordSize));
  return from + step;
}

std::vector<uint16_t> readIndices(const SharedObject& object, uint64_t recordVaddr,
                                  const Elf64_Verneed& record) {
  const CheckedBytes file(object.bytes(), object.name());
  std::vector<uint16_t> indices;
  uint64_t vaddr = recordVaddr + record.vn_aux;
  for (unsigned i = 0; i < record.vn_cnt; ++i) {
    const auto version = file.load<Elf64_Vernaux>(
        object.fileOffset(vaddr, sizeof(Elf64_Vernaux), "vn_aux"), "vn_aux");
    object.string(version.vna_name, "vna_name");
    indices.push_back(version.vna_other & indexMask);
    if (version.vna_next == 0) break;
    vaddr = follow(object.name(), vaddr, version.vna_next, sizeof(Elf64_Vernaux), "vna_next");
  }
  return indices;
}

// The highest index among the definitions, 0 where there are none.
uint16_t checkDefinitions(const SharedObject& object) {
  const auto start = object.dynamicValue(DT_VERDEF);
  if (!start) return 0;
  const CheckedBytes file(object.bytes(), object.name());
  uint16_t highest = 0;
  for (uint64_t vaddr = *start;;) {
    const auto record = file.load<Elf64_Verdef>(
        object.fileOffset(vaddr, sizeof(Elf64_Verdef), "DT_VERDEF"), "DT_VERDEF");
    if (record.vd_version != VER_DEF_CURRENT)
      fail(object.name(), "vd_version", record.vd_version, hex(VER_DEF_CURRENT));
    highest = std::max<uint16_t>(highest, record.vd_ndx & indexMask);
    const auto name = file.load<Elf64_Verdaux>(
        object.fileOffset(vaddr + record.vd_aux, sizeof(Elf64_Verdaux), "vd_aux"), "vd_aux");
    object.string(name.vda_name, "vda_name");
    if (record.vd_next == 0) return highest;
    vaddr = follow(object.name(), vaddr, record.vd_next, sizeof(Elf64_Verdef), "vd_next");
  }
}

}  // namespace

std::vector<VersionNeed> readVersionNeeds(const SharedObject& object) {
  std::vector<VersionNeed> needs;
  const auto start = object.dynamicValue(DT_VERNEED);
  if (!start) return needs;
  const CheckedBytes file(object.bytes(), object.name());
  // glibc follows vn_next to its end, whatever DT_VERNEEDNUM says; so do we.
  for (uint64_t vaddr = *start;;) {
    const uint64_t offset = object.fileOffset(vaddr, sizeof(Elf64_Verneed), "DT_VERNEED");
    const auto record = file.load<Elf64_Verneed>(offset, "DT_VERNEED");
    if (record.vn_version != VER_NEED_CURRENT)
      fail(object.name(), "vn_version", record.vn_version, hex(VER_NEED_CURRENT));
    needs.push_back({object.string(record.vn_file, "vn_file"), readIndices(object, vaddr, record),
                     vaddr, offset});
    if (record.vn_next == 0) return needs;
    vaddr = follow(object.name(), vaddr, record.vn_next, sizeof(Elf64_Verneed), "vn_next");
  }
}

void checkVersions(const SharedObject& object, const std::vector<VersionNeed>& needs,
                   std::span<const std::byte> versionTable) {
  uint16_t highest = std::max<uint16_t>(checkDefinitions(object), VER_NDX_GLOBAL);
  for (const VersionNeed& need : needs)
    for (const uint16_t index : need.versionIndices) highest = std::max(highest, index);
  for (uint64_t i = 0; i < versionTable.size() / sizeof(Elf64_Half); ++i)
    if (const uint16_t index = element<Elf64_Half>(versionTable, i) & indexMask; index > highest)
      fail(object.name(), "DT_VERSYM", index,
           "at most " + hex(highest) +
               ", the last version in DT_VERNEED and DT_VERDEF, for symbol " + std::to_string(i));
}

}  // namespace multipy::elf
