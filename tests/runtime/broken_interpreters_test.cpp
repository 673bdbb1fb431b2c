// Interpreters in which the import of torch has failed half-way.
#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/replicated_obj.h>

#include <string>
#include <vector>

namespace multipy::runtime {
namespace {

// A part of torch that fails in one interpreter, as with a damaged file or no memory: torch's
// C++ part has been initialised before.
constexpr const char* kDamaged = "raise RuntimeError('this part is damaged')\n";

/// What Python says to torch.ones(2) in a session.
std::string answer(InterpreterSession session) {
  try {
    return at::equal(session.global("torch", "ones")({2}).toIValue().toTensor(), at::ones({2}))
               ? "right"
               : "wrong";
  } catch (const PythonException& error) {
    return error.type() + ": " + error.message();
  }
}

/// Not replaced, as they would be otherwise (replacement_test.cpp).
InterpreterManagerOptions leftBroken() {
  InterpreterManagerOptions options;
  options.pool.replacement.whenBroken = false;
  return options;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BrokenInterpreters, SayWhyAndSinceWhen) {
  InterpreterManager manager(1, leftBroken());
  manager.registerModuleSource("torch.autograd", kDamaged);
  const Interpreter& interpreter = manager.allInstances()[0];
  EXPECT_EQ(interpreter.whyBroken(), "");
  EXPECT_EQ(answer(manager.acquireOne()), "RuntimeError: this part is damaged");
  EXPECT_TRUE(contains(interpreter.whyBroken(), "this part is damaged")) << interpreter.whyBroken();
  EXPECT_TRUE(contains(interpreter.whyBroken(), " UTC")) << interpreter.whyBroken();

  const std::string later = answer(manager.acquireOne());
  EXPECT_TRUE(contains(later, "ImportError: torch cannot be imported in this interpreter any more"))
      << later;
  EXPECT_TRUE(contains(later, "this part is damaged")) << later;
}

TEST(BrokenInterpreters, AreLeftToThemselvesWhereThereAreOthers) {
  InterpreterManager manager(3, leftBroken());
  manager.registerModuleSource("torch.functional", kDamaged);
  EXPECT_EQ(answer(manager.allInstances()[1].acquireSession()),
            "RuntimeError: this part is damaged");
  // The others find torch as it is.
  manager.registerModuleSource("torch.functional", R"(
import importlib.machinery
_spec = importlib.machinery.PathFinder.find_spec(__name__, __import__("torch").__path__)
exec(compile(_spec.loader.get_data(_spec.origin), _spec.origin, "exec"))
)");
  std::vector<InterpreterSession> kept;
  for (int i = 0; i < 6; ++i) {
    kept.push_back(manager.acquireOne());
    EXPECT_NE(kept.back().global("_multipy_host", "slot").toIValue().toInt(),
              manager.allInstances()[1].slot());
  }
  kept.clear();
  EXPECT_EQ(answer(manager.acquireOne()), "right");
  EXPECT_EQ(manager.allInstances()[0].whyBroken(), "");
}

TEST(BrokenInterpreters, HandTheirCallsOnBeforeAnythingHasBeenCalled) {
  InterpreterManager manager(2, leftBroken());
  manager.registerModuleSource("work", R"(
class Twice:
    def __setstate__(self, state):
        import torch
        self.two = torch.full((2,), 2.0)
    def __getstate__(self):
        return 2
    def __call__(self, x):
        return x * self.two
)");
  // torch is damaged in the second interpreter only.
  manager.registerModuleSource("torch.functional", std::string(R"(
import _multipy_host
if _multipy_host.slot != )") + std::to_string(manager.allInstances()[0].slot()) +
                                                       ": " + kDamaged + R"(
import importlib.machinery
_spec = importlib.machinery.PathFinder.find_spec(__name__, __import__("torch").__path__)
exec(compile(_spec.loader.get_data(_spec.origin), _spec.origin, "exec"))
)");
  ReplicatedObj twice;
  {
    auto session = manager.allInstances()[0].acquireSession();
    twice = manager.createMovable(session.global("work", "Twice")(at::ArrayRef<at::IValue>()),
                                  &session);
  }
  const at::Tensor x = at::ones({2});
  // Kept busy, so that calls go to the second one.
  auto busy = manager.acquireOne();
  while (busy.global("_multipy_host", "slot").toIValue().toInt() !=
         manager.allInstances()[0].slot())
    busy = manager.acquireOne();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(at::equal(twice({x}).toTensor(), x * 2));
  EXPECT_NE(manager.allInstances()[1].whyBroken(), "");
}

TEST(BrokenInterpreters, AreUsedWhereThereIsNoOther) {
  InterpreterManager manager(2, leftBroken());
  manager.registerModuleSource("torch.functional", kDamaged);
  for (const Interpreter& each : manager.allInstances()) answer(each.acquireSession());
  for (int i = 0; i < 4; ++i) {
    auto session = manager.acquireOne();
    EXPECT_EQ(session.global("math", "sqrt")({4.0}).toIValue().toDouble(), 2.0);
  }
}

TEST(BrokenInterpreters, EndWithoutACrash) {
  for (const char* part :
       {"torch._tensor", "torch.storage", "torch.autograd", "torch.nn", "torch.jit",
        "torch._meta_registrations", "torch.fx", "torch.distributed.rpc"}) {
    InterpreterManagerOptions options = leftBroken();
    options.interpreters.slimTorch = false;  // which executes the last three, too
    InterpreterManager manager(1, options);
    manager.registerModuleSource(part, kDamaged);
    EXPECT_NE(answer(manager.acquireOne()), "right") << part;
    EXPECT_NE(answer(manager.acquireOne()), "right") << part;
  }
}

TEST(BrokenInterpreters, AreNoneWhereTorchIsNotThere) {
  InterpreterManager manager(1, leftBroken());
  manager.registerModuleSource("torch",
                               "raise ModuleNotFoundError('no torch here', name='torch')\n");
  EXPECT_TRUE(contains(answer(manager.acquireOne()), "ModuleNotFoundError"));
  EXPECT_EQ(manager.allInstances()[0].whyBroken(), "");
}

}  // namespace
}  // namespace multipy::runtime
