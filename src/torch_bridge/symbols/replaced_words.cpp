#include "torch_bridge/symbols/replaced_words.h"

#include <link.h>

#include <string>
#include <string_view>

#include "base/object_list.h"
#include "multipy/runtime/Exception.h"

namespace multipy::bridge {
namespace {

bool isTorchs(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libtorch_cpu.") || name.starts_with("libc10.");
}

struct Words {
  const std::uintptr_t* begin;
  std::size_t count;
};

// But for what is read-only once the library has been relocated.
void addWritable(const base::ObjectList::Object& object, std::vector<Words>& all) {
  std::uintptr_t readOnlyEnd = 0;
  for (const ElfW(Phdr) & segment : object.headers)
    if (segment.p_type == PT_GNU_RELRO) readOnlyEnd = segment.p_vaddr + segment.p_memsz;
  for (const ElfW(Phdr) & segment : object.headers) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    std::uintptr_t begin = segment.p_vaddr;
    const std::uintptr_t end = begin + segment.p_memsz;
    if (begin < readOnlyEnd && readOnlyEnd <= end) begin = readOnlyEnd;
    begin = (begin + sizeof begin - 1) & ~(sizeof begin - 1);
    if (begin < end)
      all.push_back({reinterpret_cast<const std::uintptr_t*>(object.base + begin),
                     (end - begin) / sizeof begin});
  }
}

}  // namespace

ReplacedWords::ReplacedWords() {
  std::vector<Words> all;
  const base::ObjectList torch(isTorchs);
  for (const auto& object : torch) addWritable(object, all);
  for (const Words& each : all) {
    Copy& copy = copies_.emplace_back();
    copy.words = each.begin;
    copy.before.assign(each.begin, each.begin + each.count);
  }
}

void* ReplacedWords::replacedBy(const void* ours, const char* what) const {
  const auto wanted = reinterpret_cast<std::uintptr_t>(ours);
  void* replaced = nullptr;
  int found = 0;
  for (const Copy& copy : copies_) {
    for (std::size_t i = 0; i < copy.before.size(); ++i) {
      if (copy.words[i] != wanted || copy.before[i] == wanted) continue;
      replaced = reinterpret_cast<void*>(copy.before[i]);
      ++found;
    }
  }
  if (found == 1) return replaced;
  throw runtime::UnsupportedTorchError(
      "preparing the program's own Python for private interpreters beside it",
      {std::string(what) + ": expected one word of torch's memory that has it, found " +
       std::to_string(found)});
}

}  // namespace multipy::bridge
