#include "loader/import_redirection.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "base/object_list.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kJumpSlot = R_X86_64_JUMP_SLOT, kGlobDat = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t kJumpSlot = R_AARCH64_JUMP_SLOT, kGlobDat = R_AARCH64_GLOB_DAT;
#else
#error "multipy: relocation types of this machine are not known here"
#endif

/// The words that lead to a function or a variable.
using Words = std::vector<std::uintptr_t*>;

// One loaded object, by what its dynamic section says. glibc has relocated it,
// so its tables are well formed. On most machines glibc has also made the
// addresses in the dynamic section absolute, but not in every object (the vDSO's
// is read-only): both are understood. An absolute one lies inside the loaded object.
// (To be larger than the base tells nothing: Valgrind loads libraries of hundreds of
// megabytes at 100 MB, and one that is linked for a high address has a small base.)
class LoadedObject {
 public:
  explicit LoadedObject(const base::ObjectList::Object& object)
      : base_(object.base), headers_(object.headers) {
    for (const ElfW(Phdr) & header : headers_) {
      if (header.p_type == PT_DYNAMIC) readDynamic(at<ElfW(Dyn)>(header.p_vaddr));
    }
  }

  /// Adds the words that lead to one of `wanted`'s symbols to those.
  void collect(std::unordered_map<std::string_view, Words*>& wanted) const {
    if (!symbols_ || !strings_) return;
    for (const auto table : {jumps_, relocations_}) {
      for (const ElfW(Rela) & relocation : table) {
        const auto type = ELF64_R_TYPE(relocation.r_info);
        if (type != kJumpSlot && type != kGlobDat) continue;
        const ElfW(Sym)& symbol = symbols_[ELF64_R_SYM(relocation.r_info)];
        if (const auto found = wanted.find(strings_ + symbol.st_name); found != wanted.end())
          found->second->push_back(at<std::uintptr_t>(relocation.r_offset));
      }
    }
  }

  // Was it given back to read-only after relocation?
  bool isReadOnly(const void* address) const {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto place = reinterpret_cast<std::uintptr_t>(address) - base_;
    for (const ElfW(Phdr) & header : headers_) {
      if (header.p_type == PT_GNU_RELRO && place >= header.p_vaddr &&
          place < ((header.p_vaddr + header.p_memsz) & ~(page - 1)))
        return true;
    }
    return false;
  }

 private:
  template <typename T>
  T* at(std::uintptr_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

  bool contains(std::uintptr_t address) const {
    return std::any_of(headers_.begin(), headers_.end(), [&](const ElfW(Phdr) & header) {
      return header.p_type == PT_LOAD && address - (base_ + header.p_vaddr) < header.p_memsz;
    });
  }

  void readDynamic(const ElfW(Dyn) * entry) {
    struct {
      std::uintptr_t jumps = 0, relocations = 0, symbols = 0, strings = 0;
    } tables;
    std::size_t jumpsSize = 0, relocationsSize = 0;
    for (; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_JMPREL:
          tables.jumps = entry->d_un.d_ptr;
          break;
        case DT_PLTRELSZ:
          jumpsSize = entry->d_un.d_val;
          break;
        case DT_RELA:
          tables.relocations = entry->d_un.d_ptr;
          break;
        case DT_RELASZ:
          relocationsSize = entry->d_un.d_val;
          break;
        case DT_SYMTAB:
          tables.symbols = entry->d_un.d_ptr;
          break;
        case DT_STRTAB:
          tables.strings = entry->d_un.d_ptr;
          break;
        default:
          break;
      }
    }
    if (!tables.symbols || !tables.strings) return;
    // The first table lies at the object's beginning: as an offset it is no address in it.
    const std::uintptr_t bias = contains(std::min(tables.symbols, tables.strings)) ? 0 : base_;
    symbols_ = reinterpret_cast<const ElfW(Sym)*>(bias + tables.symbols);
    strings_ = reinterpret_cast<const char*>(bias + tables.strings);
    const auto table = [bias](std::uintptr_t begin, std::size_t bytes) {
      return std::span(reinterpret_cast<const ElfW(Rela)*>(bias + begin),
                       begin ? bytes / sizeof(ElfW(Rela)) : 0);
    };
    jumps_ = table(tables.jumps, jumpsSize);
    relocations_ = table(tables.relocations, relocationsSize);
  }

  const std::uintptr_t base_;
  const std::span<const ElfW(Phdr)> headers_;
  std::span<const ElfW(Rela)> jumps_, relocations_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
};

void protect(void* address, int protection, const ImportRedirection& redirection) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  void* const begin =
      reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) & ~(page - 1));
  if (::mprotect(begin, page, protection) == 0) return;
  throw runtime::LoadError(
      "redirecting calls to " + std::string(redirection.symbol) +
      ": mprotect of a page of a global offset table: " + std::system_category().message(errno) +
      " (expected a system that lets a process change its own relocations)");
}

bool write(std::uintptr_t* word, const ImportRedirection& redirection, const LoadedObject& object) {
  const auto replacement = reinterpret_cast<std::uintptr_t>(redirection.replacement);
  // Other threads call through this word meanwhile.
  const std::atomic_ref<std::uintptr_t> entry(*word);
  if (entry.load(std::memory_order_relaxed) == replacement) return false;
  const bool readOnly = object.isReadOnly(word);
  if (readOnly) protect(word, PROT_READ | PROT_WRITE, redirection);
  entry.store(replacement, std::memory_order_release);
  if (readOnly) protect(word, PROT_READ, redirection);
  return true;
}

// What was found before: to look through libtorch_cpu's 100,000 relocations takes
// milliseconds, and each interpreter asks for the same.
class KnownWords {
 public:
  /// Once anything has been unloaded, another object may be where a known one was.
  void noteUnloaded(unsigned long long soFar) {
    if (std::exchange(unloaded_, soFar) != soFar) objects_.clear();
  }

  /// For each redirection the words of this object.
  std::vector<const Words*> of(std::uintptr_t base, const LoadedObject& object,
                               std::span<const ImportRedirection> redirections) {
    auto& known = objects_[base];
    std::unordered_map<std::string_view, Words*> unknown;
    std::vector<const Words*> words;
    for (const ImportRedirection& redirection : redirections) {
      const auto [entry, isNew] = known.try_emplace(std::string(redirection.symbol));
      if (isNew) unknown.emplace(entry->first, &entry->second);
      words.push_back(&entry->second);
    }
    if (!unknown.empty()) object.collect(unknown);
    return words;
  }

 private:
  unsigned long long unloaded_ = 0;
  std::map<std::uintptr_t, std::map<std::string, Words>> objects_;  // by base, by symbol
};

}  // namespace

std::size_t redirectImports(std::span<const ImportRedirection> redirections,
                            bool (*wanted)(std::string_view path)) {
  static constinit base::ForkMutex mutex;
  static KnownWords& known = *new KnownWords;  // never destroyed: threads may load until the end
  const base::Lock lock(mutex);
  const base::ObjectList objects(wanted);
  known.noteUnloaded(objects.unloaded());
  std::size_t written = 0;
  for (const auto& each : objects) {
    const LoadedObject object(each);
    const auto words = known.of(each.base, object, redirections);
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::uintptr_t* word : *words[i]) written += write(word, redirections[i], object);
  }
  return written;
}

}  // namespace multipy::loader
