// Extension modules, packages and paths that are broken: a Python error that says what
// is wrong with which file, and the interpreter goes on.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

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

class BadExtensions : public testing::Test {
 protected:
  BadExtensions() {
    directory = testing_support::makeTemporaryFolder();
    fs::copy(MULTIPY_TEST_BAD_EXTENSIONS, directory, fs::copy_options::recursive);
    manager = std::make_unique<InterpreterManager>(
        2, std::make_shared<PathEnvironment>(directory.string()));
  }
  ~BadExtensions() override {
    // Whatever it was: both go on, and can import what is good.
    for (const Interpreter& interpreter : manager->allInstances()) {
      const auto I = interpreter.acquireSession();
      EXPECT_NO_THROW(import(I, "good_module"));
      EXPECT_EQ(I.global("builtins", "len")({"fine"}).toIValue().toInt(), 4);
    }
    manager.reset();
    fs::remove_all(directory);
  }

  static void import(const InterpreterSession& I, const std::string& module) {
    I.global("importlib", "import_module")({module});
  }
  void refused(const std::string& module, std::initializer_list<std::string> parts,
               const char* type = "ImportError") {
    // Twice in one and once in the other: nothing is left half done.
    for (const int index : {0, 0, 1}) {
      const auto I = manager->allInstances()[index].acquireSession();
      expectError<PythonException>([&] { import(I, module); }, parts);
      try {
        import(I, module);
      } catch (const PythonException& error) {
        EXPECT_EQ(error.type(), type) << error.what();
      }
    }
  }
  std::string file(const std::string& module) const {
    return (directory / (module + ".so")).string();
  }
  /// The good module under another name, changed.
  template <typename Change>
  void damaged(const std::string& module, Change&& change) {
    fs::copy_file(file("good_module"), file(module), fs::copy_options::overwrite_existing);
    fs::permissions(file(module), fs::perms::owner_all);
    change(file(module));
  }

  fs::path directory;
  std::unique_ptr<InterpreterManager> manager;
};

TEST_F(BadExtensions, Truncated) {
  for (const auto& [name, size] :
       {std::pair{"cut_in_header", 40}, {"cut_early", 500}, {"cut_late", 8000}}) {
    damaged(name, [size = size](const std::string& path) { fs::resize_file(path, size); });
    refused(name, {file(name), "expected"});
  }
  damaged("nothing", [](const std::string& path) { fs::resize_file(path, 0); });
  refused("nothing", {file("nothing"), "expected"});
}

TEST_F(BadExtensions, NoSharedObject) {
  damaged("text", [](const std::string& path) { std::ofstream(path) << "no ELF file at all\n"; });
  refused("text", {file("text"), "expected"});
}

TEST_F(BadExtensions, ForAnotherMachine) {
  damaged("foreign", [](const std::string& path) {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(offsetof(Elf64_Ehdr, e_machine));
    const Elf64_Half machine = EM_S390;
    stream.write(reinterpret_cast<const char*>(&machine), sizeof machine);
  });
  refused("foreign", {file("foreign"), "e_machine", "expected"});
}

TEST_F(BadExtensions, ForAnotherPython) {
  refused("other_abi", {file("other_abi"), "undefined symbol: Py_InitModule4_64"});
  // A name with another version's tag is no candidate at all.
  fs::copy_file(file("good_module"), directory / "tagged.cpython-39-x86_64-linux-gnu.so");
  refused("tagged", {"No module named 'tagged'", directory.string()}, "ModuleNotFoundError");
}

TEST_F(BadExtensions, MissingFunction) {
  refused("missing_function",
          {file("missing_function"), "undefined symbol: no_such_function_anywhere"});
}

TEST_F(BadExtensions, MissingLibrary) {
  refused("missing_library",
          {"libgone.so", "needed by " + file("missing_library"), "/no/such/rpath", "ld.so.cache"});
  refused("missing_further",
          {"libgone.so", "needed by " + file("libmiddle"), "/no/such/middle", "LD_LIBRARY_PATH"});
}

TEST_F(BadExtensions, WithoutItsInitFunction) { refused("other_name", {"PyInit_other_name"}); }

TEST_F(BadExtensions, StaticTlsUsedUp) {
  refused("much_tls",
          {file("much_tls"), "static TLS", "GLIBC_TUNABLES=glibc.rtld.optional_static_tls"});
}

