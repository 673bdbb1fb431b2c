// The copy cache: that entries are found again, and what they survive.
#include "loader/copy_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

#include "base/blake2b.h"
#include "loader/texts.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {
namespace {

std::vector<std::byte> bytesOf(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string contentsOf(const CachedCopy& copy) {
  std::ifstream in(copy.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CopyCacheTest : public ::testing::Test {
 protected:
  std::shared_ptr<CopyCache> open() const { return CopyCache::in(directory_); }
  /// Gets `key`, made as "contents of <key>"; counts what had to be made.
  std::shared_ptr<CachedCopy> get(CopyCache& cache, const std::string& key = "key") {
    return cache.get(key, "libx.so", [&] {
      ++made_;
      return bytesOf("contents of " + key);
    });
  }
  /// All files of entries and drafts, relative to the cache.
  std::set<std::string> files() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
      const auto name = entry.path().lexically_relative(directory_);
      if (!entry.is_directory() && name.has_parent_path()) found.insert(name);
    }
    return found;
  }
  std::string whyRefused() const {
    try {
      open();
    } catch (const runtime::CacheError& error) {
      return error.what();
    }
    return "not refused";
  }

  Workbench bench_;
  std::filesystem::path directory_ = bench_ / "a/cache";
  int made_ = 0;
};

TEST(Blake2bTest, AgreesWithKnownDigests) {
  // From RFC 7693's reference implementation; b2sum -l 256 says the same.
  EXPECT_EQ(base::Blake2b::digest(""),
            "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(base::Blake2b::digest("abc"),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST_F(CopyCacheTest, Blake2bAgreesWithB2sumAroundBlockBoundaries) {
  for (const std::size_t size : {1, 127, 128, 129, 255, 256, 257, 1000, 1000000}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
    bench_.write("data", text);
    const std::string expected =
        run("b2sum -l 256 '" + (bench_ / "data").string() + "'").substr(0, 64);
    EXPECT_EQ(base::Blake2b::digest(text), expected) << size;
    // In pieces of all sorts of sizes, too.
    base::Blake2b pieces;
    const auto bytes = bytesOf(text);
    for (std::size_t at = 0, step = 1; at < size; at += step, step = step * 3 % 301 + 1) {
      pieces.update(std::span(bytes).subspan(at, std::min(step, size - at)));
    }
    EXPECT_EQ(pieces.finish(), expected) << size;
  }
}

TEST_F(CopyCacheTest, FindsAnEntryAgainAlsoAfterReopening) {
  auto cache = open();
  const auto copy = get(*cache);
  EXPECT_EQ(contentsOf(*copy), "contents of key");
  EXPECT_EQ(copy->path().filename(), "libx.so");
  EXPECT_EQ(get(*cache)->path(), copy->path());
  EXPECT_EQ(get(*open())->path(), copy->path());
  EXPECT_EQ(made_, 1);
  EXPECT_NE(get(*cache, "another")->path(), copy->path());
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(cache->directory(), std::filesystem::canonical(directory_));
  EXPECT_EQ(cache->whyInMemory(), "");
}

TEST_F(CopyCacheTest, NobodyElseMayLookIn) {
  get(*open());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(bench_ / "a")) {
    struct stat status;
    ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077, 0u) << entry.path();
  }
}

TEST_F(CopyCacheTest, WhatMakeThrowsPassesThroughAndLeavesNothingBehind) {
  auto cache = open();
  const auto fail = []() -> std::vector<std::byte> {
    throw std::system_error(ENOSPC, std::generic_category());
  };
  EXPECT_THROW(cache->get("key", "libx.so", fail), std::system_error);
  EXPECT_EQ(files(), std::set<std::string>());
  EXPECT_EQ(contentsOf(*get(*cache)), "contents of key");
}

TEST_F(CopyCacheTest, RefusesNamesThatAreNotPlain) {
  auto cache = open();
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "verified"}) {
    EXPECT_THROW(cache->get("key", name, [] { return bytesOf("x"); }), runtime::InvalidArgument)
        << name;
  }
}

// --- damage

