// Libraries that register operators with torch from C++, loaded by Python in
// several interpreters, and again after those have gone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/path_environment.h>

#include <filesystem>
#include <memory>
#include <string>

namespace multipy::runtime {
namespace {

void useIn(InterpreterManager& manager) {
  manager.registerModuleSource("operators", R"py(
import importlib.machinery, importlib.util, torch
def import_extension(path):
    loader = importlib.machinery.ExtensionFileLoader("registering_extension", path)
    spec = importlib.util.spec_from_loader("registering_extension", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    assert module.none == id(None)
    return torch.ops.multipy_extension.twice(torch.ones(2))
def load_library(path):
    torch.ops.load_library(path)
    return torch.ops.multipy_plain.thrice(torch.ones(2))
)py");
  for (const Interpreter& interpreter : manager.allInstances()) {
    auto session = interpreter.acquireSession();
    EXPECT_TRUE(session.global("operators", "import_extension")({EXTENSION_PATH})
                    .toIValue()
                    .toTensor()
                    .equal(at::full({2}, 2.0)));
    EXPECT_TRUE(session.global("operators", "load_library")({PLAIN_PATH})
                    .toIValue()
                    .toTensor()
                    .equal(at::full({2}, 3.0)));
  }
}

TEST(OperatorsTest, AreRegisteredOnceAndUsableInAllInterpreters) {
  InterpreterManager manager(3);
  useIn(manager);
}

// What is in a directory of the environment's is private to its interpreters, whose rules are not
// those of the copy that stays.
TEST(OperatorsTest, MayLieInADirectoryOfTheProgramsOwn) {
  const std::string folder = std::filesystem::path(ON_PATH).parent_path();
  InterpreterManager manager(2, std::make_shared<PathEnvironment>(folder));
  manager.registerModuleSource("operators_on_path", R"py(
import torch
def four(path):
    torch.ops.load_library(path)
    return torch.ops.multipy_on_path.four()
)py");
  for (const Interpreter& interpreter : manager.allInstances())
    EXPECT_EQ(interpreter.acquireSession()
                  .global("operators_on_path", "four")({ON_PATH})
                  .toIValue()
                  .toInt(),
              4);
}

TEST(OperatorsTest, OutliveTheInterpretersThatLoadedThem) {
  for (int i = 0; i < 2; i++) {
    InterpreterManager manager(2);
    useIn(manager);
  }
}

TEST(OperatorsTest, ListsNameWhatThisInterpreterHas) {
  InterpreterManager manager(2);
  manager.registerModuleSource("lists", R"py(
import torch
def define():
    global library
    library = torch.library.Library("listed_here", "DEF")
    library.define("composite(Tensor x) -> Tensor")
    library.impl("composite", lambda x: x + 1, "CompositeImplicitAutograd")
    library.define("cpu(Tensor x) -> Tensor")
    library.impl("cpu", lambda x: x + 1, "CPU")
def define_only():
    global library
    library = torch.library.Library("listed_here", "DEF")
    library.define("composite(Tensor x) -> Tensor")
def mine(names):
    return " ".join(sorted(name for name in names if name.startswith("listed_here")))
def all_names(): return mine(torch._C._dispatch_get_all_op_names())
def composite(): return mine(torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd"))
def with_kernels(): return mine(torch._C._dispatch_get_registrations_for_dispatch_key())
)py");
  const auto ask = [&](int k, const char* function) {
    auto session = manager.allInstances()[k].acquireSession();
    return session.global("lists", function)({}).toIValue();
  };
  const auto text = [&](int k, const char* function) { return ask(k, function).toStringRef(); };
  ask(0, "define");
  EXPECT_EQ(text(0, "all_names"), "listed_here::composite listed_here::cpu");
  EXPECT_EQ(text(0, "composite"), "listed_here::composite");
  EXPECT_EQ(text(0, "with_kernels"), "listed_here::composite listed_here::cpu");
  for (const char* list : {"all_names", "composite", "with_kernels"})
    EXPECT_EQ(text(1, list), "") << list;

  ask(1, "define_only");
  EXPECT_EQ(text(1, "all_names"), "listed_here::composite");
  EXPECT_EQ(text(1, "composite"), "") << "the kernel is the other one's";
}

}  // namespace
}  // namespace multipy::runtime
