// torch in several interpreters at once over one libtorch_cpu.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/obj.h>

#include <thread>

namespace multipy::runtime {
namespace {

constexpr int kInterpreters = 4;
const std::vector<Obj> kNothing;

constexpr const char* kModule = R"py(
import torch, numpy

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g

def train():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    with torch.no_grad():  # no random numbers: the default generator is the process's
        for p in model.parameters():
            p.copy_(torch.linspace(-0.5, 0.5, p.numel()).reshape(p.shape))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    x = torch.linspace(-1, 1, 64).reshape(8, 8)
    for _ in range(10):
        optimizer.zero_grad()
        loss = Square.apply(model(x) - 1).mean()
        loss.backward()
        optimizer.step()
    return model(x).detach()

def custom_op(n):
    lib = torch.library.Library("multipy_test", "FRAGMENT")
    lib.define(f"scale{n}(Tensor x) -> Tensor")
    lib.impl(f"scale{n}", lambda x: x * n, "CompositeExplicitAutograd")
    result = getattr(torch.ops.multipy_test, f"scale{n}")(torch.ones(2))
    globals().setdefault("kept", []).append(lib)
    return result

def own_kernel(factor):
    """The same operator in every interpreter, another kernel in each."""
    global shared
    shared = torch.library.Library("multipy_shared", "FRAGMENT")
    shared.define("times(Tensor x) -> Tensor")
    shared.impl("times", lambda x: x * factor, "CompositeExplicitAutograd")

def call_own_kernel(): return torch.ops.multipy_shared.times(torch.ones(1))

def dispatch_mode():
    from torch.utils._python_dispatch import TorchDispatchMode
    seen = []
    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))
    with Log():
        torch.ones(2) + 1
    return seen

def functional():
    f = lambda x: (x ** 3).sum()
    return torch.func.vmap(torch.func.grad(f))(torch.ones(2, 2))

def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        return list((torch.empty(3, 4) @ torch.empty(4, 5)).shape)

def scripted():
    @torch.jit.script
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + 1
    return f(torch.zeros(2))

def numpy_shared():
    a = numpy.arange(4.0)
    t = torch.from_numpy(a)
    a[0] = 10
    return t
def graph(x): return (x * 2).sum()
def make_weight():
    global weight
    weight = torch.ones(2, requires_grad=True)
def loss(x): return Square.apply(weight * x * 2).sum() / 2
def gradient(): return weight.grad
def hooked():
    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.sum().item()))
    (x * 3).sum().backward()
    return seen
)py";

class TorchTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    manager = new InterpreterManager(kInterpreters);
    manager->registerModuleSource("torch_module", kModule);
  }
  static void TearDownTestSuite() {
    delete manager;
    manager = nullptr;
  }
  static at::IValue call(int which, const char* function, std::vector<at::IValue> args = {}) {
    auto session = manager->allInstances()[which].acquireSession();
    return session.global("torch_module", function)(at::ArrayRef<at::IValue>(args)).toIValue();
  }
  // In all interpreters at once, after each has done it alone.
  template <typename Check>
  static void everywhere(const char* function, Check&& check) {
    for (int i = 0; i < kInterpreters; i++) check(call(i, function));
    std::vector<std::thread> threads;
    std::vector<at::IValue> results(kInterpreters);
    for (int i = 0; i < kInterpreters; i++)
      threads.emplace_back([&, i] { results[i] = call(i, function); });
    for (auto& thread : threads) thread.join();
    for (const auto& result : results) check(result);
  }
  static InterpreterManager* manager;
};
InterpreterManager* TorchTest::manager = nullptr;

TEST_F(TorchTest, TrainingGivesTheSameEverywhere) {
  const at::Tensor expected = call(0, "train").toTensor();
  everywhere("train", [&](const at::IValue& v) { EXPECT_TRUE(v.toTensor().allclose(expected)); });
}

TEST_F(TorchTest, FunctionalTransforms) {
  everywhere("functional", [](const at::IValue& v) {
    EXPECT_TRUE(v.toTensor().equal(at::full({2, 2}, 3.0)));
  });
}

TEST_F(TorchTest, DispatchModes) {
  everywhere("dispatch_mode", [](const at::IValue& v) {
    const auto seen = v.toListRef().vec();
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[1].toStringRef(), "aten.add.Tensor");
  });
}

TEST_F(TorchTest, FakeTensors) {
  everywhere("fake", [](const at::IValue& v) {
    EXPECT_EQ(v.toIntVector(), (std::vector<int64_t>{3, 5}));
  });
}

TEST_F(TorchTest, ScriptFunctions) {
  everywhere("scripted",
             [](const at::IValue& v) { EXPECT_TRUE(v.toTensor().equal(at::ones({2}))); });
}

TEST_F(TorchTest, TensorHooks) {
  everywhere("hooked",
             [](const at::IValue& v) { EXPECT_EQ(v.toDoubleVector(), std::vector<double>{6.0}); });
}

TEST_F(TorchTest, NumpyBackedTensorsOutliveThePythonObject) {
  at::Tensor t = call(1, "numpy_shared").toTensor();
  EXPECT_EQ(t[0].item<double>(), 10);
  std::thread([moved = std::move(t)]() mutable { moved.reset(); }).join();  // dropped elsewhere
}

