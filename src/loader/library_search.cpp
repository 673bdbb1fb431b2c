#include "loader/library_search.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/file_descriptor.h"
#include "elf/machine.h"

namespace multipy::loader {
namespace {

// Separators of directory lists, in DT_RPATH and DT_RUNPATH and in LD_LIBRARY_PATH.
constexpr const char* kInFile = ":";
constexpr const char* kInEnvironment = ":;";

/// Would ld.so take this file, or pass over it as one for another machine?
bool isForThisMachine(const std::filesystem::path& file) {
  base::FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr header;
  return opened && ::read(opened.get(), &header, sizeof header) == sizeof header &&
         std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         header.e_machine == elf::Machine::host().elfMachine;
}

bool isDirectory(const std::filesystem::path& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Calls `use` with each non-empty item of a list separated by any of `separators`.
template <typename Use>
void forEachItem(std::string_view list, const char* separators, const Use& use) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(separators), list.size());
    if (end > 0) use(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// Nothing where there is no such place: for an empty path (as $ORIGIN is for a program that
/// /proc does not name), and for a relative one where the working directory has been removed.
std::optional<std::filesystem::path> absolutePath(const std::string& path) {
  std::error_code none;
  auto absolute = std::filesystem::absolute(path, none);
  return none ? std::nullopt : std::optional(std::move(absolute));
}

// --- what glibc was built with: it tells it nowhere, but its own libc shows it

using LibraryHandle = std::unique_ptr<void, int (*)(void*)>;

LibraryHandle libc() { return {::dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD), ::dlclose}; }

/// $LIB ("lib/x86_64-linux-gnu", "lib64"): glibc installed its libc there.
const std::string& libToken() {
  static const auto& token = *new std::string([] {  // never destroyed, as LoadingProcess
    const LibraryHandle handle = libc();
    link_map* map = nullptr;
    if (!handle || ::dlinfo(handle.get(), RTLD_DI_LINKMAP, &map)) return std::string("lib");
    auto directory = std::filesystem::path(map->l_name).parent_path().relative_path();
    if (directory.begin() != directory.end() && *directory.begin() == "usr") {
      directory = directory.lexically_relative("usr");
    }
    return directory.empty() ? std::string("lib") : directory.string();
  }());
  return token;
}

/// The system's directories: the end of the list that libc itself would search.
/// Those of LD_LIBRARY_PATH come first in it; having them twice does no harm.
std::vector<std::filesystem::path> systemDirectories() {
  std::vector<std::filesystem::path> directories;
  const LibraryHandle handle = libc();
  Dl_serinfo size;
  if (!handle || ::dlinfo(handle.get(), RTLD_DI_SERINFOSIZE, &size)) return directories;
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* list = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (::dlinfo(handle.get(), RTLD_DI_SERINFOSIZE, list) ||
      ::dlinfo(handle.get(), RTLD_DI_SERINFO, list)) {
    return directories;
  }
  for (unsigned i = 0; i < list->dls_cnt; ++i)
    directories.emplace_back(list->dls_serpath[i].dls_name);
  return directories;
}

/// glibc-hwcaps subdirectories that this processor can use, best first: by the list of
/// features that ld.so goes through, and by its word for each. (Of compilers not all know
/// the levels by name.) A glibc that does not tell is one without such subdirectories.
std::vector<std::string> hardwareDirectories() {
  std::vector<std::string> directories;
#ifdef CPU_FEATURE_ACTIVE
  const bool v2 = CPU_FEATURE_ACTIVE(CMPXCHG16B) && CPU_FEATURE_ACTIVE(LAHF64_SAHF64) &&
                  CPU_FEATURE_ACTIVE(POPCNT) && CPU_FEATURE_ACTIVE(SSE3) &&
                  CPU_FEATURE_ACTIVE(SSSE3) && CPU_FEATURE_ACTIVE(SSE4_1) &&
                  CPU_FEATURE_ACTIVE(SSE4_2);
  const bool v3 = v2 && CPU_FEATURE_ACTIVE(AVX) && CPU_FEATURE_ACTIVE(AVX2) &&
                  CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(BMI2) &&
                  CPU_FEATURE_ACTIVE(F16C) && CPU_FEATURE_ACTIVE(FMA) &&
                  CPU_FEATURE_ACTIVE(LZCNT) && CPU_FEATURE_ACTIVE(MOVBE);
  const bool v4 = v3 && CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
                  CPU_FEATURE_ACTIVE(AVX512CD) && CPU_FEATURE_ACTIVE(AVX512DQ) &&
                  CPU_FEATURE_ACTIVE(AVX512VL);
  if (v4) directories.push_back("glibc-hwcaps/x86-64-v4");
  if (v3) directories.push_back("glibc-hwcaps/x86-64-v3");
  if (v2) directories.push_back("glibc-hwcaps/x86-64-v2");
#endif
  return directories;
}

/// The program itself as a requester: its DT_RPATH serves every library.
Requester program() {
  Requester requester;
  std::error_code error;
  requester.directory = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const LibraryHandle handle(::dlopen(nullptr, RTLD_LAZY), ::dlclose);
  link_map* map = nullptr;
  if (!handle || ::dlinfo(handle.get(), RTLD_DI_LINKMAP, &map) || !map->l_ld) return requester;
  const char* strings = nullptr;
  std::optional<uint64_t> rpath, runpath;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    // ld.so has made an address of DT_STRTAB when it loaded the program.
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RPATH) rpath = entry->d_un.d_val;
    if (entry->d_tag == DT_RUNPATH) runpath = entry->d_un.d_val;
  }
  if (strings && rpath && !runpath) requester.rpath = strings + *rpath;
  return requester;
}

