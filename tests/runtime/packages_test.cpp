// Packages written by torch.package (make_packages.py), loaded and used.
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "expect_error.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "multipy/runtime/python_method_wrapper.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;
using testing_support::expectError;

const fs::path kPackages = MULTIPY_TEST_PACKAGES;

std::string packagePath(const char* name) { return (kPackages / name).string(); }

at::Tensor expectedFor(const at::Tensor& input) {
  return input.matmul(at::arange(200, at::kFloat).reshape({10, 20}).t());
}

// One manager for all tests: importing torch takes most of their time.
class Packages : public testing::Test {
 protected:
  static void SetUpTestSuite() { shared = std::make_unique<InterpreterManager>(2); }
  static void TearDownTestSuite() { shared.reset(); }

  at::NoGradGuard noGradients;
  InterpreterManager& manager = *shared;

 private:
  static inline std::unique_ptr<InterpreterManager> shared;
};

TEST_F(Packages, ModelIsLoadedAndCalled) {
  Package package = manager.loadPackage(packagePath("simple.pt"));
  ReplicatedObj model = package.loadPickle("model", "model.pkl");
  const at::Tensor input = at::ones({3, 20});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(model({input}).toTensor().equal(expectedFor(input)));
}

TEST_F(Packages, ResourcesAreReadAsTheyAre) {
  Package package = manager.loadPackage(packagePath("simple.pt"));
  EXPECT_EQ(package.loadText("extra_files", "text"), "grüße");
  EXPECT_EQ(package.loadBinary("extra_files", "binary"), std::string("\0hello\xff", 7));
}

std::size_t timesOpen(const fs::path& file) {
  std::size_t times = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    times += fs::read_symlink(entry, gone) == file;
  }
  return times;
}

// Nothing that Python keeps for good (linecache's lines for tracebacks) keeps a package.
TEST_F(Packages, APackageThatWasDroppedIsClosed) {
  manager.registerModuleSource("kept_of_packages", R"(
import gc, linecache
from torch.package.package_importer import _package_imported_modules
def names(part):
    for i in range(3): gc.collect()  # a class in a cycle goes after what uses it
    return sum(part in name for name in [*linecache.cache, *_package_imported_modules])
)");
  const fs::path file = fs::canonical(packagePath("raising.pt"));
  {
    const Package package = manager.loadPackage(file);
    const ReplicatedObj model = package.loadPickle("model", "model.pkl");
    for (const auto& interpreter : manager.allInstances()) {
      auto session = interpreter.acquireSession();
      EXPECT_THROW(model.toObj(&session)({"value"}), PythonException);  // its traceback has lines
    }
    ASSERT_GT(timesOpen(file), 0u);
  }
  for (const auto& interpreter : manager.allInstances()) {
    auto session = interpreter.acquireSession();
    EXPECT_EQ(session.global("kept_of_packages", "names")({"raising_model"}).toIValue().toInt(), 0);
  }
  EXPECT_EQ(timesOpen(file), 0u);
}

TEST_F(Packages, SessionHasTheImporterAsSelf) {
  Package package = manager.loadPackage(packagePath("simple.pt"));
  auto I = package.acquireSession();
  EXPECT_EQ(I.self.attr("load_text")({"extra_files", "text"}).toIValue().toStringRef(), "grüße");
  const at::IValue example = I.self.attr("load_pickle")({"model", "example.pkl"}).toIValue();
  ASSERT_TRUE(example.isTuple());
  EXPECT_TRUE(example.toTupleRef().elements()[0].toTensor().equal(at::ones({10, 20})));
}

TEST_F(Packages, ClassesOfThePackageMoveWithTheirObjects) {
  Package package = manager.loadPackage(packagePath("simple.pt"));
  ReplicatedObj label;
  {
    auto I = package.acquireSession();
    Obj make = I.self.attr("import_module")({"simple_model"}).attr("make_label");
    label = package.createMovable(make({"made here"}), &I);
    // The session knows its package: the manager's own function will do as well.
    ReplicatedObj same = manager.createMovable(make({"again"}), &I);
    EXPECT_EQ(same({"!"}).toStringRef(), "again!");
  }
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto I = label.acquireSession(&interpreter);
    EXPECT_EQ(I.self({"?"}).toIValue().toStringRef(), "made here?");
  }
}

TEST_F(Packages, OutlivesItsHandle) {
  ReplicatedObj label;
  { label = manager.loadPackage(packagePath("simple.pt")).loadPickle("labels", "label.pkl"); }
  for (const Interpreter& interpreter : manager.allInstances())
    EXPECT_EQ(label.acquireSession(&interpreter).self({"."}).toIValue().toStringRef(), "packed.");
}

