// /etc/ld.so.cache, and the search for a library that asks for another one: its DT_RPATH,
// DT_RUNPATH and DT_NEEDED are text from a file as well.
//
// An input: name, DT_RPATH, DT_RUNPATH (parts), then the cache.
#include "loader/ld_so_cache.h"

#include <cstring>

#include "fuzz/input.h"
#include "loader/library_search.h"

namespace multipy::fuzz {
namespace {

// glibc's format: header, entries, strings.
struct Entry {
  int32_t flags;
  uint32_t soname, path, osVersion;
  uint64_t hwcap;
};

std::string numbers(std::initializer_list<uint32_t> values) {
  std::string text(4 * values.size(), '\0');
  std::memcpy(text.data(), values.begin(), text.size());
  return text;
}

std::string cacheOf(int32_t flags, bool behindAnOlderOne) {
  const std::string strings =
      std::string("libm.so.6\0/lib/libm.so.6\0", 25) + std::string("libx.so\0/usr/libx.so\0", 21);
  constexpr uint32_t kEntries = 3, kStrings = 48 + kEntries * sizeof(Entry);
  const Entry entries[kEntries] = {{flags, kStrings, kStrings + 10, 0, 0},
                                   {flags, kStrings + 25, kStrings + 33, 0, 0},
                                   {flags, kStrings, kStrings + 10, 0, 1ull << 62}};
  std::string older;
  if (behindAnOlderOne) older = std::string("ld.so-1.7.0\0", 12) + numbers({1, 1, 2, 3}) + "pad.";
  return older + "glibc-ld.so.cache1.1" +
         numbers({kEntries, static_cast<uint32_t>(strings.size()), 0, 0, 0, 0, 0}) +
         std::string(reinterpret_cast<const char*>(entries), sizeof entries) + strings;
}

/// Files are looked for in no place that an input can name: some are devices.
bool staysBelowNothing(const std::string& text) {
  return text.find('\0') == std::string::npos && text.find("..") == std::string::npos;
}

void search(const loader::LdSoCache& cache, const std::string& name,
            const loader::Requester& requester) {
  const loader::LibrarySearch search(requester.rpath, cache, {"/no/such/folder"});
  promise(!search.places(requester).empty(), "there is no place to look for a library");
  for (const std::string* text : {&name, &requester.rpath, &requester.runpath}) {
    static_cast<void>(loader::LibrarySearch::expand(*text, requester.directory));
    if (!staysBelowNothing(*text)) return;
  }
  loader::Requester below = requester;
  below.rpath = "/no/such/folder/" + requester.rpath.substr(0, requester.rpath.find(':'));
  below.runpath = "/no/such/folder/" + requester.runpath.substr(0, requester.runpath.find(':'));
  const loader::LibrarySearch nowhere("", loader::LdSoCache(), {"/no/such/folder"});
  const bool plain = name.find('/') == std::string::npos;
  promise(!nowhere.find(plain ? name : "/no/such/folder/" + name, below),
          "a library was found in a folder that does not exist");
}

}  // namespace

Outcome exercise(std::span<const std::byte> bytes) {
  Input input(bytes);
  const std::string name = input.part();
  loader::Requester requester;
  requester.directory = "/no/such/folder";
  requester.rpath = input.part();
  requester.runpath = input.part();
  const auto contents = input.rest();
  std::size_t known = 0;
  for (const auto* machine : {&elf::Machine::x86_64(), &elf::Machine::aarch64()}) {
    const auto cache = loader::LdSoCache::parse(contents, *machine);
    promise(cache.size() <= contents.size() / sizeof(Entry), "more entries than there is room for");
    static_cast<void>(cache.find(name));
    search(cache, name, requester);
    known += cache.size();
  }
  return known > 0 ? Outcome::Accepted : Outcome::Refused;
}

std::vector<Bytes> seeds() {
  const std::string rs(1, Input::separator);
  std::vector<Bytes> all;
  for (const int32_t flags : {0x0303, 0x0a03})
    for (const bool older : {false, true})
      all.push_back(bytesOf("libm.so.6" + rs + "$ORIGIN/../lib:/usr/lib" + rs + "${LIB}/x" + rs +
                            cacheOf(flags, older)));
  return all;
}

std::vector<std::string> words() {
  return {"$ORIGIN",
          "${ORIGIN}",
          "$LIB",
          "${LIB}",
          "$PLATFORM",
          ":",
          ";",
          "/",
          "glibc-ld.so.cache1.1",
          std::string("ld.so-1.7.0\0", 12),
          std::string(1, Input::separator)};
}

}  // namespace multipy::fuzz
