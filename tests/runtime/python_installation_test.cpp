// Installations and virtual environments as trees of empty files.
#include "runtime/environment/python_installation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/path_environment.h"
#include "multipy/runtime/python_environment.h"
#include "temporary_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;
using testing_support::expectError;

constexpr PythonVersion kExpected{3, 11};

class PythonInstallationTest : public testing::Test {
 protected:
  PythonInstallationTest() { root_ = testing_support::makeTemporaryFolder(); }
  ~PythonInstallationTest() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text = "") {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void writeExecutable(const fs::path& path) {
    write(path, "#!/bin/sh\n");
    fs::permissions(root_ / path, fs::perms::owner_all);
  }
  fs::path installation(const std::string& name, const std::string& version) {
    write(fs::path(name) / "lib" / ("python" + version) / "os.py");
    fs::create_directories(root_ / name / "lib" / ("python" + version) / "lib-dynload");
    writeExecutable(fs::path(name) / "bin" / "python3");
    writeExecutable(fs::path(name) / "bin" / ("python" + version));
    return root_ / name;
  }
  fs::path venv(const std::string& name, const fs::path& base, const std::string& versionLine) {
    write(fs::path(name) / "pyvenv.cfg",
          "home = " + (base / "bin").string() + "\n" + versionLine + "\n");
    writeExecutable(fs::path(name) / "bin" / "python");
    return root_ / name;
  }

  fs::path root_;
};

TEST_F(PythonInstallationTest, PlainInstallation) {
  const fs::path base = installation("base", "3.11");
  const PythonInstallation python = pythonInPrefix(base, "test", kExpected);
  EXPECT_EQ(python.executable, base / "bin/python3");
  EXPECT_EQ(python.prefix, base);
  EXPECT_EQ(python.basePrefix, base);
  // The prefix itself may be /usr: only its Python directories are roots.
  EXPECT_EQ(python.libraryRoots, std::vector<fs::path>{base / "lib/python3.11"});
}

TEST_F(PythonInstallationTest, ATrailingSlashChangesNothing) {
  const fs::path base = installation("base", "3.11");
  EXPECT_EQ(pythonInPrefix(base.string() + "/", "test", kExpected).prefix, base);
}

TEST_F(PythonInstallationTest, VirtualEnvironmentsOfAllMakers) {
  const fs::path base = installation("base", "3.11");
  for (const char* line : {"version = 3.11.7", "version_info = 3.11.7",
                           "version_info=3.11.2.final.0", "prompt = without version"}) {
    const fs::path prefix = venv("venv", base, line);
    const PythonInstallation python = pythonInPrefix(prefix, "test", kExpected);
    EXPECT_EQ(python.executable, prefix / "bin/python") << line;
    EXPECT_EQ(python.prefix, prefix) << line;
    EXPECT_EQ(python.basePrefix, base) << line;
    EXPECT_EQ(python.libraryRoots, (std::vector<fs::path>{prefix, base / "lib/python3.11"}));
  }
}

TEST_F(PythonInstallationTest, VirtualEnvironmentWhoseHomeIsAFolderOfLinks) {
  const fs::path base = installation("real", "3.11");
  fs::create_directories(root_ / "shims/bin");
  fs::create_symlink(base / "bin/python3.11", root_ / "shims/bin/python3.11");
  const fs::path prefix = venv("venv", root_ / "shims", "version = 3.11.1");
  EXPECT_EQ(pythonInPrefix(prefix, "test", kExpected).basePrefix, fs::canonical(base));
}

TEST_F(PythonInstallationTest, ExecutableOfAVirtualEnvironmentIsNotFollowed) {
  const fs::path base = installation("base", "3.11");
  const fs::path prefix = venv("venv", base, "version = 3.11.7");
  fs::remove(prefix / "bin/python");
  fs::create_symlink(base / "bin/python3.11", prefix / "bin/python");
  EXPECT_EQ(pythonOfExecutable(prefix / "bin/python", "test", kExpected).prefix, prefix);
}

TEST_F(PythonInstallationTest, LinkToAnInstallationElsewhereIsFollowed) {
  const fs::path base = installation("base", "3.11");
  fs::create_directories(root_ / "local/bin");
  fs::create_symlink(base / "bin/python3.11", root_ / "local/bin/python");
  EXPECT_EQ(pythonOfExecutable(root_ / "local/bin/python", "test", kExpected).prefix,
            fs::canonical(base));
}

