// How large a directory of copies may grow: what goes, what stays, who sees to it.
#include "loader/cache_limits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>

#include "base/file_descriptor.h"
#include "loader/cache_contents.h"
#include "loader/cache_trimming.h"
#include "loader/copy_cache.h"
#include "loader/texts.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::size_t kSize = 100'000;  // of a copy

std::vector<std::byte> contentsFor(const std::string& key, std::size_t size = kSize) {
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; ++at) bytes[at] = std::byte(key[at % key.size()] + at / 256);
  return bytes;
}

void setLastUse(const std::filesystem::path& file, seconds ago) {
  const timespec then{::time(nullptr) - ago.count(), 0};
  const timespec times[] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

seconds sinceLastUse(const std::filesystem::path& file) {
  struct stat status;
  EXPECT_EQ(::stat(file.c_str(), &status), 0);
  // (Not time(): its clock is some milliseconds behind.)
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return seconds(now - status.st_mtim.tv_sec);
}

/// Runs `body` in a child process, which `ends` tells to end.
class Child {
 public:
  template <typename Body>
  explicit Child(const Body& body) {
    int ready[2];
    if (::pipe(ready)) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      try {
        body();
        if (::write(ready[1], "r", 1) == 1) ::pause();
      } catch (const std::exception& error) {
        std::cerr << "child: " << error.what() << "\n";
      }
      ::_exit(1);
    }
    ::close(ready[1]);
    char told;
    ready_ = ::read(ready[0], &told, 1) == 1;
    ::close(ready[0]);
  }
  ~Child() { kill(); }
  bool ready() const { return ready_; }
  void kill() {
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  bool ready_ = false;
};

class CacheLimitsTest : public ::testing::Test {
 protected:
  std::shared_ptr<CopyCache> open() const { return CopyCache::in(directory_); }
  /// Gets `key`, and counts what had to be made.
  std::filesystem::path get(CopyCache& cache, const std::string& key, std::size_t size = kSize) {
    return cache
        .get(key, "libx.so",
             [&] {
               ++made_;
               return contentsFor(key, size);
             })
        ->path();
  }
  /// Makes entries that were last used so long ago, by a program that has ended.
  void make(const std::map<std::string, seconds>& lastUses) {
    const auto cache = open();
    for (const auto& [key, ago] : lastUses) {
      const auto path = get(*cache, key);
      entries_[key] = path.parent_path();
      setLastUse(entries_[key], ago);
    }
  }
  std::string left() const {
    std::string keys;
    for (const auto& [key, entry] : entries_) keys += std::filesystem::exists(entry) ? key : "";
    return keys;
  }
  /// As if the directory had been trimmed so long ago.
  void trimmed(seconds ago) const { setLastUse(directory_ / "trimmed", ago); }
  void setLimits(std::optional<std::uintmax_t> bytes, std::optional<seconds> age) const {
    setCacheLimits(directory_, {bytes, age});
  }
  std::size_t drafts() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_ / "tmp"), {}));
  }

  Workbench bench_;
  std::filesystem::path directory_ = bench_ / "cache";
  std::map<std::string, std::filesystem::path> entries_;  // by key
  int made_ = 0;
};

// --- the limits themselves

TEST_F(CacheLimitsTest, SizesAndAgesAreReadAndWritten) {
  const std::map<std::string, std::uintmax_t> sizes{{"1B", 1},
                                                    {"7kB", 7000},
                                                    {"7KiB", 7168},
                                                    {"500MB", 500'000'000},
                                                    {"2GiB", std::uintmax_t{2} << 30},
                                                    {"3TB", 3'000'000'000'000}};
  std::optional<std::uintmax_t> bytes;
  for (const auto& [text, value] : sizes) {
    EXPECT_TRUE(parseSizeLimit(text, bytes)) << text;
    EXPECT_EQ(bytes, value) << text;
    EXPECT_EQ(textOfSizeLimit(value), text);
  }
  EXPECT_EQ(textOfSizeLimit(std::uintmax_t{1024} << 20), "1GiB");
  EXPECT_TRUE(parseSizeLimit("none", bytes));
  EXPECT_EQ(bytes, std::nullopt);
  for (const char* text : {"", "0", "0GB", "7", "GB", "-1GB", "+1GB", "1 GB", "1gb", "1.5GB",
                           "1GBs", "9000000TiB", "99999999999999999999999B"}) {
    EXPECT_FALSE(parseSizeLimit(text, bytes)) << text;
  }
  const std::map<std::string, seconds> ages{
      {"45s", seconds(45)}, {"90min", seconds(5400)}, {"12h", hours(12)}, {"30d", days(30)}};
  std::optional<seconds> age;
  for (const auto& [text, value] : ages) {
    EXPECT_TRUE(parseAgeLimit(text, age)) << text;
    EXPECT_EQ(age, value) << text;
    EXPECT_EQ(textOfAgeLimit(value), text);
  }
  EXPECT_TRUE(parseAgeLimit("none", age));
  EXPECT_EQ(age, std::nullopt);
  for (const char* text : {"", "0d", "7", "d", "-1d", "1 d", "1D", "1d1h", "99999d"}) {
    EXPECT_FALSE(parseAgeLimit(text, age)) << text;
  }
}

