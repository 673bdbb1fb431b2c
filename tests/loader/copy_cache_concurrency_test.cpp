// The copy cache among threads and processes: racing, killed, out of space or
// out of rights.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>

#include "loader/copy_cache.h"
#include "loader/texts.h"
#include "loader/workbench.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader::testing {
namespace {

constexpr std::size_t kMegabyte = 1 << 20;

/// Contents that depend on every byte of the key and are large enough to be torn.
std::vector<std::byte> contentsFor(const std::string& key, std::size_t size = kMegabyte) {
  std::vector<std::byte> bytes(size);
  uint64_t state = std::hash<std::string>()(key) | 1;
  for (std::size_t at = 0; at + 8 <= size; at += 8) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::memcpy(bytes.data() + at, &state, 8);
  }
  return bytes;
}

bool isRight(const CachedCopy& copy, const std::string& key, std::size_t size = kMegabyte) {
  return readBytes(copy.path()) == contentsFor(key, size);
}

/// Runs `body` in a child process, whose exit code tells whether all went well.
template <typename Body>
pid_t inChild(const Body& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 1;
  try {
    code = body() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "child: " << error.what() << "\n";
  }
  ::_exit(code);
}

int exitCodeOf(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class CopyCacheConcurrencyTest : public ::testing::Test {
 protected:
  std::vector<std::filesystem::path> drafts() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "tmp")) {
      found.push_back(entry.path());
    }
    return found;
  }
  std::shared_ptr<CachedCopy> get(CopyCache& cache, const std::string& key,
                                  std::size_t size = kMegabyte) const {
    return cache.get(key, "libx.so", [&] { return contentsFor(key, size); });
  }
  /// Opens the cache anew, as another process would.
  bool gets(const std::string& key) const {
    auto cache = CopyCache::in(directory_);
    return isRight(*get(*cache, key), key) && cache->whyInMemory().empty();
  }

  Workbench bench_;
  std::filesystem::path directory_ = bench_ / "cache";
};

TEST_F(CopyCacheConcurrencyTest, ThreadsAgreeOnOneEntry) {
  auto cache = CopyCache::in(directory_);
  std::atomic<int> right = 0;
  std::vector<std::filesystem::path> paths(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        const std::string key = "key " + std::to_string(round);
        const auto copy = get(*cache, key);
        right += isRight(*copy, key);
        if (round == 0) paths[i] = copy->path();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 80);
  for (const auto& path : paths) EXPECT_EQ(path, paths[0]);
  EXPECT_EQ(drafts().size(), 0u);
  EXPECT_EQ(cache->whyInMemory(), "");
}

TEST_F(CopyCacheConcurrencyTest, ThreadsMayRepairWhileOthersDamage) {
  auto cache = CopyCache::in(directory_);
  const auto path = get(*cache, "key")->path();
  std::atomic<bool> stop = false;
  std::thread vandal([&] {
    while (!stop) ::truncate(path.c_str(), 1000);
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) get(*cache, "key");
    });
  }
  for (auto& thread : threads) thread.join();
  stop = true;
  vandal.join();
  EXPECT_TRUE(isRight(*get(*cache, "key"), "key"));
  EXPECT_EQ(cache->whyInMemory(), "");
}

TEST_F(CopyCacheConcurrencyTest, ProcessesAgreeOnOneEntry) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(inChild([&] {
      for (int round = 0; round < 10; ++round) {
        if (!gets("key " + std::to_string(round))) return false;
      }
      return true;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exitCodeOf(child), 0);
  EXPECT_EQ(drafts().size(), 0u);
  int copies = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
    copies += entry.path().filename() == "libx.so";
  }
  EXPECT_EQ(copies, 10);
}

TEST_F(CopyCacheConcurrencyTest, AWriterKilledAtAnyMomentLeavesNothingTorn) {
  CopyCache::in(directory_);
  std::mt19937 random(1);
  int leftBehind = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = inChild([&] {
      auto cache = CopyCache::in(directory_);
      for (int i = 0;; ++i)
        get(*cache, std::to_string(round) + " " + std::to_string(i), 4 * kMegabyte);
      return true;
    });
    // At some moment from its start on, or from the first sight of a draft: a slow
    // child has written nothing yet at any of the former.
    const bool fromSight = round % 2 != 0;
    while (fromSight && !(std::filesystem::exists(directory_ / "tmp") && !drafts().empty())) {
      int status;
      ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it ended without a draft";
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % (fromSight ? 3000 : 30000)));
    ::kill(child, SIGKILL);
    EXPECT_EQ(exitCodeOf(child), -SIGKILL);
    leftBehind += std::filesystem::exists(directory_ / "tmp") && !drafts().empty();
    auto cache = CopyCache::in(directory_);  // sweeps
    if (std::filesystem::exists(directory_ / "tmp")) {
      EXPECT_EQ(drafts().size(), 0u);
    }
    for (int i = 0; i < 3; ++i) {
      const std::string key = std::to_string(round) + " " + std::to_string(i);
      EXPECT_TRUE(isRight(*get(*cache, key, 4 * kMegabyte), key, 4 * kMegabyte));
    }
    std::filesystem::remove_all(directory_);
  }
  EXPECT_GT(leftBehind, 0) << "no child was ever killed while it wrote: this tested nothing";
}

