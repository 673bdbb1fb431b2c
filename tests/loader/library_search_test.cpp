// That libraries are looked for where ld.so looks for them.
#include "loader/library_search.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/lib-names.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "loader/loaded_objects.h"
#include "loader/workbench.h"

namespace multipy::loader::testing {
namespace {

class LibrarySearchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.build("template.so", "int x;");
    put("libpath");
    put("runpath");
    put("own-rpath");
    put("loader-rpath");
    put("system");
  }
  void put(const std::string& directory, const std::string& name = "liba.so") const {
    std::filesystem::create_directories(bench_ / directory);
    std::filesystem::copy_file(bench_ / "template.so", bench_ / (directory + "/" + name));
  }
  void remove(const std::string& directory) const {
    std::filesystem::remove_all(bench_ / directory);
  }
  std::string at(const std::string& directory) const { return bench_ / directory; }
  LibrarySearch search() const { return LibrarySearch(at("libpath"), LdSoCache(), {at("system")}); }
  /// Name of the directory where it is found, with "+" if by inheritance.
  std::string where(const Requester& requester, const std::string& name = "liba.so") const {
    const auto found = search().find(name, requester);
    if (!found) return "nowhere";
    return found->file.parent_path().filename().string() + (found->inherited ? "+" : "");
  }

  Workbench bench_;
};

TEST_F(LibrarySearchTest, GoesInTheOrderOfLdSo) {
  Requester loader, requester;
  loader.rpath = at("loader-rpath");
  requester.rpath = at("own-rpath");
  requester.loader = &loader;
  EXPECT_EQ(where(requester), "own-rpath");
  remove("own-rpath");
  EXPECT_EQ(where(requester), "loader-rpath+");
  requester.runpath = at("runpath");
  EXPECT_EQ(where(requester), "libpath") << "DT_RUNPATH switches all DT_RPATHs off";
  remove("libpath");
  EXPECT_EQ(where(requester), "runpath");
  remove("runpath");
  EXPECT_EQ(where(requester), "system");
  requester.noDefaultLibraries = true;
  EXPECT_EQ(where(requester), "nowhere");
}

TEST_F(LibrarySearchTest, ALoadersRpathDoesNotCountBesideItsRunpath) {
  Requester loader, requester;
  loader.rpath = at("loader-rpath");
  loader.runpath = at("runpath");
  requester.loader = &loader;
  EXPECT_EQ(where(requester), "libpath");
}

TEST_F(LibrarySearchTest, ExpandsTokens) {
  Requester requester;
  requester.directory = at("somewhere/deep");
  for (const char* path :
       {"$ORIGIN/../../runpath", "${ORIGIN}/../../runpath", "/no/such:$ORIGIN/../../runpath"}) {
    requester.runpath = path;
    remove("libpath");
    std::filesystem::create_directories(at("somewhere/deep"));
    EXPECT_EQ(where(requester), "runpath") << path;
  }
  EXPECT_EQ(LibrarySearch::expand("$ORIGINAL/$NOTHING/${ORIGIN", "/o"),
            "$ORIGINAL/$NOTHING/${ORIGIN");
  EXPECT_EQ(LibrarySearch::expand("a$ORIGIN/b", "/o"), "a/o/b");
  const std::string platform = LibrarySearch::expand("$PLATFORM", "/o");
  EXPECT_EQ(platform.find('$'), std::string::npos);
}

TEST_F(LibrarySearchTest, TheLibTokenIsWhereLibcLies) {
  // What glibc itself makes of it: a library that is found through $LIB only.
  const std::string lib = LibrarySearch::expand("$LIB", "/o");
  std::filesystem::create_directories(at(lib));
  std::filesystem::copy_file(bench_ / "template.so", bench_ / (lib + "/libtoken.so"));
  const auto user = bench_.build("user.so", "extern int x; int* f(void) { return &x; }",
                                 "-Wl,--no-as-needed -L'" + at(lib) +
                                     "' -l:libtoken.so "
                                     "-Wl,-rpath,'$ORIGIN/$LIB'");
  void* handle = ::dlopen(user.c_str(), RTLD_NOW);
  EXPECT_NE(handle, nullptr) << ::dlerror();
  if (handle) ::dlclose(handle);
}

TEST_F(LibrarySearchTest, PassesOverFilesForOtherMachinesAndNonsense) {
  Requester requester;
  const auto foreign = bench_ / "libpath/liba.so";
  {
    std::fstream file(foreign, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offsetof(Elf64_Ehdr, e_machine));
    const uint16_t machine = EM_S390;
    file.write(reinterpret_cast<const char*>(&machine), sizeof machine);
  }
  EXPECT_EQ(where(requester), "system");
  std::ofstream(foreign) << "INPUT(liba.so.1)";
  EXPECT_EQ(where(requester), "system");
  std::filesystem::remove(foreign);
  std::filesystem::create_directory(foreign);
  EXPECT_EQ(where(requester), "system");
}

TEST_F(LibrarySearchTest, APathIsTakenAsItIs) {
  Requester requester;
  requester.directory = at("runpath");
  EXPECT_EQ(where(requester, at("system/liba.so")), "system");
  EXPECT_EQ(search().find("$ORIGIN/liba.so", requester)->file, at("runpath/liba.so"));
  EXPECT_EQ(where(requester, "/no/such/liba.so"), "nowhere");
}