TEST_F(BadExtensions, FileDescriptorsUsedUp) {
  const auto I = manager->acquireOne();
  import(I, "json");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 128;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> taken;
  for (int next; (next = ::dup(0)) >= 0;) taken.push_back(next);
  ASSERT_FALSE(taken.empty());
  expectError<PythonException>([&] { import(I, "good_module"); }, {"Error", "open files"});
  expectError<Error>([&] { InterpreterManager another(1); }, {"open files"});
  for (const int descriptor : taken) ::close(descriptor);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

// --- Python code

TEST_F(BadExtensions, ImportCycle) {
  std::ofstream(directory / "cycle_a.py") << "from cycle_b import b\na = 1\n";
  std::ofstream(directory / "cycle_b.py") << "from cycle_a import a\nb = 1\n";
  refused("cycle_a",
          {"cannot import name 'a'", "circular import", (directory / "cycle_a.py").string()});
}

InterpreterManagerOptions withPythonPath(const fs::path& directory) {
  InterpreterManagerOptions options;
  options.interpreters.environmentVariables.emplace()["PYTHONPATH"] = directory.string();
  return options;
}

TEST_F(BadExtensions, APackageThatShadowsTheStandardLibrary) {
  const fs::path shadows = directory / "shadows";
  fs::create_directories(shadows);
  // The second is executed in another thread than the one that imports it.
  for (const std::string name : {"csv", "threading"}) {
    const std::string file = (shadows / (name + ".py")).string();
    std::ofstream(file) << "raise RuntimeError('not the one you want')\n";
    InterpreterManager other(1, withPythonPath(shadows));
    const auto I = other.acquireOne();
    for (int twice = 0; twice < 2; ++twice)
      expectError<PythonException>([&] { import(I, name.c_str()); },
                                   {"RuntimeError", "not the one you want", file});
    EXPECT_EQ(I.global("builtins", "len")({"fine"}).toIValue().toInt(), 4);
  }
  // One that Python needs to start.
  fs::create_directories(shadows / "encodings");
  std::ofstream(shadows / "encodings/__init__.py") << "raise RuntimeError('nor the encodings')\n";
  testing::internal::CaptureStderr();
  expectError<EnvironmentError>([&] { InterpreterManager other(1, withPythonPath(shadows)); },
                                {"starting Python", "RuntimeError: nor the encodings"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

class BadSite : public BadExtensions {
 protected:
  BadSite() {
    const PythonInstallation python = defaultPython();
    const std::string version = builtInPythonVersion().text();
    prefix = directory / "venv";
    site = prefix / "lib" / ("python" + version) / "site-packages";
    fs::create_directories(site);
    fs::create_directories(prefix / "bin");
    fs::create_symlink(python.executable, prefix / "bin/python3");
    std::ofstream(prefix / "pyvenv.cfg")
        << "home = " << (python.basePrefix / "bin").string() << "\nversion = " << version << ".0\n";
    std::ofstream(site / "here.py") << "value = 5\n";
  }
  std::shared_ptr<Environment> environment() const {
    return std::make_shared<PythonEnvironment>(prefix.string());
  }
  fs::path prefix, site;
};

TEST_F(BadSite, APthFileThatRaises) {
  std::ofstream(site / "a.pth") << "import no_such_module_for_pth\n";
  std::ofstream(site / "b.pth") << "import sys; sys.after = 1\n";
  // As plain Python takes it: said on stderr, and the other files count.
  testing::internal::CaptureStderr();
  InterpreterManager other(1, environment());
  EXPECT_EQ(other.acquireOne().global("sys", "after").toIValue().toInt(), 1);
  EXPECT_EQ(other.acquireOne().global("here", "value").toIValue().toInt(), 5);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find((site / "a.pth").string()), std::string::npos) << said;
  EXPECT_NE(said.find("no_such_module_for_pth"), std::string::npos) << said;
}

TEST_F(BadSite, ASitecustomizeThatRaises) {
  // Before the standard library: Debian's Python has a sitecustomize.py in there.
  std::ofstream(directory / "sitecustomize.py") << "raise ValueError('customized to fail')\n";
  testing::internal::CaptureStderr();
  InterpreterManagerOptions options = withPythonPath(directory);
  options.environment = environment();
  InterpreterManager other(1, options);
  EXPECT_EQ(other.acquireOne().global("here", "value").toIValue().toInt(), 5);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("customized to fail"), std::string::npos);
}

TEST_F(BadSite, UnreadableDirectoriesAreNoDirectories) {
  const fs::path locked = directory / "locked";
  fs::create_directories(locked);
  std::ofstream(locked / "inside.py") << "value = 1\n";
  fs::permissions(locked, fs::perms::none);
  std::ofstream(directory / "a_file") << "no directory\n";
  fs::create_symlink("loop", directory / "loop");
  const std::string path = locked.string() + ":" + (directory / "a_file").string() + ":" +
                           (directory / "loop").string() +
                           ":/no/such/folder:" + std::string(5000, 'x');
  InterpreterManager other(1, withPythonPath(path));
  const auto I = other.acquireOne();
  if (::geteuid() == 0)  // to root nothing is unreadable
    EXPECT_EQ(I.global("inside", "value").toIValue().toInt(), 1);
  else
    expectError<ModuleNotFoundError>([&] { import(I, "inside"); }, {"inside", locked.string()});
  EXPECT_EQ(I.global("builtins", "len")({"fine"}).toIValue().toInt(), 4);
  fs::permissions(locked, fs::perms::owner_all);
}

}  // namespace
}  // namespace multipy::runtime