TEST_F(CacheLimitsTest, BelongToTheDirectory) {
  EXPECT_EQ(cacheLimits(directory_), CacheLimits());
  EXPECT_FALSE(std::filesystem::exists(directory_)) << "asking makes nothing";
  const CacheLimits limits{std::uintmax_t{5} << 30, std::nullopt};
  setCacheLimits(directory_, limits);
  EXPECT_EQ(cacheLimits(directory_), limits);
  setCacheLimits(directory_, {std::nullopt, days(7)});
  EXPECT_EQ(cacheLimits(directory_), (CacheLimits{std::nullopt, days(7)}));
  EXPECT_EQ(cacheLimits(bench_ / "another"), CacheLimits());
  clearCache(directory_);
  EXPECT_EQ(cacheLimits(directory_), (CacheLimits{std::nullopt, days(7)}));
}

TEST_F(CacheLimitsTest, ThatCannotBeUnderstoodAreAnErrorAndRemoveNothing) {
  make({{"a", days(100)}});
  for (const char* text : {"", "\n", "size 1GB\n", "size 1GB\nage 1d", "age 1d\nsize 1GB\n",
                           "size 1GB\nage soon\n", "size 1GB\nage 1d\nmore\n"}) {
    std::ofstream(directory_ / "limits") << text;
    try {
      cacheLimits(directory_);
      ADD_FAILURE() << text;
    } catch (const runtime::CacheError& error) {
      EXPECT_TRUE(contains(error.what(), "limits: found")) << error.what();
      EXPECT_TRUE(contains(error.what(), "expected \"size 10GiB\"")) << error.what();
    }
    EXPECT_THROW(trimCache(directory_), runtime::CacheError);
    trimmed(days(2));
    get(*open(), "new");
    EXPECT_EQ(left(), "a") << "\"" << text << "\" may have been larger than the default";
  }
  std::filesystem::remove(directory_ / "limits");
  std::filesystem::create_symlink(bench_ / "elsewhere", directory_ / "limits");
  EXPECT_THROW(cacheLimits(directory_), runtime::CacheError);
  bench_.write("file", "in the way");
  EXPECT_THROW(setCacheLimits(bench_ / "file", {}), runtime::CacheError);
  EXPECT_THROW(cacheLimits(bench_ / "file"), runtime::CacheError);
  EXPECT_THROW(trimCache(bench_ / "file"), runtime::CacheError);
}

// --- what goes, and what stays