TEST_F(PythonInstallationTest, RefusesAnotherVersion) {
  const fs::path other = installation("other", "3.9");
  expectError<EnvironmentError>([&] { pythonInPrefix(other, "named by a test", kExpected); },
                                {other, "named by a test", "Python 3.9", "Python 3.11"});
  const fs::path prefix = venv("venv", installation("base", "3.11"), "version = 3.10.4");
  expectError<EnvironmentError>([&] { pythonInPrefix(prefix, "test", kExpected); },
                                {"3.10.4", "pyvenv.cfg", "Python 3.11"});
}

TEST_F(PythonInstallationTest, RefusesWhatIsNotThere) {
  expectError<EnvironmentError>([&] { pythonInPrefix(root_ / "none", "test", kExpected); },
                                {"no such directory", "expected an installation of Python 3.11"});
  write("folder/readme");
  expectError<EnvironmentError>([&] { pythonInPrefix(root_ / "folder", "test", kExpected); },
                                {"no executable"});
  writeExecutable("bare/bin/python3");
  expectError<EnvironmentError>([&] { pythonInPrefix(root_ / "bare", "test", kExpected); },
                                {"no lib/pythonX.Y"});
  expectError<EnvironmentError>(
      [&] { pythonOfExecutable(root_ / "no/bin/python", "test", kExpected); }, {"no executable"});
}

TEST_F(PythonInstallationTest, RefusesABrokenVirtualEnvironment) {
  write("venv/pyvenv.cfg", "nothing = here\n");
  writeExecutable("venv/bin/python");
  expectError<EnvironmentError>([&] { pythonInPrefix(root_ / "venv", "test", kExpected); },
                                {"home = ", "pyvenv.cfg"});
  // Its base installation has been removed, or replaced by a later one.
  const fs::path orphan = venv("orphan", installation("upgraded", "3.12"), "");
  expectError<EnvironmentError>([&] { pythonInPrefix(orphan, "test", kExpected); },
                                {"upgraded", "Python 3.12"});
}

TEST_F(PythonInstallationTest, ActiveVirtualEnvironmentIsTheDefaultAndNothingReplacesIt) {
  const std::string before = ::getenv("VIRTUAL_ENV") ? ::getenv("VIRTUAL_ENV") : "";
  const std::string version = builtInPythonVersion().text();
  const fs::path prefix = venv("venv", installation("base", version), "version = " + version);
  ::setenv("VIRTUAL_ENV", prefix.c_str(), 1);
  EXPECT_EQ(defaultPython().prefix, prefix);
  ::setenv("VIRTUAL_ENV", (root_ / "gone").c_str(), 1);
  expectError<EnvironmentError>([] { defaultPython(); }, {"gone", "VIRTUAL_ENV"});
  if (before.empty())
    ::unsetenv("VIRTUAL_ENV");
  else
    ::setenv("VIRTUAL_ENV", before.c_str(), 1);
}

TEST_F(PythonInstallationTest, VersionInPath) {
  EXPECT_EQ(versionInPath("/a/lib/python3.9/site-packages"), (PythonVersion{3, 9}));
  EXPECT_EQ(versionInPath("/a/lib/python3/dist-packages"), PythonVersion{});
  EXPECT_EQ(versionInPath("/srv/python3.9-app/code"), PythonVersion{});
  EXPECT_EQ(versionInPath("/srv/code"), PythonVersion{});
}

TEST_F(PythonInstallationTest, PathEnvironmentTakesDirectoriesOfCode) {
  write("code/module.py");
  PathEnvironment environment((root_ / "code").string());
  EXPECT_EQ(environment.getExtraPythonPaths(), std::vector<std::string>{(root_ / "code").string()});
  EXPECT_EQ(environment.pythonPrefix(), "");
}

TEST_F(PythonInstallationTest, PathEnvironmentRefusesOtherThings) {
  expectError<EnvironmentError>([&] { PathEnvironment((root_ / "none").string()); },
                                {"none", "does not exist"});
  expectError<EnvironmentError>([] { PathEnvironment(""); }, {"empty path"});
  write("old/lib/python2.7/site-packages/module.py");
  expectError<EnvironmentError>(
      [&] { PathEnvironment((root_ / "old/lib/python2.7/site-packages").string()); },
      {"Python 2.7", builtInPythonVersion().text()});
  write("venv/pyvenv.cfg");
  expectError<EnvironmentError>([&] { PathEnvironment((root_ / "venv").string()); },
                                {"virtual environment", "PythonEnvironment"});
}

TEST_F(PythonInstallationTest, PythonEnvironmentIsCheckedAtOnce) {
  const std::string version = builtInPythonVersion().text();
  const fs::path base = installation("base", version);
  EXPECT_EQ(PythonEnvironment(base.string()).pythonPrefix(), base.string());
  expectError<EnvironmentError>([&] { PythonEnvironment((root_ / "none").string()); },
                                {"no such directory"});
}

}  // namespace
}  // namespace multipy::runtime
