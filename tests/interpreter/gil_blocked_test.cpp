// An interpreter that is blocked with its GIL held blocks no other. If one of
// these things waited for it, the test would never end.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/obj.h>
#include <multipy/runtime/replicated_obj.h>
#include <torch/csrc/jit/api/module.h>
#include <unistd.h>

#include <optional>
#include <thread>

namespace multipy::runtime {
namespace {

constexpr const char* kModule = R"py(
import ctypes
import numpy, torch

def block(descriptor, ready):
    """Reads from a pipe without giving up the GIL, as a C extension may."""
    libc = ctypes.PyDLL(None)
    byte = ctypes.create_string_buffer(1)
    libc.write(ready, b"x", 1)
    return libc.read(descriptor, byte, 1)

class Held:
    pass
def held(): return Held()
def numpys(): return torch.from_numpy(numpy.ones(1000, dtype=numpy.float32))
def graph():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x * 2
        @staticmethod
        def backward(ctx, g): return g * 2
    return Twice.apply(torch.ones(2, requires_grad=True))
def promised(): return torch.futures.Future()

def use(t): return float(t.sum())
def train():
    x = torch.ones(3, requires_grad=True)
    (x * x).sum().backward()
    return x.grad.tolist()
def operator():
    lib = torch.library.Library("blocked_test", "FRAGMENT")
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
    return float(torch.ops.blocked_test.twice(torch.ones(1)))
def imports():
    import decimal, sqlite3, xml.etree.ElementTree, torch.fx, torch.distributions
    return True
def fails(): raise ValueError("in B")
)py";

TEST(Blocked, OneInterpreterBlocksNoOther) {
  InterpreterManager manager(3);
  manager.registerModuleSource("blocked_test", kModule);
  const auto session = [&](int k) { return manager.allInstances()[k].acquireSession(); };
  const auto ask = [&](int k, const char* function, std::vector<at::IValue> arguments = {}) {
    return session(k).global("blocked_test", function)(arguments).toIValue();
  };
  ask(1, "train");

  // Things of A's that others give up while A is blocked.
  auto a = std::make_optional(session(0));
  std::optional<Obj> object = a->global("blocked_test", "held")(std::vector<at::IValue>());
  ReplicatedObj replicated =
      a->createMovable(a->global("builtins", "dict")(std::vector<at::IValue>()));
  at::Tensor numpys = ask(0, "numpys").toTensor();
  at::Tensor graph = ask(0, "graph").toTensor();
  at::IValue promised = ask(0, "promised");

  int hold[2], ready[2];
  ASSERT_EQ(::pipe(hold), 0);
  ASSERT_EQ(::pipe(ready), 0);
  std::jthread blocked([&] { EXPECT_EQ(ask(0, "block", {hold[0], ready[1]}).toInt(), 1); });
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);

  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(ask(1, "use", {numpys}).toDouble(), 1000);
    EXPECT_EQ(ask(2, "train").toDoubleVector(), (std::vector<double>{2, 2, 2}));
    EXPECT_EQ(ask(1, "operator").toDouble(), 2);
    EXPECT_THROW(ask(2, "fails"), PythonException);
    EXPECT_EQ(session(1).fromIValue(round).toIValue().toInt(), round);
  }
  EXPECT_TRUE(ask(1, "imports").toBool());
  {
    InterpreterManager further(1);
    EXPECT_EQ(further.acquireOne().global("torch", "ones")({3}).toIValue().toTensor().numel(), 3);
  }
  // Dropped inside B, and in C++.
  {
    auto b = session(1);
    const auto inside = b.enter();
    object.reset();
    numpys = at::Tensor();
    graph = at::Tensor();
    promised = at::IValue();
    EXPECT_EQ(b.fromIValue(1).toIValue().toInt(), 1);
  }
  a.reset();
  EXPECT_EQ(at::ones({3}).sum().item<float>(), 3);

  ASSERT_EQ(::write(hold[1], "x", 1), 1);
  blocked.join();
  EXPECT_EQ(ask(0, "train").toDoubleVector(), (std::vector<double>{2, 2, 2}));
  for (const int descriptor : {hold[0], hold[1], ready[0], ready[1]}) ::close(descriptor);
}

}  // namespace
}  // namespace multipy::runtime
