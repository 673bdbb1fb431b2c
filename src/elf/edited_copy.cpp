// How a library is made into another library
// ------------------------------------------
// ld.so tells libraries apart by their names (DT_SONAME, the path) and their
// inodes, and by nothing else. A copy of a file in which the soname differs is
// a library of its own, with its own data, thread-local storage and
// initialisers, and everything about it that is hard (relocation, TLS,
// indirect functions, exceptions, debuggers) is done by those who always do it.
//
// The difficulty is room. A longer soname does not fit where the old one stood,
// a further DT_NEEDED does not fit into .dynamic, and nothing in a linked file
// can be moved: its code knows every distance. What need not stay in place are
// three tables that are only found through a pointer to them:
//
//     program headers   through e_phoff (and PT_PHDR)
//     .dynamic          through PT_DYNAMIC
//     .dynstr           through DT_STRTAB
//
// We write these anew, one behind another, into a blob behind the last byte of
// the file, and map it with one more PT_LOAD. That one comes last because ld.so
// wants PT_LOAD by ascending address and takes the extent of the library from
// the first and the last one.
//
//     original file                                  blob
//     +------+-------+---------+------+-----------+--+--------+----------+---------+
//     | Ehdr | Phdrs | .dynsym | text | data, ... |  | Phdrs' | .dynamic'| .dynstr'|
//     +------+-------+---------+------+-----------+--+--------+----------+---------+
//       `-- e_phoff, e_phnum                      page
//
//     memory:   [ PT_LOAD ] [ PT_LOAD ] [ PT_LOAD | bss ]   [ PT_LOAD: the blob ]
//
// The new .dynstr starts with the whole old one, so that every offset into it
// (symbol names, version names, what other tags may name) stays right, and goes
// on with the new strings. The old tables remain as dead bytes. All other
// program headers are as they were: PT_NOTE keeps the build id, PT_GNU_STACK
// keeps the stack from becoming executable, PT_GNU_RELRO still protects what it
// did. The blob itself is writable since ld.so writes into .dynamic.
//
// .dynsym, the hash tables and the version tables do not grow and are edited in
// place, entry by entry:
//   - A reference (undefined symbol) is in no hash chain that matters. It gets
//     another name, and so another definition. It loses its version, which was
//     one of the library that it was meant for.
//   - A definition that shall no longer be found is made into a reference.
//   - An STB_GNU_UNIQUE definition becomes a weak one.
//   - A Verneed record follows the DT_NEEDED that it belongs to, and is taken
//     out of its chain if that is dropped (library_names.h).
//
// Making the copy goes in three steps: plan (what changes, which strings are
// new), lay out (now all sizes are known), write (one allocation).
#include "elf/edited_copy.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "elf/checked_bytes.h"
#include "elf/dynamic_strings.h"
#include "elf/library_names.h"
#include "elf/section_headers.h"
#include "elf/symbol_edits.h"

namespace multipy::elf {
namespace {

// Where a table of the blob lies.
struct Location {
  uint64_t fileOffset = 0;
  uint64_t vaddr = 0;
  uint64_t size = 0;

  uint64_t end() const { return fileOffset + size; }
};

class Editor {
 public:
  Editor(const SharedObject& original, const Edits& edits)
      : original_(original), edits_(edits), strings_(original.stringTable()) {}

  EditedCopy make() {
    plan();
    layOut();
    write();
    return {std::move(file_), std::move(report_)};
  }

 private:
  void plan() {
    if (original_.segments().size() + 1 >= PN_XNUM)
      fail(original_.name(), "e_phnum", original_.segments().size(),
           "room for one more below 0xffff (PN_XNUM)");
    needs_ = editVersionNeeds(original_, edits_, strings_);
    dynamic_ = editDynamic(original_, edits_, strings_);
    editDynamicForVersionNeeds();
    symbols_ = planSymbolEdits(original_, edits_, needs_.droppedVersions, strings_, report_);
  }

