// Copies that go, or are damaged, between being made and being opened: by `multipy cache
// clear`, rm, a bad disk. The program does not notice.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "loader/cache_contents.h"
#include "loader/cache_limits.h"
#include "loader/cache_trimming.h"
#include "loader/private_space.h"
#include "loader/texts.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {
namespace {

/// Does something to the cache at the worst moment: just before dlopen.
class Vandal final : public LibraryAdapter {
 public:
  Renames renames(const elf::SharedObject&) override { return {}; }
  void beforeLoad(InterpreterId, const std::filesystem::path& original) override {
    ++loads;
    if (!act || original.filename() != victim || times == 0) return;
    --times;
    act();
  }
  void afterLoad(InterpreterId, const std::filesystem::path&, void* handle) override {
    failed += !handle;
  }
  void mapped(InterpreterId, const void*, const void*) override {}
  void unmapped(InterpreterId) override {}

  std::string victim;
  int times = 1;
  std::function<void()> act;
  std::atomic<int> loads = 0, failed = 0;
};

class CacheFaultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.build("site-packages/libbase.so", "int data = 1; int base(void) { return data; }",
                 "-Wl,-soname,libbase.so");
    top_ = bench_.build(
        "site-packages/top.so", "int base(void); int top(void) { return base(); }",
        "-L'" + (bench_ / "site-packages").string() + "' -l:libbase.so -Wl,-rpath,'$ORIGIN'");
  }
  std::unique_ptr<LivingSpace> newSpace(int slot) {
    return std::make_unique<LivingSpace>(bench_, slot, policy_, cache_, &vandal_);
  }
  /// The copies of this name, of all slots.
  std::vector<std::filesystem::path> copies(const std::string& name) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(bench_ / "cache"))
      if (entry.path().filename() == name) found.push_back(entry.path());
    return found;
  }
  void removeFolder() const { std::filesystem::remove_all(bench_ / "cache"); }
  /// Changes each copy of this name through `change`, but for those of the living slot: what
  /// is written into a file that is mapped changes what runs.
  void damage(const std::string& name, const std::function<void(int file)>& change) const {
    for (const auto& copy : copies(name)) {
      if (std::find(living_.begin(), living_.end(), copy) != living_.end()) continue;
      ::chmod(copy.c_str(), 0700);
      const int file = ::open(copy.c_str(), O_RDWR);
      ASSERT_GE(file, 0);
      change(file);
      ::close(file);
    }
  }
  static void makeStampFit(const std::filesystem::path& copy) {
    const auto stamp = copy.parent_path() / "verified";
    std::string format, digest, line;
    {
      std::ifstream in(stamp);
      std::getline(in, format);
      std::getline(in, digest);
      std::getline(in, line);
    }
    struct stat status;
    ASSERT_EQ(::stat(copy.c_str(), &status), 0);
    const auto time = [](const timespec& at) {
      return std::to_string(at.tv_sec) + "." + std::to_string(at.tv_nsec);
    };
    std::ofstream(stamp) << format << "\n"
                         << digest << "\nsize " << status.st_size << " inode " << status.st_ino
                         << " modified " << time(status.st_mtim) << " changed "
                         << time(status.st_ctim) << line.substr(line.find(" boot ")) << "\n";
  }
  /// Loads in two slots, one of which is living when it happens in the other.
  void expectUnnoticed(const std::string& victim, const std::function<void()>& act) {
    auto other = newSpace(0);
    const auto top = (*other)->load(top_);
    for (const auto& name : {"top.so", "libbase.so"})
      if (living_.size() < 2) living_.push_back(copies(name).at(0));
    auto space = newSpace(1);
    vandal_.victim = victim;
    vandal_.times = 1;
    vandal_.act = act;
    EXPECT_EQ(call((*space)->load(top_), "top"), 1);
    EXPECT_EQ(vandal_.times, 0) << "it never happened";
    vandal_.act = nullptr;
    EXPECT_EQ(call(top, "top"), 1);
    EXPECT_EQ(cache_->whyInMemory(), "");
    EXPECT_EQ((*space)->unload(), 0u);
    EXPECT_EQ((*other)->unload(), 0u);
  }

  Workbench bench_;
  Vandal vandal_;
  std::shared_ptr<IsolationPolicy> policy_ = std::make_shared<IsolationPolicy>(
      std::vector<std::filesystem::path>{bench_ / "site-packages"});
  std::shared_ptr<CopyCache> cache_ = CopyCache::in(bench_ / "cache");
  std::filesystem::path top_;
  std::vector<std::filesystem::path> living_;  // copies of slot 0
};

TEST_F(CacheFaultsTest, TheFolderIsRemovedJustBeforeItsCopyIsOpened) {
  expectUnnoticed("top.so", [&] { removeFolder(); });
  EXPECT_EQ(vandal_.failed, 1) << "ld.so did not find it, and found it the next time";
}

TEST_F(CacheFaultsTest, TheFolderIsRemovedBeforeADependencyIsOpened) {
  // What is to be opened behind it is gone as well, and is made again without an attempt.
  expectUnnoticed("libbase.so", [&] { removeFolder(); });
  EXPECT_EQ(vandal_.failed, 1);
}

TEST_F(CacheFaultsTest, TheFolderIsRemovedBetweenInterpreters) {
  for (int round = 0; round < 3; ++round) {
    auto space = newSpace(round % 2);
    removeFolder();
    EXPECT_EQ(call((*space)->load(top_), "top"), 1);
    EXPECT_EQ((*space)->unload(), 0u);
  }
  EXPECT_EQ(cache_->whyInMemory(), "");
}