TEST_F(CacheLimitsTest, WhatIsUnusedForLongGoes) {
  make({{"a", days(31)}, {"b", days(29)}, {"c", days(400)}});
  EXPECT_EQ(trimCache(directory_).copies, 2u);
  EXPECT_EQ(left(), "b");
  setLimits(std::nullopt, std::nullopt);
  setLastUse(entries_["b"], days(4000));
  EXPECT_EQ(trimCache(directory_).copies, 0u);
  EXPECT_EQ(left(), "b");
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(CacheLimitsTest, BeyondTheSizeTheLeastRecentlyUsedGo) {
  make({{"a", hours(2)}, {"b", hours(5)}, {"c", hours(3)}, {"d", hours(4)}, {"e", hours(1)}});
  const auto all = cacheContents(directory_);
  EXPECT_EQ(all.copies, 5u);
  setLimits(all.bytes, days(1));
  EXPECT_EQ(trimCache(directory_).copies, 0u) << "that much is allowed";
  setLimits(2 * kSize + kSize / 2, days(1));
  const auto removed = trimCache(directory_);
  EXPECT_EQ(removed.copies, 3u);
  EXPECT_EQ(left(), "ae");
  EXPECT_EQ(cacheContents(directory_).bytes, all.bytes - removed.bytes);
}

TEST_F(CacheLimitsTest, ToBeTakenIsToBeUsed) {
  make({{"a", days(20)}, {"b", days(20)}});
  get(*open(), "a");
  EXPECT_LT(sinceLastUse(entries_["a"]), hours(1));
  EXPECT_GE(sinceLastUse(entries_["b"]), days(20));
  // At most once an hour: that much writing is worth it.
  setLastUse(entries_["b"], seconds(3000));
  get(*open(), "b");
  EXPECT_GE(sinceLastUse(entries_["b"]), seconds(3000));
  EXPECT_EQ(made_, 2);
}

TEST_F(CacheLimitsTest, AWrongClockKeepsNothingForEver) {
  make({{"a", -days(1000)}, {"b", -days(1000)}});
  get(*open(), "a");
  EXPECT_LT(sinceLastUse(entries_["a"]), hours(1));
  EXPECT_GE(sinceLastUse(entries_["a"]), seconds(0));
  trimCache(directory_);
  EXPECT_EQ(left(), "ab");
  EXPECT_GE(sinceLastUse(entries_["b"]), seconds(0));
}

TEST_F(CacheLimitsTest, WhatARunningProgramHasTakenStays) {
  make({{"a", days(1)}, {"b", days(1)}});
  Child program([&] {
    static const auto cache = open();  // it is killed with it
    get(*cache, "a");
  });
  ASSERT_TRUE(program.ready());
  setLastUse(entries_["a"], days(1000));
  setLimits(1, seconds(1));
  trimCache(directory_);
  EXPECT_EQ(left(), "a");
  program.kill();
  trimCache(directory_);
  EXPECT_EQ(left(), "") << "the kernel has dropped its lock";
}

TEST_F(CacheLimitsTest, WhatThisProgramHasTakenStaysUntilItsCacheIsClosed) {
  make({{"a", days(1)}});
  auto cache = open();
  get(*cache, "a");
  setLastUse(entries_["a"], days(1000));
  setLimits(1, seconds(1));
  trimCache(directory_);
  EXPECT_EQ(left(), "a");
  cache.reset();
  trimCache(directory_);
  EXPECT_EQ(left(), "");
}

TEST_F(CacheLimitsTest, AProgramThatNeedsMoreThanTheSizeMakesItsCopiesOnce) {
  setLimits(3 * kSize, days(1));
  const auto cache = open();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50; ++i) get(*cache, "key " + std::to_string(i));
    setLastUse(directory_ / "trimmed", days(2));
  }
  EXPECT_EQ(made_, 50);
  EXPECT_EQ(cacheContents(directory_).copies, 50u);
}

TEST_F(CacheLimitsTest, AFolderThatWasRemovedAndMadeAnewIsMarkedAgain) {
  auto cache = open();
  entries_["a"] = get(*cache, "a").parent_path();
  std::filesystem::remove_all(directory_);
  EXPECT_EQ(get(*cache, "a").parent_path(), entries_["a"]);
  setLimits(1, seconds(1));
  setLastUse(entries_["a"], days(1000));
  trimCache(directory_);
  EXPECT_EQ(left(), "a");
}

TEST_F(CacheLimitsTest, NothingElseIsRemoved) {
  make({{"a", days(1000)}});
  const auto shard = entries_["a"].parent_path();
  bench_.write("cache/notes/own.txt", "of a person's");
  bench_.write("cache/" + shard.filename().string() + "/notes.txt", "of a person's");
  std::filesystem::create_directories(bench_ / "elsewhere/kept");
  std::filesystem::create_directory_symlink(bench_ / "elsewhere", directory_ / "00");
  std::filesystem::create_directory_symlink(bench_ / "elsewhere",
                                            shard / (shard.filename().string() + "00"));
  setLimits(1, seconds(1));
  trimCache(directory_);
  clearCache(directory_);
  EXPECT_EQ(left(), "");
  EXPECT_TRUE(std::filesystem::exists(directory_ / "notes/own.txt"));
  EXPECT_TRUE(std::filesystem::exists(shard / "notes.txt"));
  EXPECT_TRUE(std::filesystem::exists(bench_ / "elsewhere/kept"));
}

// --- who sees to it, and when

TEST_F(CacheLimitsTest, ACacheThatNobodyHasTrimmedIsWhenItIsOpened) {
  make({{"a", days(100)}, {"b", days(1)}});
  std::filesystem::remove(directory_ / "trimmed");  // as former versions have left it
  open();
  EXPECT_EQ(left(), "b");
}

TEST_F(CacheLimitsTest, OpeningTrimsOnceADay) {
  make({{"a", days(100)}});
  trimmed(hours(23));
  open();
  EXPECT_EQ(left(), "a");
  trimmed(hours(25));
  open();
  EXPECT_EQ(left(), "");
  EXPECT_LT(sinceLastUse(directory_ / "trimmed"), hours(1));
}

TEST_F(CacheLimitsTest, WritingTrimsOnceAnHour) {
  make({{"a", days(100)}});
  auto cache = open();
  trimmed(seconds(3500));
  get(*cache, "new");
  EXPECT_EQ(left(), "a");
  trimmed(seconds(3700));
  get(*cache, "new");
  EXPECT_EQ(left(), "a") << "to find a copy is not to write one";
  get(*cache, "newer");
  EXPECT_EQ(left(), "");
}

