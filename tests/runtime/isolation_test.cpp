// What the public API says about libraries: private or shared, and why.
#include "multipy/runtime/isolation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/path_environment.h"
#include "runtime/environment/code_directories.h"
#include "runtime/environment/python_installation.h"
#include "temporary_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;
using testing_support::expectError;

const fs::path kModules = MULTIPY_TEST_BAD_EXTENSIONS;

class IsolationTest : public testing::Test {
 protected:
  IsolationTest() { directory = testing_support::makeTemporaryFolder(); }
  ~IsolationTest() override { fs::remove_all(directory); }

  /// One of no files, in `directory`.
  PythonInstallation installation() const {
    PythonInstallation python;
    python.prefix = python.basePrefix = directory / "prefix";
    return python;
  }
  static fs::path sitePackagesOf(const PythonInstallation& python) {
    const fs::path site =
        python.prefix / "lib" / ("python" + builtInPythonVersion().text()) / "site-packages";
    fs::create_directories(site);
    return site;
  }

  static const ExplainedLibrary& named(const std::vector<ExplainedLibrary>& all,
                                       std::string_view name) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const ExplainedLibrary& library) {
      return library.file.filename().native() == name;
    });
    if (found == all.end()) throw std::runtime_error("nothing is said about " + std::string(name));
    return *found;
  }

  static void inFourInterpreters(const std::string& source) {
    InterpreterManager manager(4);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&, i] {
        const auto I = manager.allInstances()[i].acquireSession();
        const auto names = I.global("builtins", "dict")(std::vector<Obj>());
        try {
          I.global("builtins", "exec")(std::vector<Obj>{I.fromIValue(source), names});
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    for (std::thread& each : threads) each.join();
  }

  fs::path directory;
};

TEST_F(IsolationTest, OfALibraryAndWhatItNeeds) {
  const auto all = explainIsolation(kModules / "missing_further.so");
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].file, kModules / "missing_further.so");
  EXPECT_TRUE(all[0].isPrivate);
  EXPECT_NE(all[0].reason.find("of the CPython C API"), std::string::npos) << all[0].reason;
  // Found by the run path, outside any environment, and no user of the C API.
  const ExplainedLibrary& middle = named(all, "libmiddle.so");
  EXPECT_FALSE(middle.isPrivate);
  EXPECT_EQ(middle.reason, "lives outside the Python environment");
  ASSERT_EQ(middle.missing.size(), 1u);
  EXPECT_EQ(middle.missing[0].name, "libgone.so");
  const auto& searched = middle.missing[0].searched;
  EXPECT_EQ(std::count(searched.begin(), searched.end(), "/no/such/middle"), 1);
  EXPECT_EQ(std::count(searched.begin(), searched.end(), "ld.so.cache"), 1);
}

// torch's shared memory between processes: `import torch` sets a std::string in it, which
// nothing guards but the GIL. Shared, this ends with "chunk detected in tcache".
TEST_F(IsolationTest, LibshmIsSetByInterpretersAtOnce) {
  inFourInterpreters(R"(
import ctypes, importlib.util, os
(folder,) = importlib.util.find_spec('torch').submodule_search_locations
library = ctypes.CDLL(os.path.join(folder, 'lib', 'libshm.so'))
initialise = library._Z11libshm_initPKc
path = os.fsencode(os.path.join(folder, 'bin', 'torch_shm_manager'))
for _ in range(100_000):
    initialise(path)
)");
}

// The system's readline, which `import pdb` initialises from Python 3.13 on.
TEST_F(IsolationTest, ReadlineIsUsedByInterpretersAtOnce) {
  inFourInterpreters(R"(
try:
    import readline
except ImportError:  # this Python has none
    pass
else:
    for number in range(3000):
        readline.add_history(f'line {number}')
        assert readline.get_current_history_length() == number + 1
)");
}

TEST_F(IsolationTest, OfADirectoryWithABrokenOne) {
  fs::copy(kModules / "good_module.so", directory / "good.so");
  std::ofstream(directory / "bad.so") << "not one\n";
  std::ofstream(directory / "readme.txt") << "nor is this\n";
  const auto all = explainIsolation(directory);
  EXPECT_EQ(named(all, "good.so").problem, "");
  EXPECT_NE(named(all, "bad.so").problem.find("expected"), std::string::npos);
  EXPECT_THROW(named(all, "readme.txt"), std::runtime_error);
  expectError<LoadError>([&] { explainIsolation(directory / "none.so"); },
                         {"none.so", "no such file"});
}

TEST_F(IsolationTest, TheFirstOverrideThatMatchesDecides) {
  InterpreterManagerOptions options;
  options.isolationOverrides = {{"good_*.so", false}, {"*", true}};
  const auto all = explainIsolation(kModules / "good_module.so", options);
  EXPECT_FALSE(all[0].isPrivate);
  EXPECT_NE(all[0].reason.find("\"good_*.so\""), std::string::npos) << all[0].reason;
}

TEST_F(IsolationTest, OfWhatHasBeenLoaded) {
  InterpreterManager manager(1, std::make_shared<PathEnvironment>(kModules.string()));
  const Interpreter& interpreter = manager.allInstances()[0];
  const auto loads = [&](const std::string& name) {
    const auto all = interpreter.libraries();
    return std::any_of(all.begin(), all.end(), [&](const LoadedLibrary& library) {
      return library.file.filename() == name && library.isPrivate && !library.reason.empty();
    });
  };
  EXPECT_TRUE(loads("libinterpreter.so"));
  EXPECT_FALSE(loads("good_module.so"));
  interpreter.acquireSession().global("importlib", "import_module")({"good_module"});
  EXPECT_TRUE(loads("good_module.so"));
}