TEST_F(CacheFaultsTest, TheCacheIsClearedJustBeforeItsCopyIsOpened) {
  expectUnnoticed("top.so", [&] { EXPECT_GT(clearCache(bench_ / "cache").copies, 0u); });
}

TEST_F(CacheFaultsTest, TheCopyIsCutShortJustBeforeItIsOpened) {
  for (const off_t size : {0, 40, 1000}) {
    expectUnnoticed("top.so", [&] {
      damage("top.so", [&](int file) { ASSERT_EQ(::ftruncate(file, size), 0); });
    });
  }
}

TEST_F(CacheFaultsTest, TheCopyIsOverwrittenJustBeforeItIsOpened) {
  expectUnnoticed("top.so", [&] {
    damage("top.so", [&](int file) { ASSERT_EQ(::pwrite(file, "no ELF", 6, 0), 6); });
  });
}

TEST_F(CacheFaultsTest, ACopyThatIsDamagedWhileAnotherLoadsIsMadeAgain) {
  // Bits that ld.so would not miss, in a library that is to be opened next.
  expectUnnoticed("libbase.so", [&] {
    damage("top.so", [&](int file) {
      struct stat status;
      ASSERT_EQ(::fstat(file, &status), 0);
      char byte;
      ASSERT_EQ(::pread(file, &byte, 1, status.st_size / 2), 1);
      byte ^= 0x10;
      ASSERT_EQ(::pwrite(file, &byte, 1, status.st_size / 2), 1);
    });
  });
  EXPECT_EQ(vandal_.failed, 0) << "it was found before it was opened";
}

TEST_F(CacheFaultsTest, ADiskThatLosesBitsWithoutSayingSoIsFoundByItsError) {
  // The stamp fits, so only ld.so's refusal leads to a look at the contents.
  expectUnnoticed("top.so", [&] {
    damage("top.so", [&](int file) { ASSERT_EQ(::pwrite(file, "no ELF", 6, 0), 6); });
    for (const auto& copy : copies("top.so"))
      if (copy != living_[0]) makeStampFit(copy);
  });
}

TEST_F(CacheFaultsTest, InterpretersStartWhileProcessesTrim) {
  setCacheLimits(bench_ / "cache", {1, std::chrono::seconds(1)});  // all that is not in use
  const auto trimUntilKilled = [this, test = ::getpid()]() noexcept {
    while (::getppid() == test) trimCache(bench_ / "cache");
    ::_exit(0);
  };
  std::vector<pid_t> trimmers;
  for (int i = 0; i < 2; ++i) {
    trimmers.push_back(::fork());
    if (trimmers.back() == 0) trimUntilKilled();
  }
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int slot = 0; slot < 8; ++slot) {
    threads.emplace_back([&, slot] {
      for (int round = 0; round < 4; ++round) {
        auto space = newSpace(slot);
        right += call((*space)->load(top_), "top") == 1 && (*space)->unload() == 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const pid_t trimmer : trimmers) {
    ::kill(trimmer, SIGKILL);
    ::waitpid(trimmer, nullptr, 0);
  }
  EXPECT_EQ(right, 8 * 4);
  EXPECT_EQ(cache_->whyInMemory(), "");
}

TEST_F(CacheFaultsTest, WhatGoesTimeAndAgainIsAnErrorAndHarmsNoOther) {
  auto other = newSpace(0);
  const auto top = (*other)->load(top_);
  auto space = newSpace(1);
  vandal_.victim = "top.so";
  vandal_.times = 1000;
  vandal_.act = [&] { removeFolder(); };
  try {
    (*space)->load(top_);
    ADD_FAILURE() << "it cannot have been loaded";
  } catch (const runtime::LoadError& error) {
    EXPECT_TRUE(contains(error.what(), top_.string())) << error.what();
    EXPECT_TRUE(contains(error.what(), "No such file or directory")) << error.what();
  }
  EXPECT_EQ(call(top, "top"), 1);
  vandal_.act = nullptr;
  EXPECT_EQ(call((*space)->load(top_), "top"), 1) << "it is no verdict for ever";
  EXPECT_EQ((*space)->unload(), 0u);
}

TEST_F(CacheFaultsTest, ALibraryThatIsBrokenItselfIsTriedOnce) {
  const auto broken =
      bench_.build("site-packages/broken.so", "int no(void); int f(void) { return no(); }");
  auto space = newSpace(0);
  vandal_.loads = 0;
  EXPECT_THROW((*space)->load(broken), runtime::LoadError);
  EXPECT_EQ(vandal_.loads, 1);
}

TEST_F(CacheFaultsTest, WhatStaysLoadedIsKnownAlsoWhenItsFileWasMoved) {
  // Another process has found its copy damaged, and has put a new one in its place.
  const auto sticky =
      bench_.build("site-packages/sticky.so", "int touch(void) { return 1; }", "-Wl,-z,nodelete");
  auto space = newSpace(0);
  void* const library = (*space)->load(sticky);
  EXPECT_EQ(call(library, "touch"), 1);
  for (const auto& copy : copies("sticky.so"))
    std::filesystem::rename(copy.parent_path(), bench_ / "elsewhere");
  EXPECT_GT((*space)->unload(), 0u);
}

}  // namespace
}  // namespace multipy::loader::testing
