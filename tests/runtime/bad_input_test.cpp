// What users get wrong with packages and models: each is one typed error that
// names file and cause, and leaves everything usable.
#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/python_environment.h"
#include "runtime/environment/python_installation.h"
#include "temporary_folder.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;
using testing_support::expectError;

const fs::path kPackages = MULTIPY_TEST_PACKAGES;

class BadInput : public testing::Test {
 protected:
  BadInput() : manager(2) {}
  ~BadInput() override {
    auto I = manager.acquireOne();
    EXPECT_EQ(I.global("builtins", "len")({"fine"}).toIValue().toInt(), 4);
  }
  static std::string path(const char* name) { return (kPackages / name).string(); }
  void refused(const char* file, std::initializer_list<std::string> parts) {
    expectError<PackageError>([&] { manager.loadPackage(path(file)); }, parts);
  }
  InterpreterManager manager;
};

TEST_F(BadInput, MissingPackage) {
  refused("none.pt", {path("none.pt"), "No such file", "torch.package"});
}

TEST_F(BadInput, UnreadablePackage) {
  refused(".", {"directory"});
  const std::string secret = path("secret.pt");
  fs::copy_file(path("simple.pt"), secret, fs::copy_options::overwrite_existing);
  fs::permissions(secret, fs::perms::none);
  if (::geteuid() != 0) {  // to root nothing is unreadable
    refused("secret.pt", {"secret.pt", "Permission denied"});
  } else {
    manager.loadPackage(secret);
  }
  fs::remove(secret);
}

TEST_F(BadInput, FilesThatAreNoPackage) {
  refused("text.pt", {"text.pt", "no zip file", "PackageExporter"});
  refused("empty.pt", {"empty.pt", "0 bytes"});
  refused("plain.zip", {"plain.zip", "zip file", "PackageExporter"});
  refused("state_dict.pt", {"state_dict.pt", "torch.save"});
  refused("simple_jit.pt", {"simple_jit.pt", "TorchScript"});
  refused("truncated.pt", {"truncated.pt", "zip file that torch cannot read"});
}

TEST_F(BadInput, WrongNamesInAPackage) {
  Package package = manager.loadPackage(path("simple.pt"));
  expectError<PackageError>([&] { package.loadPickle("some other", "garbage path"); },
                            {"garbage path", "some other", "simple.pt", "model/model.pkl"});
  expectError<PackageError>([&] { package.loadPickle("model", "modle.pkl"); },
                            {"modle.pkl", "model/model.pkl", "model/example.pkl"});
  expectError<PackageError>([&] { package.loadText("extra_files", "none"); },
                            {"none", "extra_files/text"});
  expectError<PackageError>([&] { package.loadBinary("no.such.folder", "x"); },
                            {"no/such/folder/x"});
  EXPECT_EQ(package.loadText("extra_files", "text").size(), 7u);
}

TEST_F(BadInput, AModelThatRaises) {
  ReplicatedObj model = manager.loadPackage(path("raising.pt")).loadPickle("model", "model.pkl");
  expectError<PythonException>([&] { model({"value"}); },
                               {"ValueError", "does not like value", "raising_model.py"});
  expectError<PythonException>([&] { model({"exit"}); }, {"SystemExit", "3"});
  EXPECT_EQ(model({"fine"}).toStringRef(), "fine");
}

TEST_F(BadInput, AnObjectThatCannotBeUnpickled) {
  Package package = manager.loadPackage(path("raising.pt"));
  expectError<PythonException>([&] { package.loadPickle("model", "unwilling.pkl"); },
                               {"RuntimeError", "cannot be brought to life"});
}

TEST_F(BadInput, WrongArguments) {
  ReplicatedObj model = manager.loadPackage(path("simple.pt")).loadPickle("model", "model.pkl");
  expectError<PythonException>([&] { model({}); }, {"TypeError", "input"});
  expectError<PythonException>([&] { model({"unexpected input"}); }, {"TypeError"});
  expectError<PythonException>([&] { model({at::ones({3, 7})}); }, {"RuntimeError", "3x7"});
  expectError<PythonException>(
      [&] {
        static_cast<void>(model.callKwargs({{"inputs", at::ones({1, 20})}}));
      },
      {"TypeError", "inputs"});
}

TEST_F(BadInput, AnExternModuleThatIsNotInstalled) {
  Package package = manager.loadPackage(path("needs_absent.pt"));
  // The module that imports it begins anew each time, and is not there half-made.
  for (int attempt = 0; attempt < 4; ++attempt) {
    try {
      package.loadPickle("model", "model.pkl");
      FAIL() << "nothing was thrown";
    } catch (const ModuleNotFoundError& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.module(), "absent_module");
      EXPECT_NE(text.find("absent_module"), std::string::npos) << text;
      EXPECT_NE(text.find("needs_absent.pt"), std::string::npos) << text;
      ASSERT_FALSE(error.searchPath().empty());
      EXPECT_NE(text.find(error.searchPath().back()), std::string::npos) << text;
    }
  }
}

TEST_F(BadInput, APackageAfterItsManager) {
  auto other = std::make_unique<InterpreterManager>(1);
  Package package = other->loadPackage(path("simple.pt"));
  ReplicatedObj model = package.loadPickle("model", "model.pkl");
  auto session = package.acquireSession();
  other.reset();
  expectError<HandleError>([&] { package.loadPickle("model", "model.pkl"); }, {"shut down"});
  expectError<HandleError>([&] { package.acquireSession(); }, {"shut down"});
  expectError<HandleError>([&] { session.self.attr("load_pickle"); }, {"shut down"});
  expectError<HandleError>([&] { model({at::ones({1, 20})}); }, {"shut down"});
  EXPECT_EQ(package.loadText("extra_files", "text").size(), 7u);  // needs no interpreter
}

TEST_F(BadInput, AnEnvironmentWithoutTorchWhenATensorCrosses) {
  const PythonInstallation python = defaultPython();
  const std::string version = builtInPythonVersion().text();
  const fs::path bare = testing_support::makeTemporaryFolder();
  fs::create_directories(bare / "lib" / ("python" + version) / "site-packages");
  fs::create_directories(bare / "bin");
  fs::create_symlink(python.executable, bare / "bin/python3");
  std::ofstream(bare / "pyvenv.cfg")
      << "home = " << (python.basePrefix / "bin").string() << "\nversion = " << version
      << ".0\ninclude-system-site-packages = false\n";
  {
    InterpreterManager without(1, std::make_shared<PythonEnvironment>(bare.string()));
    auto I = without.acquireOne();
    try {
      I.fromIValue(at::ones({2}));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("torch"), std::string::npos) << error.what();
    }
    EXPECT_EQ(I.fromIValue(3).toIValue().toInt(), 3);
  }
  fs::remove_all(bare);
}

}  // namespace
}  // namespace multipy::runtime