TEST_F(LibrarySearchTest, PassesOverPlacesThatAreNowhere) {
  // $ORIGIN of a program without /proc is nothing, and nothing is relative to a working
  // directory that has been removed.
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(bench_ / "removed");
  std::filesystem::current_path(bench_ / "removed");
  std::filesystem::remove(bench_ / "removed");
  const LibrarySearch search("$ORIGIN:relative", LdSoCache(), {at("system")});
  Requester requester;
  requester.rpath = "$ORIGIN:also/relative:" + at("own-rpath");
  const auto found = search.find("liba.so", requester);
  const auto relative = search.find("relative/liba.so", requester);
  const auto places = search.places(requester);
  std::filesystem::current_path(before);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, at("own-rpath/liba.so"));
  EXPECT_FALSE(relative);
  EXPECT_EQ(places, (std::vector{at("own-rpath"), std::string("ld.so.cache"), at("system")}));
}

#if defined(__x86_64__)
TEST_F(LibrarySearchTest, PrefersTheVariantForThisProcessorThatLdSoDoes) {
  FILE* const pipe = ::popen("/lib64/" LD_SO " --help", "r");
  ASSERT_NE(pipe, nullptr);
  std::string help(1 << 16, '\0');
  help.resize(std::fread(help.data(), 1, help.size(), pipe));
  ::pclose(pipe);  // a glibc before 2.33 fails here, and has no such directories

  std::string best = "libpath";
  for (const std::string level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    put("libpath/glibc-hwcaps/" + level);
    if (help.find(level + " (supported, searched)") != std::string::npos) best = level;
    EXPECT_EQ(where({}), best);
  }
}
#endif

TEST_F(LibrarySearchTest, FindsTheSystemsLibrariesWhereLdSoDoes) {
  const LibrarySearch search;
  for (const char* name : {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}) {
    const auto found = search.find(name, {});
    ASSERT_TRUE(found) << name;
    EXPECT_TRUE(std::filesystem::equivalent(found->file, fileLoadedAs(name))) << found->file;
  }
  EXPECT_FALSE(search.find("libmultipy-no-such.so", {}));
}

// --- /etc/ld.so.cache

struct CacheEntry {
  int32_t flags;
  uint64_t hwcap;
  std::string soname, path;
};

template <typename T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::vector<std::byte> cacheFile(const std::vector<CacheEntry>& entries, bool olderPart) {
  std::string older, header = "glibc-ld.so.cache1.1", table, strings;
  if (olderPart) {
    older = std::string("ld.so-1.7.0") + '\0';
    append(older, uint32_t{1});
    older.resize(older.size() + 12);         // one entry
    older.resize((older.size() + 7) & ~7u);  // the newer part is aligned
  }
  append(header, static_cast<uint32_t>(entries.size()));
  header.resize(48);
  const std::size_t stringsAt = header.size() + entries.size() * 24;
  for (const auto& entry : entries) {
    append(table, entry.flags);
    append(table, static_cast<uint32_t>(stringsAt + strings.size()));
    strings += entry.soname + '\0';
    append(table, static_cast<uint32_t>(stringsAt + strings.size()));
    strings += entry.path + '\0';
    append(table, uint32_t{0});
    append(table, entry.hwcap);
  }
  const std::string all = older + header + table + strings;
  const auto* begin = reinterpret_cast<const std::byte*>(all.data());
  return {begin, begin + all.size()};
}

const std::vector<CacheEntry> kEntries = {
    {0x0303, 0, "liba.so.1", "/x/liba.so.1"},
    {0x0303, uint64_t{1} << 62, "libb.so.1", "/x/glibc-hwcaps/x86-64-v3/libb.so.1"},
    {0x0303, 0, "libb.so.1", "/x/libb.so.1"},
    {0x0003, 0, "libc.so.1", "/x32/libc.so.1"},
    {0x0a03, 0, "liba.so.1", "/arm/liba.so.1"}};

TEST(LdSoCacheTest, ReadsBothFormsAndTellsMachinesApart) {
  for (const bool olderPart : {false, true}) {
    const auto bytes = cacheFile(kEntries, olderPart);
    const auto cache = LdSoCache::parse(bytes, elf::Machine::x86_64());
    EXPECT_EQ(cache.find("liba.so.1"), "/x/liba.so.1");
    EXPECT_EQ(cache.find("libb.so.1"), "/x/libb.so.1") << "the plain variant";
    EXPECT_EQ(cache.find("libc.so.1"), "") << "that is for another ABI";
    EXPECT_EQ(cache.size(), 2u);
    EXPECT_EQ(LdSoCache::parse(bytes, elf::Machine::aarch64()).find("liba.so.1"), "/arm/liba.so.1");
  }
}

TEST(LdSoCacheTest, ADamagedFileIsHarmless) {
  const auto whole = cacheFile(kEntries, true);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    LdSoCache::parse(std::vector(whole.begin(), whole.begin() + size), elf::Machine::x86_64());
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto damaged = whole;
    damaged[at] = std::byte{0xff};
    LdSoCache::parse(damaged, elf::Machine::x86_64());
  }
  EXPECT_EQ(LdSoCache::read("/no/such/file").size(), 0u);
}

TEST(LdSoCacheTest, ReadsThisMachinesCache) { EXPECT_GT(LdSoCache::read().size(), 10u); }

}  // namespace
}  // namespace multipy::loader::testing
