// In which Python interpreters run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/path_environment.h"
#include "multipy/runtime/python_environment.h"
#include "runtime/environment/python_installation.h"
#include "temporary_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;
using testing_support::expectError;

class Environments : public testing::Test {
 protected:
  Environments() { directory = testing_support::makeTemporaryFolder(); }
  ~Environments() override { fs::remove_all(directory); }
  fs::path directory;
};

TEST_F(Environments, TheDefaultIsTheChosenPython) {
  InterpreterManager manager(1);
  auto I = manager.acquireOne();
  EXPECT_EQ(I.global("sys", "executable").toIValue().toStringRef(), defaultPython().executable);
  EXPECT_EQ(I.global("sys", "prefix").toIValue().toStringRef(), defaultPython().prefix);
  EXPECT_EQ(I.global("sys", "version_info").attr("minor").toIValue().toInt(),
            builtInPythonVersion().minor);
}

TEST_F(Environments, PathEnvironmentComesLast) {
  std::ofstream(directory / "json.py") << "mine = True\n";
  std::ofstream(directory / "only_in_path.py") << "mine = True\n";
  InterpreterManager manager(2, std::make_shared<PathEnvironment>(directory.string()));
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto I = interpreter.acquireSession();
    EXPECT_TRUE(I.global("only_in_path", "mine").toIValue().toBool());
    EXPECT_TRUE(I.global("json", "dumps")({1}).toIValue().isString());
    EXPECT_EQ(I.global("sys", "path").attr("__getitem__")({-1}).toIValue().toStringRef(),
              directory.string());
  }
}

TEST_F(Environments, AWholeVirtualEnvironment) {
  const PythonInstallation python = defaultPython();
  const std::string version = builtInPythonVersion().text();
  const fs::path site = directory / "lib" / ("python" + version) / "site-packages";
  fs::create_directories(site);
  fs::create_directories(directory / "bin");
  fs::create_symlink(python.executable, directory / "bin/python3");
  std::ofstream(directory / "pyvenv.cfg")
      << "home = " << (python.basePrefix / "bin").string() << "\nversion = " << version << ".0\n";
  std::ofstream(site / "only_here.py") << "value = 5\n";
  InterpreterManager manager(1, std::make_shared<PythonEnvironment>(directory.string()));
  auto I = manager.acquireOne();
  EXPECT_EQ(I.global("only_here", "value").toIValue().toInt(), 5);
  EXPECT_EQ(I.global("sys", "prefix").toIValue().toStringRef(), directory.string());
}

class Preparing : public NoopEnvironment {
 public:
  void configureInterpreter(Interpreter* interpreter) override {
    ++calls;
    if (calls == failAt) throw std::runtime_error("not this one");
    auto I = interpreter->acquireSession();
    I.global("builtins", "setattr")({I.global("sys", "modules").attr("__getitem__")({"sys"}),
                                     I.fromIValue("prepared"), I.fromIValue(calls)});
  }
  int calls = 0, failAt = 0;
};

TEST_F(Environments, ConfigureInterpreterIsCalledForEach) {
  auto environment = std::make_shared<Preparing>();
  InterpreterManager manager(3, environment);
  EXPECT_EQ(environment->calls, 3);
  for (int i = 0; i < 3; ++i) {
    auto I = manager.allInstances()[i].acquireSession();
    EXPECT_EQ(I.global("sys", "prepared").toIValue().toInt(), i + 1);
  }
  Interpreter alone(environment);
  EXPECT_EQ(alone.acquireSession().global("sys", "prepared").toIValue().toInt(), 4);
}

TEST_F(Environments, WhatConfigureInterpreterThrowsUndoesEverything) {
  auto environment = std::make_shared<Preparing>();
  environment->failAt = 2;
  EXPECT_THROW(InterpreterManager(3, environment), std::runtime_error);
  environment->failAt = environment->calls + 1;
  EXPECT_THROW(Interpreter alone(environment), std::runtime_error);
  InterpreterManager works(2);
  EXPECT_EQ(works.acquireOne().fromIValue(1).toIValue().toInt(), 1);
}

