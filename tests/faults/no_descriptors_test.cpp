// No file descriptors left: the limit lies so many above what is open, from none on, while an
// interpreter starts, imports, is called, reads a package or ends. Typed errors or none, and as
// many are open afterwards as before.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "child_runs.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"

namespace multipy::runtime {
namespace {

using testing_support::openDescriptors;
using testing_support::runInChild;

int outcome() { return testing::Test::HasFailure() ? 4 : 0; }

void expectToWork(InterpreterManager& manager) {
  const InterpreterSession I = manager.acquireOne();
  EXPECT_EQ(I.global("json", "dumps")({c10::List<int64_t>({1, 2})}).toIValue().toStringRef(),
            "[1, 2]");
}

/// Only `left` more can be opened as long as this lives.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    // The limit is one of numbers, so those below it are taken first.
    int highest = 0;
    for (int file = 0; file < 1024; ++file)
      if (::fcntl(file, F_GETFD) >= 0) highest = file;
    for (int file = 0; file < highest; ++file)
      if (::fcntl(file, F_GETFD) < 0) taken_.push_back(::dup(0));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(highest) + 1 + left;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
    for (const int file : taken_) ::close(file);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

/// Does it with 0, 1, 2 ... descriptors left, until it succeeds. Each failure has to be one of
/// these types.
void untilItSucceeds(const char* what, int most, const std::function<void()>& work) {
  for (int left = 0; left <= most; ++left) {
    bool done = false;
    std::string error;
    {
      const FewDescriptors few(static_cast<rlim_t>(left));
      try {
        work();
        done = true;
      } catch (const LoadError& thrown) {
        error = thrown.what();
      } catch (const EnvironmentError& thrown) {
        error = thrown.what();
      } catch (const PackageError& thrown) {
        error = thrown.what();
      } catch (const PythonException& thrown) {
        error = thrown.what();
        const std::string type = thrown.type();
        EXPECT_TRUE(type == "OSError" || type == "ImportError" || type == "ModuleNotFoundError" ||
                    type == "RuntimeError")
            << what << " with " << left << ": " << error;
      } catch (const std::exception& thrown) {
        ADD_FAILURE() << what << " with " << left << " left, of another type: " << thrown.what();
      }
    }
    if (done) {
      std::printf("%s: %d are enough\n", what, left);
      return;
    }
  }
  ADD_FAILURE() << what << " does not succeed with " << most << " descriptors left";
}

TEST(NoDescriptors, Starts) {
  const auto run = runInChild([] {
    InterpreterManager other(1);
    expectToWork(other);
    InterpreterManager(1);
    const std::size_t before = openDescriptors();
    untilItSucceeds("starting", 60, [] { InterpreterManager another(1); });
    expectToWork(other);
    EXPECT_EQ(openDescriptors(), before) << testing_support::listDescriptors();
    InterpreterManager another(1);
    expectToWork(another);
    return outcome();
  });
  EXPECT_TRUE(run.exitedWith(0));
}

// libffi (3.8) opens its own file when it is loaded, and keeps it open; it is the process's, and is
// loaded once.
void loadLibffi() {
  InterpreterManager manager(1);
  manager.acquireOne().global("ctypes", "sizeof");
}

// What a package has imported of itself stays when its own import fails, and is no attribute of the
// next one, which asyncio of CPython 3.13 counts on.
constexpr const char* kImports = R"(
import importlib, sys
def import_anew(name):
    try:
        importlib.import_module(name)
    except BaseException:
        for each in [each for each in sys.modules if each.startswith('asyncio')]:
            del sys.modules[each]
        raise
)";

TEST(NoDescriptors, Imports) {
  const auto run = runInChild([] {
    InterpreterManager other(1);
    loadLibffi();
    const std::size_t before = openDescriptors();
    {
      InterpreterManager manager(1);
      manager.registerModuleSource("imports", kImports);
      const InterpreterSession I = manager.acquireOne();
      const Obj importAnew = I.global("imports", "import_anew");
      for (const char* module : {"dataclasses", "decimal", "ctypes", "unittest.mock"}) {
        untilItSucceeds(module, 60, [&] { importAnew({std::string(module)}); });
      }
      expectToWork(manager);
    }
    expectToWork(other);
    // (Copies that could only be kept in memory have had one each until then.)
    EXPECT_EQ(openDescriptors(), before) << testing_support::listDescriptors();
    return outcome();
  });
  EXPECT_TRUE(run.exitedWith(0));
}

TEST(NoDescriptors, IsCalled) {
  const auto run = runInChild([] {
    InterpreterManager manager(1);
    manager.registerModuleSource("opens", R"(
def read():
    with open('/proc/self/status') as file:
        return len(file.read()) > 0
)");
    const InterpreterSession I = manager.acquireOne();
    const Obj read = I.global("opens", "read");
    const std::size_t before = openDescriptors();
    untilItSucceeds("opening a file", 5, [&] { read({}); });
    {
      const FewDescriptors none(0);
      EXPECT_EQ(I.global("builtins", "abs")({-5}).toIValue().toInt(), 5);
    }
    EXPECT_EQ(openDescriptors(), before);
    return outcome();
  });
  EXPECT_TRUE(run.exitedWith(0));
}

TEST(NoDescriptors, ReadsAPackage) {
  const auto run = runInChild([] {
    InterpreterManager other(1);
    loadLibffi();
    const std::size_t before = openDescriptors();
    {
      InterpreterManager manager(1);
      manager.acquireOne().global("torch", "ones");  // its import has a test of its own
      untilItSucceeds("a package", 60, [&] {
        const Package package = manager.loadPackage(MULTIPY_TEST_PACKAGES "/simple.pt");
        package.loadPickle("model", "model.pkl");
      });
      expectToWork(manager);
    }
    expectToWork(other);
    // (Until then linecache has an importer that has read source code, and it its file.)
    EXPECT_EQ(openDescriptors(), before) << testing_support::listDescriptors();
    return outcome();
  });
  EXPECT_TRUE(run.exitedWith(0));
}

TEST(NoDescriptors, ImportsTorch) {
  const auto run = runInChild(
      [] {
        InterpreterManager other(1);
        expectToWork(other);
        // One whose import has failed may be broken for good: each time another.
        for (const rlim_t left : {0, 1, 2, 3, 5, 8}) {
          InterpreterManager manager(1);
          const InterpreterSession I = manager.acquireOne();
          try {
            const FewDescriptors few(left);
            I.global("torch", "ones");
          } catch (const PythonException& error) {
            std::printf("%d: %s\n", static_cast<int>(left), error.type().c_str());
          } catch (const LoadError& error) {
            std::printf("%d: %s\n", static_cast<int>(left), error.what());
          }
          EXPECT_EQ(I.global("builtins", "abs")({-5}).toIValue().toInt(), 5);
        }
        expectToWork(other);
        InterpreterManager manager(1);
        manager.acquireOne().global("torch", "ones");
        return outcome();
      },
      200);
  EXPECT_TRUE(run.exitedWith(0));
}

TEST(NoDescriptors, Ends) {
  const auto run = runInChild([] {
    InterpreterManager other(1);
    InterpreterManager(1);
    const std::size_t before = openDescriptors();
    const std::size_t threads = testing_support::runningThreads();
    auto manager = std::make_unique<InterpreterManager>(2);
    expectToWork(*manager);
    {
      const FewDescriptors none(0);
      manager.reset();
    }
    EXPECT_EQ(openDescriptors(), before) << testing_support::listDescriptors();
    EXPECT_TRUE(testing_support::threadsEndUntil(threads));
    expectToWork(other);
    return outcome();
  });
  EXPECT_TRUE(run.exitedWith(0));
}

}  // namespace
}  // namespace multipy::runtime
