#include "elf/symbol_edits.h"

#include <algorithm>
#include <string>

#include "elf/checked_bytes.h"

namespace multipy::elf {
namespace {

constexpr uint16_t versionIndexMask = 0x7fff;  // the top bit says "hidden"

uint8_t withBinding(uint8_t info, uint8_t binding) {
  return static_cast<uint8_t>(ELF64_ST_INFO(binding, ELF64_ST_TYPE(info)));
}

// Turns a definition into a reference. All relocations against it, the ones of
// the procedure linkage table included, are then looked up like those of any
// other undefined symbol. The hash table still lists it; lookups pass over it.
void withdrawDefinition(Elf64_Sym& entry) {
  entry.st_shndx = SHN_UNDEF;
  entry.st_value = 0;
  entry.st_size = 0;
  entry.st_other = STV_DEFAULT;  // a protected one would bind to itself again
  entry.st_info = withBinding(entry.st_info, STB_GLOBAL);
  // The type decides nothing in a reference, but an indirect function that is
  // nowhere would puzzle readers of the table.
  if (ELF64_ST_TYPE(entry.st_info) == STT_GNU_IFUNC)
    entry.st_info = static_cast<uint8_t>(ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
}

class Planner {
 public:
  Planner(const SharedObject& original, const Edits& edits,
          const std::vector<uint16_t>& droppedVersions, DynamicStrings& strings, EditReport& report)
      : original_(original),
        edits_(edits),
        droppedVersions_(droppedVersions),
        strings_(strings),
        report_(report) {}

  std::vector<SymbolEdit> plan() {
    for (uint32_t i = 1; i < original_.symbolCount(); ++i) {
      SymbolEdit edit{i, element<Elf64_Sym>(original_.symbolTable(), i), false};
      const auto binding = ELF64_ST_BIND(edit.entry.st_info);
      if (binding == STB_LOCAL) continue;
      const bool changed =
          edit.entry.st_shndx == SHN_UNDEF ? editReference(edit) : editDefinition(edit);
      if (changed) result_.push_back(edit);
    }
    std::sort(report_.renamed.begin(), report_.renamed.end());
    report_.renamed.erase(std::unique(report_.renamed.begin(), report_.renamed.end()),
                          report_.renamed.end());
    return std::move(result_);
  }

 private:
  std::string_view nameOf(const SymbolEdit& edit) const {
    return original_.string(edit.entry.st_name, "st_name");
  }

  void rename(SymbolEdit& edit, std::string_view oldName, const std::string& newName) {
    edit.entry.st_name = strings_.add(newName);
    edit.dropVersion = true;
    report_.renamed.emplace_back(oldName);
  }

  bool editReference(SymbolEdit& edit) {
    edit.dropVersion = versionIsDropped(edit.index);
    if (edits_.renameUndefined) {
      const auto name = nameOf(edit);
      if (const auto newName = edits_.renameUndefined(name); !newName.empty() && newName != name)
        rename(edit, name, newName);
    }
    return edit.dropVersion;
  }

  bool editDefinition(SymbolEdit& edit) {
    const bool unique = ELF64_ST_BIND(edit.entry.st_info) == STB_GNU_UNIQUE;
    if (edits_.renameDefined.empty() && !unique) return false;
    const auto name = nameOf(edit);
    if (const auto renamed = edits_.renameDefined.find(std::string(name));
        renamed != edits_.renameDefined.end()) {
      withdrawDefinition(edit.entry);
      rename(edit, name, renamed->second);
      return true;
    }
    if (!unique) return false;
    edit.entry.st_info = withBinding(edit.entry.st_info, STB_WEAK);
    ++report_.uniqueWeakened;
    return true;
  }

  bool versionIsDropped(uint32_t index) const {
    if (droppedVersions_.empty()) return false;
    const auto version = element<Elf64_Half>(original_.versionTable(), index);
    return std::find(droppedVersions_.begin(), droppedVersions_.end(),
                     version & versionIndexMask) != droppedVersions_.end();
  }

  const SharedObject& original_;
  const Edits& edits_;
  const std::vector<uint16_t>& droppedVersions_;
  DynamicStrings& strings_;
  EditReport& report_;
  std::vector<SymbolEdit> result_;
};

}  // namespace

std::vector<SymbolEdit> planSymbolEdits(const SharedObject& original, const Edits& edits,
                                        const std::vector<uint16_t>& droppedVersions,
                                        DynamicStrings& strings, EditReport& report) {
  return Planner(original, edits, droppedVersions, strings, report).plan();
}

}  // namespace multipy::elf