TEST_F(Environments, ExtraInterpreterBesideTheManagersPool) {
  InterpreterManager manager(1);
  manager.registerModuleSource("shared_source", "def f(x): return x * 2\n");
  Interpreter beside(&manager, std::make_shared<NoopEnvironment>());
  auto I = beside.acquireSession();
  Obj f = I.global("shared_source", "f");
  EXPECT_EQ(f({4}).toIValue().toInt(), 8);
  ReplicatedObj everywhere = I.createMovable(f);
  EXPECT_EQ(everywhere({5}).toInt(), 10);
  EXPECT_EQ(everywhere.acquireSession(&beside).self({6}).toIValue().toInt(), 12);
}

TEST_F(Environments, BadOnes) {
  expectError<InvalidArgument>([] { InterpreterManager manager(0); }, {"is 0", "1 to 255"});
  expectError<InvalidArgument>([] { InterpreterManager manager(256); }, {"is 256", "1 to 255"});
  expectError<InvalidArgument>([] { InterpreterManager manager(SIZE_MAX); }, {"1 to 255"});
  expectError<InvalidArgument>([] { InterpreterManager manager(1, nullptr); }, {"null pointer"});
  expectError<EnvironmentError>(
      [] { InterpreterManager manager(1, std::make_shared<PathEnvironment>("/no/such/path")); },
      {"/no/such/path", "does not exist"});
  expectError<EnvironmentError>(
      [] { InterpreterManager manager(1, std::make_shared<PythonEnvironment>("/no/such/venv")); },
      {"/no/such/venv", "no such directory", builtInPythonVersion().text()});
  expectError<EnvironmentError>([] { PythonEnvironment(""); }, {"empty path", "PythonEnvironment"});
  expectError<EnvironmentError>([] { PythonEnvironment(std::string("/usr\0x", 6)); },
                                {"/usr", "null character"});
  expectError<EnvironmentError>([] { PathEnvironment(std::string("/usr\0x", 6)); },
                                {"/usr", "null character"});
  std::ofstream(directory / "module.py") << std::string(70'000, '#');
  expectError<EnvironmentError>([&] { PathEnvironment((directory / "module.py").string()); },
                                {"module.py", "neither", "directory or zip file"});
}

TEST_F(Environments, APathMayBeAZipFile) {
  const std::string archive = (directory / "code.pyz").string();
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("zipper", R"(
import zipfile
def write(archive):
    with open(archive, 'wb') as file:
        file.write(b'#!/usr/bin/env python3\n')
        with zipfile.ZipFile(file, 'a') as content:
            content.writestr('zipped.py', 'value = 6')
            content.comment = b'c' * 60000
)");
    manager.acquireOne().global("zipper", "write")({archive});
  }
  InterpreterManager manager(1, std::make_shared<PathEnvironment>(archive));
  EXPECT_EQ(manager.acquireOne().global("zipped", "value").toIValue().toInt(), 6);
}

TEST_F(Environments, ThoseOfAnotherPythonVersion) {
  fs::create_directories(directory / "bin");
  fs::create_symlink(defaultPython().executable, directory / "bin/python");
  std::ofstream(directory / "pyvenv.cfg") << "home = /usr/bin\nversion = 3.7.2\n";
  for (int n : {1, 4}) {
    expectError<EnvironmentError>(
        [&] {
          InterpreterManager manager(n, std::make_shared<PythonEnvironment>(directory.string()));
        },
        {directory.string(), "3.7", builtInPythonVersion().text()});
  }
  InterpreterManager works(1);
  EXPECT_EQ(works.acquireOne().fromIValue(1).toIValue().toInt(), 1);
}

TEST_F(Environments, ACacheDirectoryThatCannotBeUsedIsAnError) {
  std::ofstream(directory / "file") << "in the way\n";
  InterpreterManagerOptions options;
  options.cacheDirectory = directory / "file" / "cache";
  expectError<CacheError>([&] { InterpreterManager manager(1, options); },
                          {(directory / "file").string()});
}

TEST_F(Environments, ACacheDirectoryOfOnesOwn) {
  InterpreterManagerOptions options;
  options.cacheDirectory = directory / "copies";
  InterpreterManager manager(1, options);
  EXPECT_EQ(manager.acquireOne().fromIValue(1).toIValue().toInt(), 1);
  EXPECT_FALSE(fs::is_empty(directory / "copies"));
}

}  // namespace
}  // namespace multipy::runtime