  // The tags of a chain that has lost records.
  void editDynamicForVersionNeeds() {
    if (needs_.kept.size() == original_.versionNeeds().size()) return;
    if (needs_.kept.empty()) {
      // DT_VERSYM goes too unless it numbers definitions: where there is one,
      // ld.so takes for granted that there are versions.
      const bool numbersDefinitions = original_.has(DT_VERDEF);
      std::erase_if(dynamic_, [&](const DynamicEntry& entry) {
        return entry.tag == DT_VERNEED || entry.tag == DT_VERNEEDNUM ||
               (entry.tag == DT_VERSYM && !numbersDefinitions);
      });
      return;
    }
    setDynamic(DT_VERNEED, needs_.kept.front().need->vaddr);
    setDynamic(DT_VERNEEDNUM, needs_.kept.size());
  }

  void layOut() {
    const uint64_t page = original_.machine().maxPageSize;
    uint64_t lastVaddr = 0;
    for (const Segment& s : original_.segments())
      if (s.type == PT_LOAD) lastVaddr = std::max(lastVaddr, s.vaddr + s.memorySize);
    // Both on a page boundary: so they are alike modulo the page size.
    Location next{roundUp(original_.bytes().size(), page), roundUp(lastVaddr, page), 0};
    const auto take = [&](uint64_t size) {
      const Location location{next.fileOffset, next.vaddr, size};
      const uint64_t step = roundUp(size, 16);
      next.fileOffset += step;
      next.vaddr += step;
      return location;
    };
    headersAt_ = take((original_.segments().size() + 1) * sizeof(Elf64_Phdr));
    dynamicAt_ = take((dynamic_.size() + 1) * sizeof(Elf64_Dyn));  // 1 for DT_NULL
    stringsAt_ = take(strings_.size());
    blob_ = {headersAt_.fileOffset, headersAt_.vaddr, stringsAt_.end() - headersAt_.fileOffset};
  }

  void setDynamic(int64_t tag, uint64_t value) {
    for (DynamicEntry& entry : dynamic_)
      if (entry.tag == tag) entry.value = value;
  }

  void write() {
    const auto original = original_.bytes();
    file_.reserve(blob_.end());
    file_.assign(original.begin(), original.end());
    file_.resize(blob_.end());
    writeSymbols();
    writeVersionNeeds();
    writeHeaders();
    writeDynamic();
    strings_.write(std::span(file_).subspan(stringsAt_.fileOffset, stringsAt_.size));
    // Those that a damaged header places into the blob are none.
    updateSectionHeaders(std::span(file_).first(original_.bytes().size()), sectionChanges());
  }

  // Where a table of the original, which is where it was, lies in the file.
  uint64_t offsetOf(std::span<const std::byte> table) const {
    return static_cast<uint64_t>(table.data() - original_.bytes().data());
  }

  void writeSymbols() {
    const uint64_t symbolsAt = offsetOf(original_.symbolTable());
    for (const SymbolEdit& edit : symbols_) {
      store(file_, symbolsAt + edit.index * sizeof(Elf64_Sym), edit.entry);
      if (edit.dropVersion && !original_.versionTable().empty())
        store<Elf64_Half>(file_,
                          offsetOf(original_.versionTable()) + edit.index * sizeof(Elf64_Half),
                          VER_NDX_GLOBAL);
    }
  }

  void writeVersionNeeds() {
    for (std::size_t i = 0; i < needs_.kept.size(); ++i) {
      const VersionNeed& need = *needs_.kept[i].need;
      auto record = element<Elf64_Verneed>(original_.bytes().subspan(need.fileOffset), 0);
      record.vn_file = needs_.kept[i].file;
      const bool last = i + 1 == needs_.kept.size();
      record.vn_next =
          last ? 0 : static_cast<Elf64_Word>(needs_.kept[i + 1].need->vaddr - need.vaddr);
      store(file_, need.fileOffset, record);
    }
  }

