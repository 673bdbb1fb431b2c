// A pool that is shown to `multipy top`. With the word "show" it shows one until its input ends,
// for tests/tools/top.py.
#include "multipy/runtime/stats_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "runtime/pool/stats_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;

/// With a runtime directory of its own.
class ShownPool : public testing::Test {
 protected:
  ShownPool() {
    fs::remove_all(folder_);
    fs::create_directory(folder_);
    ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  ~ShownPool() override { fs::remove_all(folder_); }

  static std::string pageAt(const fs::path& path) {
    const sockaddr_un address = socketAddress(path);
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    std::string text;
    char c;
    while (::recv(client, &c, 1, 0) == 1 && c != '\f') text += c;
    ::close(client);
    return text;
  }
  static mode_t modeOf(const fs::path& path) {
    struct stat found {};
    EXPECT_EQ(::lstat(path.c_str(), &found), 0);
    return found.st_mode & 0777;
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("multipy-run-" + std::to_string(::getpid()));
  std::unique_ptr<InterpreterManager> manager = std::make_unique<InterpreterManager>(1);
};

TEST_F(ShownPool, IsSeenByItsUserOnly) {
  const StatsSocket shown(*manager, "encoder");
  EXPECT_EQ(shown.path(), folder_ / "multipy" / (std::to_string(::getpid()) + "-encoder"));
  EXPECT_EQ(modeOf(shown.path()), 0600u);
  EXPECT_EQ(modeOf(shown.path().parent_path()), 0700u);
  const std::string page = pageAt(shown.path());
  EXPECT_NE(page.find("encoder, process " + std::to_string(::getpid())), std::string::npos) << page;
  EXPECT_NE(page.find("1 interpreters, 0 busy"), std::string::npos) << page;
}

TEST_F(ShownPool, LeavesNothing) {
  fs::path path;
  {
    const StatsSocket shown(*manager);
    path = shown.path();
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ShownPool, IsShownOnceUnderAName) {
  const StatsSocket shown(*manager);
  EXPECT_THROW(StatsSocket{*manager}, InvalidArgument);
  EXPECT_TRUE(fs::exists(shown.path()));
  const StatsSocket other(*manager, "other");
  EXPECT_NE(pageAt(other.path()).find("other, process"), std::string::npos);
}

TEST_F(ShownPool, TakesThePlaceOfWhatAProcessHasLeft) {
  const fs::path path = madeStatsFolder() / (std::to_string(::getpid()) + "-pool");
  const sockaddr_un address = socketAddress(path);
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(left);
  const StatsSocket shown(*manager);
  EXPECT_NE(pageAt(shown.path()).find("1 interpreters"), std::string::npos);
}

TEST_F(ShownPool, MayEndBeforeWhatShowsIt) {
  const StatsSocket shown(*manager);
  manager.reset();
  EXPECT_NE(pageAt(shown.path()).find("has been destroyed"), std::string::npos);
}

TEST_F(ShownPool, DoesNotWaitForOneThatDoesNotRead) {
  const StatsSocket shown(*manager);
  const sockaddr_un address = socketAddress(shown.path());
  const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(pageAt(shown.path()).empty());
  ::close(client);
}

TEST_F(ShownPool, IsNotTakenAwayByAForkedChild) {
  auto shown = std::make_unique<StatsSocket>(*manager);
  const pid_t child = ::fork();
  if (child == 0) {
    shown.reset();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(shown->path()));
  EXPECT_NE(pageAt(shown->path()).find("1 interpreters"), std::string::npos);
}

TEST_F(ShownPool, IsRefusedWhereTheNameOrTheFolderWillNotDo) {
  EXPECT_THROW(StatsSocket(*manager, "../outside"), InvalidArgument);
  EXPECT_THROW(StatsSocket(*manager, ""), InvalidArgument);
  EXPECT_THROW(StatsSocket(*manager, std::string(200, 'x')), EnvironmentError);
  fs::remove_all(folder_ / "multipy");
  std::ofstream(folder_ / "multipy") << "a file";
  EXPECT_THROW(StatsSocket{*manager}, EnvironmentError);
  fs::remove(folder_ / "multipy");
  fs::create_directory(folder_ / "multipy");
  fs::permissions(folder_ / "multipy", fs::perms(0755));
  EXPECT_THROW(StatsSocket{*manager}, EnvironmentError) << "others could look into it";
}

int show() {
  InterpreterManager manager(2);
  manager.registerModuleSource("shown", "import time\ndef sleep(seconds): time.sleep(seconds)");
  auto session = manager.acquireOne();
  const ReplicatedObj sleep = manager.createMovable(session.global("shown", "sleep"), &session);
  const StatsSocket shown(manager, "shown");
  std::jthread caller([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) sleep({0.05});
  });
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

}  // namespace
}  // namespace multipy::runtime

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "show") return multipy::runtime::show();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