TEST_F(CacheLimitsTest, WritingASixteenthOfTheSizeTrims) {
  make({{"a", days(100)}});
  setLimits(64 * kSize, days(30));
  auto cache = open();
  for (int i = 0; i < 3; ++i) get(*cache, std::to_string(i));
  EXPECT_EQ(left(), "a");
  get(*cache, "the fourth");
  EXPECT_EQ(left(), "");
}

TEST_F(CacheLimitsTest, OneProgramTrimsAndTheOthersDoNotWaitForIt) {
  make({{"a", days(100)}});
  {
    // As a process that was stopped while it trims.
    const base::FileDescriptor turn(::open((directory_ / "trimmed").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(turn.get(), LOCK_EX), 0);
    EXPECT_EQ(trimCache(directory_).copies, 0u);
    trimmed(days(2));
    get(*open(), "new");
    EXPECT_EQ(left(), "a");
  }
  trimCache(directory_);
  EXPECT_EQ(left(), "");
}

TEST_F(CacheLimitsTest, ManyProcessesTrimWhileManyThreadsTakeCopies) {
  setLimits(1, seconds(1));  // all that is not in use
  open();
  int alive[2];  // open for as long as a process that trims has not ended
  ASSERT_EQ(::pipe(alive), 0);
  std::vector<std::unique_ptr<Child>> trimmers;
  for (int i = 0; i < 4; ++i) {
    trimmers.push_back(std::make_unique<Child>([&] {
      // A child of its own trims, until this one is killed.
      if (::fork() != 0) return;
      const pid_t trimmer = ::getppid();
      while (::getppid() == trimmer) trimCache(directory_);
      ::_exit(0);
    }));
    ASSERT_TRUE(trimmers.back()->ready());
  }
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto cache = open();
      for (int round = 0; round < 40; ++round) {
        const std::string key = std::to_string(i % 4) + " " + std::to_string(round % 10);
        const auto copy = cache->get(key, "libx.so", [&] { return contentsFor(key); });
        // What is taken is marked, or was being removed at that moment and is made anew.
        for (int attempt = 0; attempt < 3; ++attempt) {
          if (readBytes(copy->path()) == contentsFor(key)) {
            ++right;
            break;
          }
          cache->get(key, "libx.so", [&] { return contentsFor(key); });
        }
        if (!cache->whyInMemory().empty()) --right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 40);
  trimmers.clear();
  // The children of those that were killed see that, and end, when they have trimmed.
  ::close(alive[1]);
  char nothing;
  EXPECT_EQ(::read(alive[0], &nothing, 1), 0);
  ::close(alive[0]);
  open();  // removes what is left
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(CacheLimitsTest, OneThatIsKilledWhileItTrimsLeavesNothingHalf) {
  setLimits(1, seconds(1));
  for (int round = 0; round < 10; ++round) {
    std::map<std::string, seconds> all;
    for (int i = 0; i < 20; ++i) all[std::to_string(i)] = days(i);
    make(all);
    const pid_t child = ::fork();
    if (child == 0) {
      trimCache(directory_);
      ::_exit(0);
    }
    // From before its first to after its last.
    while (static_cast<int>(cacheContents(directory_).copies) > 20 - 2 * round) {
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto cache = open();
    EXPECT_EQ(drafts(), 0u);
    for (const auto& [key, ago] : all)
      EXPECT_EQ(readBytes(get(*cache, key)), contentsFor(key)) << key;
    EXPECT_EQ(cache->whyInMemory(), "");
  }
}

TEST_F(CacheLimitsTest, ACacheThatCannotBeWrittenIsUsedAsItIs) {
  make({{"a", days(100)}});
  std::filesystem::remove(directory_ / "trimmed");
  const pid_t child = ::fork();
  if (child == 0) {
    bool well = true;
    if (::geteuid() == 0) {  // root may write everywhere
      for (const auto& entry : std::filesystem::recursive_directory_iterator(bench_ / ""))
        well &= ::chown(entry.path().c_str(), 12345, 12345) == 0;
      well &= ::chown((bench_ / "").c_str(), 12345, 12345) == 0;
      well &= ::setgid(12345) == 0 && ::setuid(12345) == 0;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_))
      if (entry.is_directory()) ::chmod(entry.path().c_str(), 0500);
    ::chmod(directory_.c_str(), 0500);
    const auto cache = open();
    well &= get(*cache, "a").string().starts_with(directory_.string());
    try {
      trimCache(directory_);
      well = false;
    } catch (const runtime::CacheError& error) {
      well &= contains(error.what(), "Permission denied");
    }
    ::_exit(well ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(left(), "a");
}

}  // namespace
}  // namespace multipy::loader::testing