  void writeHeaders() {
    auto header = element<Elf64_Ehdr>(file_, 0);
    header.e_phoff = headersAt_.fileOffset;
    header.e_phnum = static_cast<Elf64_Half>(original_.segments().size() + 1);
    store(file_, 0, header);
    uint64_t at = headersAt_.fileOffset;
    for (const Segment& segment : newSegments()) {
      const Elf64_Phdr entry{segment.type,  segment.flags,    segment.offset,     segment.vaddr,
                             segment.paddr, segment.fileSize, segment.memorySize, segment.align};
      store(file_, at, entry);
      at += sizeof(entry);
    }
  }

  std::vector<Segment> newSegments() const {
    auto segments = original_.segments();
    std::size_t lastLoad = 0;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].type == PT_LOAD) lastLoad = i;
      if (segments[i].type == PT_PHDR) put(segments[i], headersAt_);
      if (segments[i].type == PT_DYNAMIC) put(segments[i], dynamicAt_);
    }
    Segment blob{.type = PT_LOAD, .flags = PF_R | PF_W, .align = original_.machine().maxPageSize};
    put(blob, blob_);
    segments.insert(segments.begin() + static_cast<std::ptrdiff_t>(lastLoad) + 1, blob);
    return segments;
  }

  static void put(Segment& segment, const Location& location) {
    segment.offset = location.fileOffset;
    segment.vaddr = segment.paddr = location.vaddr;
    segment.fileSize = segment.memorySize = location.size;
  }

  void writeDynamic() {
    setDynamic(DT_STRTAB, stringsAt_.vaddr);
    setDynamic(DT_STRSZ, stringsAt_.size);
    uint64_t at = dynamicAt_.fileOffset;
    for (const DynamicEntry& entry : dynamic_) {
      store(file_, at, Elf64_Dyn{entry.tag, {entry.value}});
      at += sizeof(Elf64_Dyn);
    }
    store(file_, at, Elf64_Dyn{DT_NULL, {0}});
  }

  SectionChanges sectionChanges() const {
    uint64_t oldDynamic = 0;
    for (const Segment& s : original_.segments())
      if (s.type == PT_DYNAMIC) oldDynamic = s.vaddr;
    const auto moved = [](uint64_t oldVaddr, const Location& location) {
      return MovedTable{oldVaddr, location.vaddr, location.fileOffset, location.size};
    };
    SectionChanges changes{.dynamic = moved(oldDynamic, dynamicAt_),
                           .strings = moved(*original_.dynamicValue(DT_STRTAB), stringsAt_),
                           .versionNeeds = std::nullopt};
    if (needs_.kept.size() != original_.versionNeeds().size()) {
      const uint64_t first = original_.versionNeeds().front().vaddr;
      changes.versionNeeds = ShortenedVersionNeeds{
          first, needs_.kept.empty() ? first : needs_.kept.front().need->vaddr,
          static_cast<uint32_t>(needs_.kept.size())};
    }
    return changes;
  }

  const SharedObject& original_;
  const Edits& edits_;

  // The plan.
  DynamicStrings strings_;
  std::vector<DynamicEntry> dynamic_;
  std::vector<SymbolEdit> symbols_;
  VersionNeedEdits needs_;
  EditReport report_;

  // The layout: the blob, and what is in it.
  Location blob_, headersAt_, dynamicAt_, stringsAt_;

  // The result.
  std::vector<std::byte> file_;
};

}  // namespace

EditedCopy edit(const SharedObject& original, const Edits& edits) {
  return Editor(original, edits).make();
}

std::vector<FileRange> rangesEditedInPlace(const SharedObject& original) {
  std::vector<FileRange> ranges{{0, sizeof(Elf64_Ehdr)}};
  for (const auto table :
       {original.symbolTable(), original.versionTable(), sectionHeaderTable(original.bytes())}) {
    if (table.empty()) continue;
    const auto begin = static_cast<uint64_t>(table.data() - original.bytes().data());
    ranges.push_back({begin, begin + table.size()});
  }
  for (const VersionNeed& need : original.versionNeeds()) {
    ranges.push_back({need.fileOffset, need.fileOffset + sizeof(Elf64_Verneed)});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const FileRange& a, const FileRange& b) { return a.begin < b.begin; });
  return ranges;
}

}  // namespace multipy::elf
