// Libraries that register operators with torch from C++, loaded by Python in
// several interpreters, and again after those have gone.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/deploy.h>

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
                    .toIValue().toTensor().equal(at::full({2}, 2.0)));
    EXPECT_TRUE(session.global("operators", "load_library")({PLAIN_PATH})
                    .toIValue().toTensor().equal(at::full({2}, 3.0)));
  }
}

TEST(OperatorsTest, AreRegisteredOnceAndUsableInAllInterpreters) {
  InterpreterManager manager(3);
  useIn(manager);
}

TEST(OperatorsTest, OutliveTheInterpretersThatLoadedThem) {
  for (int i = 0; i < 2; i++) {
    InterpreterManager manager(2);
    useIn(manager);
  }
}

}  // namespace
}  // namespace multipy::runtime