TEST_F(CopyCacheConcurrencyTest, ALivingWritersDraftIsNotSwept) {
  CopyCache::in(directory_);
  const std::size_t size = 32 * kMegabyte;
  const pid_t child = inChild([&] {
    auto cache = CopyCache::in(directory_);
    const auto copy = get(*cache, "key", size);
    return isRight(*copy, "key", size) && cache->whyInMemory().empty();
  });
  const auto midWrite = [&] {
    for (const auto& draft : std::filesystem::exists(directory_ / "tmp")
                                 ? drafts()
                                 : std::vector<std::filesystem::path>()) {
      std::error_code error;
      const auto written = std::filesystem::file_size(draft / "libx.so", error);
      if (!error && written > 0) return true;
    }
    return false;
  };
  while (!midWrite()) {
    int status;
    ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it was too fast to be stopped";
  }
  ::kill(child, SIGSTOP);
  const auto stopped = drafts();
  CopyCache::in(directory_);  // sweeps
  EXPECT_EQ(drafts(), stopped);
  ::kill(child, SIGCONT);
  EXPECT_EQ(exitCodeOf(child), 0);
}

// --- no space, no rights

/// In a child: a get() that has to end up in memory, for this reason.
bool endsInMemory(CopyCache& cache, const std::string& reason) {
  const auto copy = cache.get("key", "libx.so", [] { return contentsFor("key", 4 * kMegabyte); });
  std::cerr << cache.whyInMemory() << "\n";
  return copy->path().string().starts_with("/proc/self/fd/") &&
         isRight(*copy, "key", 4 * kMegabyte) &&
         cache.whyInMemory().find(reason) != std::string::npos;
}

/// Containers may not mount; then the test below is what there is.
bool mountIsForbidden() {
  std::cerr << "no file system can be mounted here: " << std::strerror(errno) << "\n";
  return errno == EPERM || errno == EACCES || errno == ENOSPC || errno == EINVAL;
}

TEST_F(CopyCacheConcurrencyTest, AFileTooLargeForDiskAndMemoryIsAnError) {
  // On every machine: a limit on the size of files, met in mid-write. It is in
  // the way of a memory file, too, so this is also where nothing is left to try.
  EXPECT_EQ(exitCodeOf(inChild([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              auto cache = CopyCache::in(directory_);
              const rlimit small{kMegabyte, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &small);
              bool refused = false;
              try {
                get(*cache, "key", 4 * kMegabyte);
              } catch (const runtime::CacheError& error) {
                refused = contains(error.what(), "File too large");
              }
              ::setrlimit(RLIMIT_FSIZE, &none);
              return refused && cache->whyInMemory().find("File too large") != std::string::npos;
            })),
            0);
  EXPECT_EQ(drafts().size(), 0u) << "what could not be finished is removed";
  EXPECT_TRUE(gets("key"));
}

TEST_F(CopyCacheConcurrencyTest, HoweverFewFileDescriptorsAreLeftItEnds) {
  // With none, no copy can be made. With one more each time it is another step that fails.
  constexpr int kEnough = 12;
  EXPECT_EQ(exitCodeOf(inChild([&] {
              const rlimit limit{64, 64};
              if (::setrlimit(RLIMIT_NOFILE, &limit)) return false;
              auto cache = CopyCache::in(directory_);
              bool refused = false, kept = false;
              for (int left = 0; left <= kEnough; ++left) {
                const std::string key = "with " + std::to_string(left);
                std::vector<int> taken;
                for (int last; (last = ::open("/dev/null", O_RDONLY)) >= 0;) taken.push_back(last);
                for (int i = 0; i < left; ++i, taken.pop_back()) ::close(taken.back());
                std::shared_ptr<CachedCopy> copy;
                try {
                  copy = get(*cache, key);
                } catch (const runtime::CacheError& error) {
                  refused |= contains(error.what(), "Too many open files");
                }
                for (const int descriptor : taken) ::close(descriptor);
                if (copy && !isRight(*copy, key)) return false;
                kept = copy && copy->path().native().starts_with(directory_.native());
              }
              return refused && kept;
            })),
            0);
  EXPECT_EQ(drafts().size(), 0u) << "what could not be finished is removed";
  EXPECT_TRUE(gets("with 0"));
}

TEST_F(CopyCacheConcurrencyTest, AFullFileSystemEndsInMemory) {
  std::filesystem::create_directory(bench_ / "small");
  EXPECT_EQ(exitCodeOf(inChild([&] {
              // A file system of 1 MB, for this process only.
              const auto small = bench_ / "small";
              const bool mounted =
                  ::unshare(CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER)) == 0 &&
                  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                  ::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m,mode=0700") == 0;
              if (!mounted) return mountIsForbidden();
              auto cache = CopyCache::in(small / "cache");
              return endsInMemory(*cache, "No space left on device");
            })),
            0);
}

TEST_F(CopyCacheConcurrencyTest, ADirectoryWithoutRightsEndsInMemory) {
  { get(*CopyCache::in(directory_), "old"); }
  EXPECT_EQ(
      exitCodeOf(inChild([&] {
        // Root may write everywhere, so it must be another user.
        if (::geteuid() == 0) {
          for (const auto& entry : std::filesystem::recursive_directory_iterator(bench_ / "")) {
            if (::chown(entry.path().c_str(), 12345, 12345)) return false;
          }
          if (::chown((bench_ / "").c_str(), 12345, 12345)) return false;
          if (::setgid(12345) || ::setuid(12345)) return false;
        }
        auto cache = CopyCache::in(directory_);
        for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
          ::chmod(entry.path().c_str(), 0500);
        }
        ::chmod(directory_.c_str(), 0500);
        // What is there can be used; what is not goes to memory.
        const bool found = get(*cache, "old")->path().string().starts_with(directory_.string());
        return found && endsInMemory(*cache, "Permission denied");
      })),
      0);
}

}  // namespace
}  // namespace multipy::loader::testing