TEST_F(TorchTest, OperatorsDefinedInOneInterpreterAtATime) {
  for (int i = 0; i < kInterpreters; i++)
    EXPECT_TRUE(call(i, "custom_op", {int64_t{i + 2}}).toTensor().equal(at::full({2}, i + 2.0)));
}

TEST_F(TorchTest, TheSameOperatorHasAnotherKernelInEach) {
  for (int i = 0; i < kInterpreters; i++) call(i, "own_kernel", {int64_t{i + 1}});
  for (int i = 0; i < kInterpreters; i++)
    EXPECT_EQ(call(i, "call_own_kernel").toTensor().item<float>(), i + 1.0f);
}

TEST_F(TorchTest, ATensorGoesFromInterpreterToInterpreterByReference) {
  const at::Tensor t = at::zeros({4});
  std::vector<at::Tensor> seen{t};
  for (int i = 0; i < kInterpreters; i++) {
    auto session = manager->allInstances()[i].acquireSession();
    auto inside = session.fromIValue(seen.back());
    inside.attr("add_")({1});
    seen.push_back(inside.toIValue().toTensor());
  }
  EXPECT_EQ(seen.back().data_ptr(), t.data_ptr());
  EXPECT_TRUE(t.equal(at::full({4}, kInterpreters)));
}

TEST_F(TorchTest, CppDifferentiatesAGraphMadeInPython) {
  for (int i = 0; i < kInterpreters; i++) {
    auto session = manager->allInstances()[i].acquireSession();
    session.global("torch_module", "make_weight")(kNothing);
    at::Tensor loss =
        session.global("torch_module", "loss")({at::full({2}, 3.0)}).toIValue().toTensor();
    ASSERT_TRUE(loss.requires_grad());
    EXPECT_EQ(loss.item<float>(), 36.0f);  // sum of (2 * 3 * w) ** 2 / 2 with w = 1
    loss.backward();
    EXPECT_TRUE(session.global("torch_module", "gradient")(kNothing).toIValue().toTensor().equal(
        at::full({2}, 36.0)));
  }
}

TEST_F(TorchTest, AGraphOfCppDoesNotGoIntoPythonAndTheErrorSaysWhatToDo) {
  try {
    call(0, "graph", {at::ones({2}).requires_grad_() * 2});
    FAIL();
  } catch (const ConversionError& error) {
    EXPECT_NE(std::string(error.what()).find("detach"), std::string::npos) << error.what();
  }
}

TEST(GraphsTest, EndWithTheirInterpreterAndTheValueStays) {
  at::Tensor loss;
  {
    InterpreterManager one(1);
    one.registerModuleSource("torch_module", kModule);
    auto session = one.acquireOne();
    session.global("torch_module", "make_weight")(kNothing);
    loss = session.global("torch_module", "loss")({at::full({2}, 3.0)}).toIValue().toTensor();
  }
  EXPECT_EQ(loss.item<float>(), 36.0f);
  EXPECT_THROW(loss.backward(), c10::Error);
}

// What torch looked at while it was imported; linecache reads it again when it is asked.
TEST(ImportTest, LeavesNoSourceLinesBehindAndTheyCanBeRead) {
  InterpreterManager manager(1);
  manager.registerModuleSource("lines", R"py(
import linecache
linecache.cache["<made up>"] = (5, None, ["lines\n"], "<made up>")
import inspect, torch
def of_files(): return [name for name, entry in linecache.cache.items() if len(entry) == 4 and entry[1] is not None]
at_start = of_files()
def at_start_and_later():
    global torch
    assert at_start == [], at_start
    assert linecache.getline("<made up>", 1) == "lines\n"
    assert "lines" in "".join(linecache.cache["<registered lines.py>"][2])
    assert inspect.getsource(torch.nn.functional.relu).startswith("def relu(")
    assert len(of_files()) == 1
    import torch.testing  # once torch is there, what is looked at stays
    assert len(of_files()) == 1
    return True
)py");
  auto session = manager.acquireOne();
  EXPECT_TRUE(session.global("lines", "at_start_and_later")(kNothing).toIValue().toBool());
}

TEST_F(TorchTest, GraphsAreDroppedFromAnyThreadAndInsideOtherInterpreters) {
  for (int round = 0; round < 50; round++) {
    auto first = manager->allInstances()[0].acquireSession();
    auto second = manager->allInstances()[1].acquireSession();
    first.global("torch_module", "make_weight")(kNothing);
    at::Tensor loss = first.global("torch_module", "loss")({at::ones({2})}).toIValue().toTensor();
    if (round % 2) {
      std::thread([dropped = std::move(loss)]() mutable { dropped.reset(); }).join();
    } else {
      const auto inside = second.enter();
      loss.reset();
    }
  }
}

TEST_F(TorchTest, CppGoesOnWithoutPython) {
  EXPECT_TRUE((at::ones({2}) + 1).equal(at::full({2}, 2.0)));
}

}  // namespace
}  // namespace multipy::runtime
