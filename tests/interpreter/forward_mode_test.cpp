// Forward-mode autograd in several interpreters: levels and decompositions, of
// which torch has one set per process, belong to each interpreter.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/obj.h>
#include <torch/csrc/autograd/autograd.h>

#include <atomic>
#include <barrier>
#include <string>
#include <thread>

namespace multipy::runtime {
namespace {

constexpr int kInterpreters = 4;

constexpr const char* kModule = R"py(
import torch
from torch._decomp import decompositions_for_jvp
from torch.autograd import forward_ad

level = forward_ad.dual_level()
def enter(): level.__enter__()
def leave(): level.__exit__(None, None, None)

def dual(factor):
    """Keeps a tensor whose tangent is `factor`."""
    global kept
    kept = forward_ad.make_dual(torch.arange(3.0), torch.full((3,), factor))
def tangent(): return forward_ad.unpack_dual(kept * 2).tangent.clone()
def has_tangent(): return forward_ad.unpack_dual(kept).tangent is not None

def jvp(): return torch.func.jvp(torch.sin, (torch.zeros(2),), (torch.ones(2),))[1]

def nested():
    with forward_ad.dual_level():
        with forward_ad.dual_level():
            pass

def layer_norm_backward():
    """Its tangent comes from a decomposition that torch._decomp registers."""
    x = torch.arange(20.0).reshape(4, 5)
    with forward_ad.dual_level():
        grad = forward_ad.make_dual(torch.ones(4, 5), x)
        made = torch.ops.aten.native_layer_norm_backward(
            grad, x.sin(), [5], torch.zeros(4, 1), torch.ones(4, 1), None, None, [True, False, False])
        return forward_ad.unpack_dual(made[0]).tangent

# torch has no forward derivative of this operator; these are given Python ones.
def pdist():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.arange(6.0).reshape(3, 2), torch.ones(3, 2))
        return forward_ad.unpack_dual(torch.ops.aten._pdist_forward(x, 2.0)).tangent
def pdist_error():
    try:
        pdist()
    except NotImplementedError as error:
        return str(error).split(".")[0]

calls = 0
def register(factor):
    """A decomposition that calls this interpreter's Python, by which the tangent is `factor`."""
    @torch.jit.ignore
    def row(x: torch.Tensor) -> torch.Tensor:
        global calls
        calls += 1
        return x[0, 0].expand(3) * factor
    unit = torch.jit.CompilationUnit("def f(self: Tensor, p: float) -> Tensor:\n  return row(self)\n")
    torch.jit._register_decomposition(torch.ops.aten._pdist_forward.default, unit.f.graph)
def counted(): return calls
)py";

class ForwardMode : public testing::Test {
 protected:
  ForwardMode() { manager.registerModuleSource("forward_mode_test", kModule); }

  static Obj call(InterpreterSession& session, const char* function,
                  const std::vector<at::IValue>& arguments = {}) {
    return session.global("forward_mode_test", function)(at::ArrayRef<at::IValue>(arguments));
  }
  static at::Tensor tensor(InterpreterSession& session, const char* function) {
    return call(session, function).toIValue().toTensor();
  }

  InterpreterManager manager{kInterpreters};
};

TEST_F(ForwardMode, EachInterpreterHasItsOwnLevel) {
  std::vector<InterpreterSession> sessions;
  for (const Interpreter& interpreter : manager.allInstances())
    sessions.push_back(interpreter.acquireSession());
  for (auto& session : sessions) call(session, "enter");
  double factor = 0;
  for (auto& session : sessions) call(session, "dual", {++factor});
  factor = 0;
  for (auto& session : sessions)
    EXPECT_TRUE(at::equal(tensor(session, "tangent"), at::full({3}, 2 * ++factor)));

  call(sessions[0], "leave");
  EXPECT_FALSE(call(sessions[0], "has_tangent").toIValue().toBool());
  EXPECT_TRUE(call(sessions[1], "has_tangent").toIValue().toBool());

  // C++ has one, too, and it is not any of theirs.
  const auto level = torch::autograd::forward_ad::enter_dual_level();
  EXPECT_EQ(level, 0U);
  EXPECT_THROW(torch::autograd::forward_ad::enter_dual_level(), c10::Error);
  torch::autograd::forward_ad::exit_dual_level(level);
  EXPECT_TRUE(call(sessions[1], "has_tangent").toIValue().toBool());
}