void overwriteInPlace(const std::filesystem::path& file, const std::string& text, bool keepTimes) {
  struct stat before;
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  ::chmod(file.c_str(), 0700);
  const int opened = ::open(file.c_str(), O_WRONLY | O_TRUNC);
  ASSERT_GE(opened, 0);
  ASSERT_EQ(::write(opened, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  if (keepTimes) {
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::futimens(opened, times), 0);
  }
  ::close(opened);
}

TEST_F(CopyCacheTest, ADamagedCopyIsMadeAgain) {
  auto cache = open();
  const auto path = get(*cache)->path();
  const std::string sameLength = "CONTENTS of key";
  for (const std::string& damage : {std::string(), std::string("contents"), sameLength}) {
    for (const bool keepTimes : {false, true}) {
      const int before = made_;
      overwriteInPlace(path, damage, keepTimes);
      EXPECT_EQ(contentsOf(*get(*cache)), "contents of key");
      EXPECT_EQ(made_, before + 1) << "\"" << damage << "\", times kept: " << keepTimes;
    }
  }
}

TEST_F(CopyCacheTest, ACopyThatLostItsStampButIsRightIsKept) {
  auto cache = open();
  const auto path = get(*cache)->path();
  overwriteInPlace(path, "contents of key", false);  // another change time, the same contents
  EXPECT_EQ(get(*cache)->path(), path);
  EXPECT_EQ(made_, 1);
  // As after another boot, whose id the stamp does not have.
  const auto verified = path.parent_path() / "verified";
  std::string text;
  {
    std::ifstream in(verified);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto boot = text.find(" boot ");
  ASSERT_NE(boot, std::string::npos);
  std::ofstream(verified) << text.substr(0, boot) << " boot 11111111-2222\n";
  get(*cache);
  EXPECT_EQ(made_, 1);
  std::ifstream renewed(verified);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(renewed), {}), text);
  EXPECT_EQ(files().size(), 2u) << "renewing the stamp leaves nothing else behind";
}

TEST_F(CopyCacheTest, AMissingPieceIsMadeAgain) {
  auto cache = open();
  const auto path = get(*cache)->path();
  for (const auto& piece : {path, path.parent_path() / "verified", path.parent_path(),
                            path.parent_path().parent_path(), directory_}) {
    std::filesystem::remove_all(piece);
    EXPECT_EQ(contentsOf(*get(*cache)), "contents of key") << piece;
    EXPECT_EQ(cache->whyInMemory(), "");
  }
  EXPECT_EQ(made_, 6);
}

TEST_F(CopyCacheTest, ATornStampIsNotBelieved) {
  auto cache = open();
  const auto path = get(*cache)->path();
  for (const char* text :
       {"", "multipy copy 1", "multipy copy 1\n", "multipy copy 1\n\n", "x\ny\nz\n"}) {
    std::ofstream(path.parent_path() / "verified") << text;
    EXPECT_EQ(contentsOf(*get(*cache)), "contents of key");
  }
  EXPECT_EQ(made_, 6);
}

// --- other users

TEST_F(CopyCacheTest, LinksAreNotFollowed) {
  auto cache = open();
  const auto path = get(*cache)->path();
  bench_.write("evil.so", "evil");
  std::filesystem::remove(path);
  std::filesystem::create_symlink(bench_ / "evil.so", path);
  EXPECT_EQ(contentsOf(*get(*cache)), "contents of key");
  EXPECT_FALSE(std::filesystem::is_symlink(path));

  const auto entry = path.parent_path();
  std::filesystem::rename(entry, bench_ / "stolen");
  std::filesystem::create_directory_symlink(bench_ / "stolen", entry);
  get(*cache);
  EXPECT_FALSE(std::filesystem::is_symlink(entry)) << "an entry that is a link is replaced";

  const auto shard = entry.parent_path();
  std::filesystem::rename(shard, bench_ / "stolen2");
  std::filesystem::create_directory_symlink(bench_ / "stolen2", shard);
  EXPECT_TRUE(get(*cache)->path().string().starts_with("/proc/self/fd/"));
  EXPECT_NE(cache->whyInMemory(), "");

  std::filesystem::rename(directory_, bench_ / "stolen3");
  std::filesystem::create_directory_symlink(bench_ / "stolen3", directory_);
  EXPECT_TRUE(contains(whyRefused(), "links are not followed"));
}

TEST_F(CopyCacheTest, ADirectoryThatOthersCanWriteIsRefused) {
  std::filesystem::create_directories(directory_);
  for (const mode_t mode : {0770, 0707, 0777}) {
    ASSERT_EQ(::chmod(directory_.c_str(), mode), 0);
    EXPECT_TRUE(contains(whyRefused(), "expected one that no other user can write to"));
  }
  ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);
  ASSERT_EQ(::chmod((bench_ / "a").c_str(), 0777), 0);
  EXPECT_TRUE(contains(whyRefused(), (bench_ / "a").string() + " has mode 0777"));
  ASSERT_EQ(::chmod((bench_ / "a").c_str(), 01777), 0);
  EXPECT_EQ(whyRefused(), "not refused") << "as in /tmp, no other user can replace ours";
}