// --- which directories belong to the environment

// As programs do that bring packages of their own: `pip install --target`, a layer, a zip unpacked.
TEST_F(IsolationTest, WhatAProgramAddsToSysPathIsOfTheEnvironment) {
  for (const char* name : {"import", "ctypes", "dotted", "relative", "neither"}) {
    fs::create_directory(directory / name);
    fs::copy(kModules / "../elsewhere/libgone.so", directory / name / "libgone.so");
  }
  fs::copy(kModules / "good_module.so", directory / "import/good_module.so");
  InterpreterManager manager(1);
  const Interpreter& interpreter = manager.allInstances()[0];
  const auto run = [&](const std::string& source) {
    const auto I = interpreter.acquireSession();
    const auto names = I.global("builtins", "dict")(std::vector<Obj>());
    I.global("builtins", "exec")(
        std::vector<Obj>{I.fromIValue("folder = '" + directory.string() + "'\n" + source), names});
  };
  const auto reasonOf = [&](const fs::path& file) {
    for (const LoadedLibrary& library : interpreter.libraries())
      if (library.file == directory / file) return library.reason;
    return std::string("not loaded");
  };
  run(R"(
import ctypes, os, sys
sys.path += [None, folder + "/import", folder + "/ctypes/", folder + "/ctypes/../dotted", "/"]
sys.path.append(os.path.relpath(folder + "/relative"))
ctypes.CDLL(folder + "/ctypes/libgone.so")
ctypes.CDLL(folder + "/dotted/libgone.so")
ctypes.CDLL(folder + "/relative/libgone.so")
import good_module
ctypes.CDLL(folder + "/import/libgone.so")
ctypes.CDLL(folder + "/neither/libgone.so")  # below "/", where the system's libraries lie, too
)");
  EXPECT_EQ(reasonOf("ctypes/libgone.so"), "lives in the Python environment");
  EXPECT_EQ(reasonOf("import/libgone.so"), "lives in the Python environment");
  EXPECT_EQ(reasonOf("dotted/libgone.so"), "lives in the Python environment");
  EXPECT_EQ(reasonOf("relative/libgone.so"), "lives in the Python environment");
  EXPECT_EQ(reasonOf("neither/libgone.so"), "lives outside the Python environment");
}

TEST_F(IsolationTest, CodeFromOutsideTheInstallation) {
  const PythonInstallation python = installation();
  const fs::path site = sitePackagesOf(python);
  for (const char* name : {"path", "editable", "user", "home"})
    fs::create_directories(directory / name);
  std::ofstream(site / "a.pth")
      << "# comment\nimport sys\n"
      << (directory / "editable").string()
      << "\r\n/no/such/folder\n/\n../site-packages/../../../../editable\n";
  InterpreterOptions options;
  auto& variables = options.environmentVariables.emplace();
  variables["PYTHONPATH"] = (directory / "path").string() + ":/usr:relative:";
  variables["HOME"] = (directory / "home").string();
  const auto contains = [&](const char* name) {
    const auto found = codeDirectories(python, options);
    return std::find(found.begin(), found.end(), directory / name) != found.end();
  };
  EXPECT_TRUE(contains("path"));
  EXPECT_TRUE(contains("editable"));
  const auto all = codeDirectories(python, options);
  EXPECT_EQ(std::count(all.begin(), all.end(), "/usr"), 0);  // the system's libraries are there
  EXPECT_EQ(std::count(all.begin(), all.end(), "/"), 0);
  options.isolated = true;
  EXPECT_FALSE(contains("path"));
  EXPECT_TRUE(contains("editable"));
}

// Which .pth files there are is looked up again only where something has changed.
TEST_F(IsolationTest, CodeFromOutsideTheInstallationThatIsNamedLater) {
  const PythonInstallation python = installation();
  const fs::path site = sitePackagesOf(python);
  for (const char* name : {"first", "second", "third"}) fs::create_directories(directory / name);
  InterpreterOptions options;
  options.isolated = true;
  const auto named = [&] {
    std::string names;
    for (const fs::path& each : codeDirectories(python, options))
      names += each.filename().string() + " ";
    return names;
  };
  const auto write = [&](const char* file, const char* name) {
    std::ofstream(site / file) << (directory / name).string() << "\n";
  };
  const auto anHourAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);

  write("a.pth", "first");
  EXPECT_EQ(named(), "first ");
  fs::last_write_time(site, anHourAgo);  // from here on it is remembered
  EXPECT_EQ(named(), "first ");
  EXPECT_EQ(named(), "first ");
  write("a.pth", "second");
  EXPECT_EQ(named(), "second ") << "the file has changed, the folder has not";
  write("b.pth", "third");
  EXPECT_NE(named().find("third"), std::string::npos);
  fs::last_write_time(site, anHourAgo - std::chrono::hours(1));
  EXPECT_NE(named().find("third"), std::string::npos);
  fs::remove(site / "b.pth");
  EXPECT_EQ(named(), "second ");
  fs::remove_all(site);
  EXPECT_EQ(named(), "");
}

}  // namespace
}  // namespace multipy::runtime