TEST_F(ForwardMode, WithinOneInterpreterItIsAsInTorch) {
  InterpreterSession session = manager.acquireOne();
  try {
    call(session, "nested");
    FAIL() << "a second level was given";
  } catch (const PythonException& error) {
    EXPECT_NE(std::string(error.what()).find("Nested forward mode AD is not supported"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(at::equal(tensor(session, "jvp"), at::ones({2})));
}

TEST_F(ForwardMode, WorksInAllAtOnce) {
  constexpr int kRounds = 200;
  std::atomic<int> right = 0;
  {
    std::barrier together(kInterpreters);
    std::vector<std::jthread> threads;
    for (const Interpreter& interpreter : manager.allInstances()) {
      threads.emplace_back([&, &interpreter = interpreter] {
        InterpreterSession session = interpreter.acquireSession();
        call(session, "jvp");  // imports
        together.arrive_and_wait();
        for (int i = 0; i < kRounds; ++i)
          right += at::equal(tensor(session, "jvp"), at::ones({2})) ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(right, kInterpreters * kRounds);
}

TEST_F(ForwardMode, ALevelLeftOpenEndsWithItsInterpreter) {
  {
    InterpreterManager others(1);
    others.registerModuleSource("forward_mode_test", kModule);
    InterpreterSession session = others.acquireOne();
    call(session, "enter");
    call(session, "dual", {1.0});
  }
  // The next interpreter may get the same slot.
  InterpreterManager others(1);
  others.registerModuleSource("forward_mode_test", kModule);
  InterpreterSession session = others.acquireOne();
  EXPECT_TRUE(at::equal(tensor(session, "jvp"), at::ones({2})));
}

TEST_F(ForwardMode, DecompositionsAreEachInterpretersOwn) {
  InterpreterSession first = manager.allInstances()[0].acquireSession();
  InterpreterSession second = manager.allInstances()[1].acquireSession();
  InterpreterSession third = manager.allInstances()[2].acquireSession();
  EXPECT_TRUE(
      at::equal(tensor(first, "layer_norm_backward"), tensor(second, "layer_norm_backward")));

  call(first, "register", {2.0});
  call(second, "register", {3.0});
  // As in torch, the first one counts, also where another one follows.
  call(first, "register", {4.0});
  EXPECT_TRUE(at::equal(tensor(first, "pdist"), at::full({3}, 2.0)));
  EXPECT_TRUE(at::equal(tensor(second, "pdist"), at::full({3}, 3.0)));
  for (InterpreterSession* session : {&first, &second})
    EXPECT_EQ(call(*session, "counted").toIValue().toInt(), 1);

  const std::string error = call(third, "pdist_error").toIValue().toStringRef();
  EXPECT_TRUE(error.starts_with("Trying to use forward AD with _pdist_forward")) << error;
}

TEST_F(ForwardMode, DecompositionsEndWithTheirInterpreter) {
  {
    InterpreterManager others(1);
    others.registerModuleSource("forward_mode_test", kModule);
    InterpreterSession session = others.acquireOne();
    call(session, "register", {2.0});
    EXPECT_TRUE(at::equal(tensor(session, "pdist"), at::full({3}, 2.0)));
  }
  // Neither the next one, which may get the same slot, nor the end of the process
  // runs or frees what is gone.
  InterpreterManager others(1);
  others.registerModuleSource("forward_mode_test", kModule);
  InterpreterSession session = others.acquireOne();
  EXPECT_NE(call(session, "pdist_error").toIValue().toStringRef(), "");
}

}  // namespace
}  // namespace multipy::runtime