TEST_F(Packages, AHandleThatWasMovedFromIsRefused) {
  Package from = manager.loadPackage(packagePath("simple.pt"));
  const Package to = std::move(from);
  EXPECT_THROW(static_cast<void>(from.loadPickle("labels", "label.pkl")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(from.loadText("labels", "label.pkl")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(from.acquireSession()), InvalidArgument);
  EXPECT_NO_THROW(static_cast<void>(to.loadPickle("labels", "label.pkl")));
}

TEST_F(Packages, AFifoIsNone) {
  const std::string path = packagePath("fifo.pt");
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(static_cast<void>(manager.loadPackage(path)), PackageError);
  fs::remove(path);
}

TEST_F(Packages, StaysWhatItWasWhenThePathIsReplaced) {
  const std::string path = packagePath("replaced.pt");
  fs::copy_file(packagePath("simple.pt"), path, fs::copy_options::overwrite_existing);
  Package package = manager.loadPackage(path);
  ReplicatedObj first = package.loadPickle("labels", "label.pkl");
  fs::remove(path);
  std::ofstream(path) << "something else";
  EXPECT_EQ(package.loadText("extra_files", "text"), "grüße");
  ReplicatedObj model = package.loadPickle("model", "model.pkl");
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto I = model.acquireSession(&interpreter);
    EXPECT_EQ(I.self.attr("rows")({}).toIValue().toInt(), 10);
  }
}

TEST_F(Packages, TwoPackagesSideBySide) {
  Package one = manager.loadPackage(packagePath("simple.pt"));
  Package two = manager.loadPackage(packagePath("raising.pt"));
  auto I = one.acquireSession();
  auto J = two.acquireSession();
  auto again = one.acquireSession();
  EXPECT_TRUE(I.self.hasattr("load_pickle"));
  EXPECT_TRUE(J.self.hasattr("load_pickle"));
  EXPECT_TRUE(again.self.hasattr("load_pickle"));
}

template <typename Use>
void inFourThreadsAtOnce(Use&& use) {
  std::latch ready(4);
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 4; ++i)
    threads.push_back(std::async(std::launch::async, [&] {
      ready.arrive_and_wait();
      use();
    }));
  for (auto& thread : threads) thread.get();
}

// torch's PackageImporter is for one thread: another one gets a module whose code still runs.
TEST_F(Packages, ThreadsOfOneInterpreterNeedAModuleAtOnce) {
  ReplicatedObj model =
      manager.loadPackage(packagePath("slow.pt")).loadPickle("model", "model.pkl");
  for (const Interpreter& interpreter : manager.allInstances()) {
    inFourThreadsAtOnce([&] {
      auto I = model.acquireSession(&interpreter);
      EXPECT_EQ(I.self.attr("__call__")({41}).toIValue().toInt(), 42);
    });
    inFourThreadsAtOnce([&] {
      auto I = model.acquireSession(&interpreter);
      EXPECT_EQ(I.self.attr("imports")({}).toIValue().toStringRef(), "later");
    });
  }
}

// A reader of the user's, without any care for threads.
class BytesInMemory : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit BytesInMemory(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::size_t size() const override { return bytes_.size(); }
  std::size_t read(uint64_t position, void* buffer, std::size_t n, const char*) const override {
    ++inside_;
    EXPECT_EQ(inside_, 1) << "two threads at once";
    if (position >= bytes_.size()) n = 0;
    n = std::min(n, bytes_.size() - std::min<std::size_t>(position, bytes_.size()));
    std::memcpy(buffer, bytes_.data() + position, n);
    --inside_;
    return n;
  }

 private:
  std::string bytes_;
  mutable int inside_ = 0;
};

TEST_F(Packages, FromAReader) {
  Package package = manager.loadPackage(std::make_shared<BytesInMemory>(packagePath("simple.pt")));
  ReplicatedObj model = package.loadPickle("model", "model.pkl");
  const at::Tensor input = at::ones({1, 20});
  EXPECT_TRUE(model({input}).toTensor().equal(expectedFor(input)));
  expectError<InvalidArgument>(
      [&] { manager.loadPackage(std::shared_ptr<caffe2::serialize::ReadAdapterInterface>()); },
      {"reader", "null"});
}

// From a disk that takes its time.
class SlowBytes final : public BytesInMemory {
 public:
  using BytesInMemory::BytesInMemory;
  std::size_t read(uint64_t position, void* buffer, std::size_t n,
                   const char* what) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return BytesInMemory::read(position, buffer, n, what);
  }
};

// torch's reader has a lock of its own, which a thread takes with the GIL.
TEST_F(Packages, ThreadsOfOneInterpreterReadAtOnce) {
  InterpreterManager one(1);
  Package package = one.loadPackage(std::make_shared<SlowBytes>(packagePath("simple.pt")));
  inFourThreadsAtOnce([&] {
    auto I = package.acquireSession();
    EXPECT_EQ(I.self.attr("load_text")({"extra_files", "text"}).toIValue().toStringRef(), "grüße");
    EXPECT_EQ(
        I.self.attr("load_pickle")({"labels", "label.pkl"}).attr("text").toIValue().toStringRef(),
        "packed");
  });
}

TEST_F(Packages, MethodWrapper) {
  ReplicatedObj model =
      manager.loadPackage(packagePath("simple.pt")).loadPickle("model", "model.pkl");
  PythonMethodWrapper forward(model, "forward");
  EXPECT_EQ(forward.name(), "forward");
  EXPECT_EQ(forward.getArgumentNames(), (std::vector<std::string>{"input", "scale"}));
  const at::Tensor input = at::ones({2, 20});
  EXPECT_TRUE(forward({input}, {{"scale", 2.0}}).toTensor().equal(expectedFor(input).mul(2)));
  EXPECT_EQ(PythonMethodWrapper(model, "rows")({}).toInt(), 10);
  expectError<PythonException>([&] { PythonMethodWrapper(model, "nothing")({}); },
                               {"AttributeError", "nothing"});
}

}  // namespace
}  // namespace multipy::runtime
