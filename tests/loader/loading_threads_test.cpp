// Many threads that load at once, into one space and into many.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "../runtime/forked_children.h"
#include "loader/loading_process.h"
#include "loader/private_space.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {
namespace {

constexpr int kLibraries = 6;
constexpr int kThreads = 8;

class LoadingThreadsTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    bench_.standIn();
    bench_.build("site-packages/libbase.so", "int count(void) { static int n; return ++n; }",
                 "-Wl,-soname,libbase.so");
    for (int i = 0; i < kLibraries; ++i) {
      libraries_.push_back(bench_.build(
          "site-packages/lib" + std::to_string(i) + ".so", R"(
            #define _GNU_SOURCE
            #include <dlfcn.h>
            int count(void);
            const char* PyThing_Who(void);
            int get(void) { return count(); }
            int looks(void) {
              Dl_info info;
              return dladdr(looks, &info) && dlsym(RTLD_DEFAULT, "PyThing_Who") == PyThing_Who;
            })",
          "-L'" + (bench_ / "site-packages").string() + "' -l:libbase.so -Wl,-rpath,'$ORIGIN'"));
    }
  }
  std::unique_ptr<LivingSpace> newSpace(int slot) const {
    return std::make_unique<LivingSpace>(bench_, slot, policy_, cache_);
  }
  template <typename Body>
  static void inThreads(const Body& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { body(i); });
    for (auto& thread : threads) thread.join();
  }

  Workbench bench_;
  std::shared_ptr<IsolationPolicy> policy_ = std::make_shared<IsolationPolicy>(
      std::vector<std::filesystem::path>{bench_ / "site-packages"});
  std::shared_ptr<CopyCache> cache_ =
      GetParam() ? CopyCache::inMemory() : CopyCache::in(bench_ / "cache");
  std::vector<std::filesystem::path> libraries_;
};

INSTANTIATE_TEST_SUITE_P(Copies, LoadingThreadsTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "inMemory" : "onDisk"; });

TEST_P(LoadingThreadsTest, EachIntoItsOwnSpace) {
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> right = 0;
    inThreads([&](int thread) {
      auto space = newSpace(thread);
      for (int i = 0; i < kLibraries; ++i) {
        void* handle = (*space)->load(libraries_[(i + thread) % kLibraries]);
        right += call(handle, "get") == i + 1 && call(handle, "looks");
      }
      right += (*space)->unload() == 0;
    });
    EXPECT_EQ(right, kThreads * (kLibraries + 1));
  }
}

TEST_P(LoadingThreadsTest, AllIntoOneSpace) {
  auto space = newSpace(0);
  std::vector<std::vector<void*>> handles(kThreads, std::vector<void*>(kLibraries));
  std::atomic<int> looks = 0;
  inThreads([&](int thread) {
    for (int i = 0; i < kLibraries; ++i) {
      const int which = (i + thread) % kLibraries;
      void* handle = handles[thread][which] = (*space)->load(libraries_[which]);
      looks += call(handle, "looks");
      looks += (*space)->symbol(RTLD_DEFAULT, "malloc", nullptr) != nullptr;
      looks += !(*space)->loaded().empty();
      looks += (*space)->open("libbase.so", RTLD_NOW, addressOf(handle, "get")) != nullptr;
    }
  });
  EXPECT_EQ(looks, kThreads * kLibraries * 4);
  for (int thread = 1; thread < kThreads; ++thread) EXPECT_EQ(handles[thread], handles[0]);
  EXPECT_EQ((*space)->loaded().size(), 2u + kLibraries + 1) << "interpreter, libc, base, libraries";
  EXPECT_EQ((*space)->unload(), 0u);
}

TEST_P(LoadingThreadsTest, AForkedChildLoadsWhateverOtherThreadsDo) {
  auto space = newSpace(0);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int slot = 1; !stop; slot = slot % 9 + 1) {
      const auto other = newSpace(slot);
      (*other)->load(libraries_[0]);
      (*other)->unload();
    }
  });
  LoadingProcess& process = LoadingProcess::instance();
  for (int fork = 0; fork < 20; ++fork) {
    const bool locked = process.lockForFork(std::chrono::seconds(60));
    EXPECT_TRUE(locked);
    testing_support::expectChildrenToEnd(1, [&] {
      process.unlockAfterFork(true, locked);
      return call((*space)->load(libraries_[0]), "get") == 1 ? 0 : 1;
    });
    process.unlockAfterFork(false, locked);
  }
  stop = true;
  busy.join();
}

TEST_P(LoadingThreadsTest, AChildForkedOffDuringALongLoadSaysThatItCannotLoad) {
  auto space = newSpace(0);
  LoadingProcess& process = LoadingProcess::instance();
  std::atomic<bool> loading = false, leave = false;
  std::thread busy([&] {
    const LoadingLock lock = process.lock();
    loading = true;
    while (!leave) std::this_thread::yield();
  });
  while (!loading) std::this_thread::yield();
  const bool locked = process.lockForFork(std::chrono::milliseconds(1));
  EXPECT_FALSE(locked);
  testing_support::expectChildrenToEnd(1, [&] {
    process.unlockAfterFork(true, locked);
    try {
      (*space)->load(libraries_[0]);
    } catch (const runtime::LoadError& error) {
      return std::string(error.what()).find("in this child of fork()") == std::string::npos;
    }
    return true;
  });
  process.unlockAfterFork(false, locked);
  leave = true;
  busy.join();
  EXPECT_EQ(call((*space)->load(libraries_[0]), "get"), 1);
}

}  // namespace
}  // namespace multipy::loader::testing
