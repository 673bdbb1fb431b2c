// A package's file is cut short, overwritten, replaced or removed while it is in use and between
// loads: what comes of it is a typed error or the old contents, never a crash. And a program that
// is killed while it writes its copies of libraries: the next one starts, and nothing stays.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "child_runs.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "temporary_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;
using testing_support::runInChild;

const fs::path kSimple = fs::path(MULTIPY_TEST_PACKAGES) / "simple.pt";

int outcome() { return testing::Test::HasFailure() ? 4 : 0; }

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void overwrite(const fs::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary | std::ios::in | std::ios::out);  // in place
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class Folder {
 public:
  fs::path operator/(const char* name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  ~Folder() { fs::remove_all(path_); }

 private:
  const fs::path path_ = testing_support::makeTemporaryFolder();
};

/// True if it worked; false where a typed error came of it.
bool worksOrIsTyped(const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const PackageError& error) {
    std::printf("PackageError: %.150s\n", error.what());
  } catch (const PythonException& error) {
    std::printf("%s: %.150s\n", error.type().c_str(), error.message().c_str());
  }
  return false;
}

void use(const Package& package) {
  EXPECT_EQ(package.loadText("extra_files", "text"), "grüße");
  ReplicatedObj model = package.loadPickle("model", "model.pkl");
  const auto example = package.loadPickle("model", "example.pkl");
  InterpreterSession session = model.acquireSession();
  static_cast<void>(session);
}

/// `change` while a package of two interpreters is open that has been read in neither, in one,
/// and whose importer is there in one.
void changeWhileInUse(InterpreterManager& manager, const fs::path& file,
                      const std::function<void()>& change, bool staysUsable) {
  for (const int read : {0, 1, 2}) {
    fs::copy_file(kSimple, file, fs::copy_options::overwrite_existing);
    const Package package = manager.loadPackage(file.string());
    if (read == 1) use(package);
    if (read == 2) static_cast<void>(package.acquireSession());
    change();
    for (int time = 0; time < 2; ++time) {
      const bool worked = worksOrIsTyped([&] { use(package); });
      EXPECT_TRUE(worked || !staysUsable);
      worksOrIsTyped([&] { package.loadBinary("extra_files", "binary"); });
      worksOrIsTyped([&] {
        const InterpreterSession I = package.acquireSession();
        I.self.attr("load_pickle")({std::string("labels"), std::string("label.pkl")});
      });
    }
    // Opened anew.
    worksOrIsTyped([&] { use(manager.loadPackage(file.string())); });
  }
  // And with the file as it was all works again.
  fs::copy_file(kSimple, file, fs::copy_options::overwrite_existing);
  use(manager.loadPackage(file.string()));
}

void expectInChild(const std::function<void(InterpreterManager&, const Folder&)>& work) {
  const Folder folder;
  const auto run = runInChild(
      [&] {
        {
          InterpreterManager manager(2);
          work(manager, folder);
        }
        return outcome();
      },
      200);
  EXPECT_TRUE(run.exitedWith(0));
}

TEST(ChangedPackage, CutShort) {
  expectInChild([](InterpreterManager& manager, const Folder& folder) {
    const fs::path file = folder / "a.pt";
    const auto size = fs::file_size(kSimple);
    for (const auto left : {size - 1, size - 100, size / 2, size / 4, std::uintmax_t{0}})
      changeWhileInUse(
          manager, file, [&] { fs::resize_file(file, left); }, false);
  });
}

TEST(ChangedPackage, Overwritten) {
  expectInChild([](InterpreterManager& manager, const Folder& folder) {
    const fs::path file = folder / "a.pt";
    const std::string original = contents(kSimple);
    std::mt19937 random(7);
    std::string noise(original.size(), ' ');
    for (char& byte : noise) byte = static_cast<char>(random());
    const std::string other = contents(fs::path(MULTIPY_TEST_PACKAGES) / "leafy.pt");
    for (const std::string& bytes : {noise, std::string(original.size(), '\0'), other,
                                     noise.substr(0, 1000), original + noise})
      changeWhileInUse(
          manager, file, [&] { overwrite(file, bytes); }, false);
  });
}

TEST(ChangedPackage, ReplacedOrRemovedIsWhatItWas) {
  expectInChild([](InterpreterManager& manager, const Folder& folder) {
    const fs::path file = folder / "a.pt", next = folder / "next.pt";
    changeWhileInUse(
        manager, file,
        [&] {
          std::ofstream(next) << "no package\n";
          fs::rename(next, file);
        },
        true);
    changeWhileInUse(
        manager, file, [&] { fs::remove(file); }, true);
  });
}

// Between loads, at whatever length.
TEST(ChangedPackage, CutShortIsRefused) {
  const Folder folder;
  const auto run = runInChild([&] {
    InterpreterManager manager(1);
    const fs::path file = folder / "a.pt";
    const std::string original = contents(kSimple);
    for (std::size_t left = 0; left < original.size(); left += original.size() / 97 + 1) {
      std::ofstream(file, std::ios::binary)
          .write(original.data(), static_cast<std::streamsize>(left));
      EXPECT_THROW(manager.loadPackage(file.string()).loadText("extra_files", "text"), PackageError)
          << left;
    }
    return outcome();
  });
  EXPECT_TRUE(run.exitedWith(0));
}

// ------------------------------------------------------------ a writer that is killed

std::size_t drafts(const fs::path& cache) {
  std::error_code none;
  const fs::directory_iterator all(cache / "tmp", none);
  return none ? 0 : static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
}

int startAndImport(const fs::path& cache) {
  InterpreterManagerOptions options;
  options.cacheDirectory = cache;
  InterpreterManager manager(2, options);
  for (const Interpreter& interpreter : manager.allInstances()) {
    const InterpreterSession I = interpreter.acquireSession();
    for (const char* module : {"decimal", "ctypes", "_json", "math"})
      I.global("importlib", "import_module")({std::string(module)});
    EXPECT_EQ(I.global("math", "floor")({2.5}).toIValue().toInt(), 2);
  }
  return outcome();
}

TEST(KilledWriters, LeaveNothingThatStaysAndNothingTorn) {
  const Folder folder;
  const auto begun = std::chrono::steady_clock::now();
  {
    const fs::path warm = folder / "whole";
    ASSERT_TRUE(runInChild([&] { return startAndImport(warm); }).succeeded());
  }
  const auto whole = std::chrono::steady_clock::now() - begun;
  std::mt19937 random(11);
  std::size_t seen = 0;
  for (int time = 0; time < 40; ++time) {
    const fs::path cache =
        folder / ("cache" + std::to_string(time / 4)).c_str();  // four kills each
    const pid_t writer = ::fork();
    if (writer == 0) ::_exit(startAndImport(cache));
    std::this_thread::sleep_for(whole * (random() % 1000) / 1000);
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    seen += drafts(cache);
    if (time % 4 != 3) continue;
    const auto run = runInChild([&] { return startAndImport(cache); });
    EXPECT_TRUE(run.exitedWith(0));
    EXPECT_EQ(drafts(cache), 0u);
  }
  std::printf("%zu drafts were left behind by those killed\n", seen);
}

}  // namespace
}  // namespace multipy::runtime