std::string libraryPathOfEnvironment() {
  const char* value = ::secure_getenv("LD_LIBRARY_PATH");
  return value ? value : "";
}

/// Length of the token at the start of `text` ("$ORIGIN" or "${ORIGIN}"), or 0.
std::size_t tokenLength(std::string_view text, std::string_view name) {
  const std::string braced = "${" + std::string(name) + "}";
  if (text.starts_with(braced)) return braced.size();
  text.remove_prefix(1);
  if (!text.starts_with(name)) return 0;
  const char next = text.size() > name.size() ? text[name.size()] : '/';
  const bool longer = std::isalnum(static_cast<unsigned char>(next)) || next == '_';
  return longer ? 0 : name.size() + 1;
}

}  // namespace

LibrarySearch::LibrarySearch()
    : program_(program()),
      libraryPath_(libraryPathOfEnvironment()),
      cache_(LdSoCache::read()),
      systemDirectories_(systemDirectories()),
      hardwareDirectories_(hardwareDirectories()) {}

LibrarySearch::LibrarySearch(std::string libraryPath, LdSoCache cache,
                             std::vector<std::filesystem::path> directories)
    : libraryPath_(std::move(libraryPath)),
      cache_(std::move(cache)),
      systemDirectories_(std::move(directories)),
      hardwareDirectories_(hardwareDirectories()) {}

std::string LibrarySearch::expand(std::string_view text, const std::filesystem::path& directory) {
  const char* platform = reinterpret_cast<const char*>(::getauxval(AT_PLATFORM));
  const std::pair<std::string_view, std::string> tokens[] = {
      {"ORIGIN", directory.string()}, {"LIB", libToken()}, {"PLATFORM", platform ? platform : ""}};
  std::string expanded;
  while (!text.empty()) {
    std::size_t length = 0;
    if (text[0] == '$') {
      for (const auto& [name, value] : tokens) {
        length = tokenLength(text, name);
        if (length == 0) continue;
        expanded += value;
        break;
      }
    }
    if (length == 0) {
      expanded += text[0];
      length = 1;
    }
    text.remove_prefix(length);
  }
  return expanded;
}

std::optional<std::filesystem::path> LibrarySearch::inDirectory(
    const std::filesystem::path& directory, const std::string& name) const {
  if (isDirectory(directory / "glibc-hwcaps")) {
    for (const auto& hardware : hardwareDirectories_) {
      if (auto file = directory / hardware / name; isForThisMachine(file)) return file;
    }
  }
  if (auto file = directory / name; isForThisMachine(file)) return file;
  return std::nullopt;
}

std::vector<LibrarySearch::Listed> LibrarySearch::listedDirectories(
    const Requester& requester) const {
  std::vector<Listed> listed;
  const auto add = [&](const std::string& list, const char* separators,
                       const std::filesystem::path& origin, bool inherited = false) {
    forEachItem(list, separators, [&](std::string_view item) {
      if (auto directory = absolutePath(expand(item, origin)))
        listed.push_back({std::move(*directory), inherited});
    });
  };
  if (requester.runpath.empty()) {  // ld.so ignores DT_RPATH beside DT_RUNPATH
    for (const Requester* at = &requester; at; at = at->loader)
      if (at->runpath.empty()) add(at->rpath, kInFile, at->directory, at != &requester);
    add(program_.rpath, kInFile, program_.directory);
  }
  add(libraryPath_, kInEnvironment, program_.directory);
  add(requester.runpath, kInFile, requester.directory);
  return listed;
}

std::optional<Found> LibrarySearch::find(const std::string& name,
                                         const Requester& requester) const {
  if (name.find('/') != std::string::npos) {
    const auto file = absolutePath(expand(name, requester.directory));
    if (file && isForThisMachine(*file)) return Found{*file};
    return std::nullopt;
  }
  for (const Listed& listed : listedDirectories(requester)) {
    if (auto file = inDirectory(listed.directory, name)) return Found{*file, listed.inherited};
  }
  // -z nodefaultlib leaves out the system's directories, also where the cache
  // points into them.
  const auto file = cache_.find(name);
  const auto isSystem = [&](const auto& directory) { return file.parent_path() == directory; };
  const bool barred = requester.noDefaultLibraries &&
                      std::any_of(systemDirectories_.begin(), systemDirectories_.end(), isSystem);
  if (!file.empty() && !barred && isForThisMachine(file)) return Found{file};
  if (requester.noDefaultLibraries) return std::nullopt;
  for (const auto& directory : systemDirectories_) {
    if (auto found = inDirectory(directory, name)) return Found{*found};
  }
  return std::nullopt;
}

std::vector<std::string> LibrarySearch::places(const Requester& requester) const {
  std::vector<std::string> places;
  for (const Listed& listed : listedDirectories(requester))
    places.push_back(listed.directory.lexically_normal());
  places.push_back("ld.so.cache");
  if (!requester.noDefaultLibraries)
    places.insert(places.end(), systemDirectories_.begin(), systemDirectories_.end());
  return places;
}

}  // namespace multipy::loader