TEST_F(CopyCacheTest, EveryLinkOnTheWayMustBeSafeToo) {
  // a -> public/a -> private/a: another user could lead the second one elsewhere.
  for (const char* folder : {"public", "private/a"})
    std::filesystem::create_directories(bench_ / folder);
  std::filesystem::create_directory_symlink(bench_ / "private/a", bench_ / "public/a");
  std::filesystem::create_directory_symlink("public/../public/./a", bench_ / "a");
  ASSERT_EQ(::chmod((bench_ / "public").c_str(), 0777), 0);
  EXPECT_TRUE(contains(whyRefused(), (bench_ / "public").string() + " has mode 0777"));
  ASSERT_EQ(::chmod((bench_ / "public").c_str(), 0755), 0);
  EXPECT_EQ(open()->directory(), std::filesystem::canonical(bench_ / "private/a/cache"));
}

TEST_F(CopyCacheTest, AnEntryThatOthersCouldWriteIsMadeAgain) {
  auto cache = open();
  const auto path = get(*cache)->path();
  ASSERT_EQ(::chmod(path.c_str(), 0770), 0);
  get(*cache);
  EXPECT_EQ(made_, 2);
  ASSERT_EQ(::chmod(path.parent_path().c_str(), 0777), 0);
  get(*cache);
  EXPECT_EQ(made_, 3);
  struct stat status;
  ASSERT_EQ(::stat(path.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
}

TEST_F(CopyCacheTest, AnotherUsersDirectoryIsRefused) {
  if (::geteuid() != 0) {  // only root can give files away, but root has given us some
    directory_ = "/usr";
    EXPECT_TRUE(contains(whyRefused(), "belongs to user 0"));
    return;
  }
  std::filesystem::create_directories(directory_);
  ASSERT_EQ(::chown(directory_.c_str(), 12345, 12345), 0);
  EXPECT_TRUE(contains(whyRefused(), "belongs to user 12345"));
  ASSERT_EQ(::chown(directory_.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown((bench_ / "a").c_str(), 12345, 12345), 0);
  EXPECT_TRUE(contains(whyRefused(), "belongs to user 12345"));
  ASSERT_EQ(::chown((bench_ / "a").c_str(), 0, 0), 0);
  auto cache = open();
  const auto path = get(*cache)->path();
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_EQ(contentsOf(*get(*cache)), "contents of key");
  EXPECT_EQ(made_, 2);
}

TEST_F(CopyCacheTest, ADirectoryThatCannotBeMadeIsRefused) {
  bench_.write("a", "a file");
  EXPECT_TRUE(contains(whyRefused(), "cannot make"));
  EXPECT_THROW(CopyCache::in(""), runtime::InvalidArgument);
}

// --- where there is no directory

TEST_F(CopyCacheTest, InMemoryCopiesAreSealedAndShared) {
  auto cache = CopyCache::inMemory();
  EXPECT_EQ(cache->directory(), "");
  EXPECT_NE(cache->whyInMemory(), "");
  auto copy = get(*cache);
  EXPECT_EQ(contentsOf(*copy), "contents of key");
  EXPECT_EQ(get(*cache)->path(), copy->path());
  EXPECT_EQ(made_, 1);
  const int file = ::open(copy->path().c_str(), O_WRONLY);
  if (file >= 0) {
    EXPECT_LT(::write(file, "x", 1), 0) << "a sealed file was changed";
    EXPECT_LT(::ftruncate(file, 0), 0);
    ::close(file);
  }
  const auto path = copy->path();
  copy.reset();
  EXPECT_FALSE(std::filesystem::exists(path)) << "it is gone with its last user";
  get(*cache);
  EXPECT_EQ(made_, 2);
}

class UserCacheTest : public CopyCacheTest {
 protected:
  void SetUp() override {
    for (const char* name : {"XDG_CACHE_HOME", "HOME"}) {
      const char* value = ::getenv(name);
      if (value) saved_[name] = value;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::map<std::string, std::string> saved_;
};

TEST_F(UserCacheTest, IsWhereTheEnvironmentSays) {
  ::setenv("HOME", (bench_ / "home").c_str(), 1);
  EXPECT_EQ(CopyCache::forUser()->directory(), bench_ / "home/.cache/multipy");
  ::setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
  EXPECT_EQ(CopyCache::forUser()->directory(), bench_ / "home/.cache/multipy");
  ::setenv("XDG_CACHE_HOME", (bench_ / "xdg").c_str(), 1);
  EXPECT_EQ(CopyCache::forUser()->directory(), bench_ / "xdg/multipy");
}

TEST_F(UserCacheTest, FallsBackToMemoryWhereThereIsNoDirectory) {
  bench_.write("xdg", "a file where the directory should be");
  ::setenv("XDG_CACHE_HOME", (bench_ / "xdg").c_str(), 1);
  auto cache = CopyCache::forUser();
  EXPECT_EQ(cache->directory(), "");
  EXPECT_TRUE(contains(cache->whyInMemory(), (bench_ / "xdg").string()));
  EXPECT_EQ(contentsOf(*get(*cache)), "contents of key");
}

}  // namespace
}  // namespace multipy::loader::testing
