// Settings of torch that belong to each interpreter: the default generator, the
// default dtype, at::Context, the number of threads.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>

#include <barrier>
#include <thread>

namespace multipy::runtime {
namespace {

constexpr int kInterpreters = 4;

constexpr const char* kModule = R"py(
import threading
import torch

def draws(seed, rounds, meet):
    """Numbers of all kinds of draws; the others draw between any two of them."""
    torch.manual_seed(seed)
    seen = []
    for _ in range(rounds):
        meet()
        layer = torch.nn.Linear(3, 2)
        seen += [torch.rand(2), torch.randn(3), torch.randperm(5).float(), torch.empty(2).normal_(),
                 torch.bernoulli(torch.full((4,), 0.5)), layer.weight.detach().flatten(),
                 torch.nn.functional.dropout(torch.ones(5)), torch.multinomial(torch.ones(4), 2).float()]
    return torch.cat([x.double() for x in seen])

def no_meeting(): pass
def draws_alone(seed, rounds): return draws(seed, rounds, no_meeting)

def dtypes(name):
    torch.set_default_dtype(getattr(torch, name))
    return [str(torch.ones(1).dtype), str(torch.tensor(1.0).dtype), str(torch.get_default_dtype()),
            str((torch.arange(3) / 2).dtype), str(torch.tensor(1j).dtype), str(torch.rand(2).dtype)]

def deterministic(on):
    torch.use_deterministic_algorithms(on)
    try:
        torch.zeros(4).put_(torch.tensor([0, 0]), torch.ones(2), accumulate=False)
        refused = False
    except RuntimeError as error:
        refused = "deterministic" in str(error)
    return [torch.are_deterministic_algorithms_enabled(), refused]

def precision(name):
    torch.set_float32_matmul_precision(name)
    return torch.get_float32_matmul_precision()
def asks_precision(): return torch.get_float32_matmul_precision()

def switches(on):
    """Of torch's switches, those that some versions have."""
    said = []
    for name in ("sdp_use_fa3", "sdp_use_fa4", "native_aot_enabled", "native_aot_unconditional_masked"):
        if hasattr(torch._C, f"_set_{name}") and hasattr(torch._C, f"_get_{name}"):
            if on is not None: getattr(torch._C, f"_set_{name}")(on)
            said.append(f"{name} {getattr(torch._C, f'_get_{name}')()}")
    return said

def join_group():
    import torch.distributed
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    return torch.distributed.group.WORLD.group_name
def leave_group(): torch.distributed.destroy_process_group()
def knows_group(name):
    c10d = torch._C._distributed_c10d
    try:
        c10d._resolve_process_group(name)
        knows = True
    except RuntimeError:
        knows = False
    if hasattr(c10d, "_is_process_group_registered"):  # from torch 2.15 on
        assert c10d._is_process_group_registered(name) == knows, (name, knows)
    return knows

def thread_numbers():
    """As torch, OpenMP and (where torch has it) MKL say; of this thread and of a new one."""
    def ask():
        lines = torch.__config__.parallel_info().splitlines()
        told = [int(line.split()[-1]) for line in lines if "_get_max_threads()" in line]
        return [torch.get_num_threads(), *told]
    got = []
    thread = threading.Thread(target=lambda: got.append(ask()))
    thread.start()
    thread.join()
    return ask() + got[0]
def set_threads(number):
    torch.set_num_threads(number)
    return thread_numbers()

def drawn_in_a_thread(seed):
    torch.manual_seed(seed)
    got = []
    thread = threading.Thread(target=lambda: got.append(torch.rand(3)))
    thread.start()
    thread.join()
    return got[0]

def in_backward(seed):
    """Drawn while C++ runs a backward pass."""
    class Draw(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x * 1
        @staticmethod
        def backward(ctx, g): return g * torch.rand(3)
    torch.manual_seed(seed)
    x = torch.ones(3, requires_grad=True)
    Draw.apply(x).sum().backward()
    return x.grad

def scripted(seed):
    @torch.jit.script
    def f():
        return torch.rand(3)
    torch.manual_seed(seed)
    return f()
)py";

class InterpreterSettings : public testing::Test {
 protected:
  // One for all tests: torch is imported once. Each test sets what it looks at.
  static void SetUpTestSuite() {
    shared = new InterpreterManager(kInterpreters);
    shared->registerModuleSource("settings_test", kModule);
  }
  static void TearDownTestSuite() { delete shared; }
  inline static InterpreterManager* shared = nullptr;

  /// call(k, session) in all interpreters at once.
  template <typename Call>
  void inAll(const Call& call) {
    std::vector<std::jthread> threads;
    for (int k = 0; k < kInterpreters; ++k)
      threads.emplace_back([&, k] { call(k, manager.allInstances()[k].acquireSession()); });
  }
  static at::Tensor tensor(InterpreterSession& I, const char* function,
                           std::vector<at::IValue> arguments) {
    return I.global("settings_test", function)(arguments).toIValue().toTensor();
  }
  static std::vector<std::string> texts(InterpreterSession& I, const char* function,
                                        std::vector<at::IValue> arguments) {
    std::vector<std::string> all;
    for (const auto& value : I.global("settings_test", function)(arguments).toIValue().toList())
      all.push_back(at::IValue(value).toStringRef());
    return all;
  }

  InterpreterManager& manager = *shared;
};

TEST_F(InterpreterSettings, SeededDrawsDoNotDependOnTheOthers) {
  constexpr int kRounds = 50;
  std::vector<at::Tensor> alone(kInterpreters), together(kInterpreters);
  for (int k = 0; k < kInterpreters; ++k) {
    auto I = manager.allInstances()[k].acquireSession();
    alone[k] = tensor(I, "draws_alone", {100 + k, kRounds}).clone();
  }
  std::barrier gate(kInterpreters);
  inAll([&](int k, InterpreterSession I) {
    gate.arrive_and_wait();
    together[k] = tensor(I, "draws_alone", {100 + k, kRounds}).clone();
  });
  for (int k = 0; k < kInterpreters; ++k) {
    EXPECT_TRUE(at::equal(alone[k], together[k])) << k;
    if (k > 0) {
      EXPECT_FALSE(at::equal(alone[k], alone[0])) << k;
    }
  }
}

TEST_F(InterpreterSettings, EqualSeedsGiveWhatTheProcesssGeneratorGives) {
  at::manual_seed(7);
  const at::Tensor expected = at::rand({3});
  const at::Tensor next = at::rand({3});
  at::manual_seed(7);
  EXPECT_TRUE(at::equal(at::rand({3}), expected));
  inAll([&](int, InterpreterSession I) {
    for (const char* how : {"drawn_in_a_thread", "in_backward", "scripted"})
      EXPECT_TRUE(at::equal(tensor(I, how, {7}), expected)) << how;
  });
  // Nothing of all that touched the generator of C++.
  EXPECT_TRUE(at::equal(at::rand({3}), next));
}

TEST_F(InterpreterSettings, UnseededGeneratorsDiffer) {
  InterpreterManager fresh(2);
  std::vector<at::Tensor> drawn;
  for (const Interpreter& interpreter : fresh.allInstances())
    drawn.push_back(
        interpreter.acquireSession().global("torch", "rand")({8}).toIValue().toTensor());
  EXPECT_FALSE(at::equal(drawn[0], drawn[1]));
}

TEST_F(InterpreterSettings, EachHasItsDefaultDtype) {
  using Texts = std::vector<std::string>;
  const auto expected = [](const std::string& real, const std::string& complex) {
    return Texts{real, real, real, real, complex, real};
  };
  std::barrier gate(kInterpreters);
  inAll([&](int k, InterpreterSession I) {
    gate.arrive_and_wait();
    for (int round = 0; round < 100; ++round) {
      const bool wide = k % 2;
      EXPECT_EQ(texts(I, "dtypes", {wide ? "float64" : "float32"}),
                wide ? expected("torch.float64", "torch.complex128")
                     : expected("torch.float32", "torch.complex64"));
    }
  });
  EXPECT_EQ(at::ones({1}).scalar_type(), at::kFloat);
  EXPECT_EQ(at::get_default_dtype_as_scalartype(), at::kFloat);
}

TEST_F(InterpreterSettings, EachHasItsDeterministicMode) {
  std::barrier gate(kInterpreters);
  inAll([&](int k, InterpreterSession I) {
    gate.arrive_and_wait();
    for (int round = 0; round < 50; ++round) {
      const bool on = k % 2;
      const auto seen = I.global("settings_test", "deterministic")({on}).toIValue().toList();
      EXPECT_EQ(at::IValue(seen.get(0)).toBool(), on);
      EXPECT_EQ(at::IValue(seen.get(1)).toBool(), on) << "what the kernel saw";
    }
  });
  EXPECT_FALSE(at::globalContext().deterministicAlgorithms());
}

TEST_F(InterpreterSettings, EachHasItsSwitches) {
  auto first = manager.allInstances()[0].acquireSession();
  const auto before = texts(first, "switches", {at::IValue()});
  auto second = manager.allInstances()[1].acquireSession();
  for (const bool on : {true, false}) {
    const auto set = texts(second, "switches", {on});
    for (const std::string& text : set)
      EXPECT_TRUE(text.ends_with(on ? " True" : " False")) << text;
    EXPECT_EQ(texts(first, "switches", {at::IValue()}), before);
  }
}

// All have the same name.
TEST_F(InterpreterSettings, EachHasItsProcessGroups) {
  auto first = manager.allInstances()[0].acquireSession();
  auto second = manager.allInstances()[1].acquireSession();
  const auto run = [](InterpreterSession& I, const char* function,
                      std::vector<at::IValue> arguments) {
    return I.global("settings_test", function)(arguments).toIValue();
  };
  const at::IValue name = run(first, "join_group", {});
  EXPECT_TRUE(run(first, "knows_group", {name}).toBool());
  EXPECT_FALSE(run(second, "knows_group", {name}).toBool());
  EXPECT_EQ(run(second, "join_group", {}).toStringRef(), name.toStringRef());
  run(first, "leave_group", {});
  EXPECT_FALSE(run(first, "knows_group", {name}).toBool());
  EXPECT_TRUE(run(second, "knows_group", {name}).toBool());
  run(second, "leave_group", {});
}

TEST_F(InterpreterSettings, EachHasItsNumberOfThreads) {
  const auto numbers = [](InterpreterSession& I, const char* function,
                          std::vector<at::IValue> arguments) {
    std::vector<std::int64_t> all;
    for (const auto& value : I.global("settings_test", function)(arguments).toIValue().toList())
      all.push_back(at::IValue(value).toInt());
    return all;
  };
  const int before = at::get_num_threads();
  std::barrier gate(kInterpreters);
  inAll([&](int k, InterpreterSession I) {
    const int outside = at::get_num_threads();
    gate.arrive_and_wait();
    for (int round = 0; round < 20; ++round) {
      // Interpreter 0 goes on with its first number.
      const int number = k == 0 ? 2 : 2 + (k + round) % 5;
      const auto seen = k == 0 && round > 0 ? numbers(I, "thread_numbers", {})
                                            : numbers(I, "set_threads", {number});
      EXPECT_GE(seen.size(), 4u);
      EXPECT_EQ(seen, std::vector<std::int64_t>(seen.size(), number)) << k;
      EXPECT_EQ(at::get_num_threads(), outside) << "the thread has its own again";
    }
  });
  EXPECT_EQ(at::get_num_threads(), before);
  int ofNewThread = 0;
  std::jthread([&] { ofNewThread = at::get_num_threads(); }).join();
  EXPECT_EQ(ofNewThread, before);

  // One thread, two interpreters.
  auto first = manager.allInstances()[0].acquireSession();
  auto second = manager.allInstances()[1].acquireSession();
  numbers(second, "set_threads", {3});
  EXPECT_EQ(numbers(first, "thread_numbers", {})[0], 2);
  EXPECT_EQ(numbers(second, "thread_numbers", {})[0], 3);
}

TEST_F(InterpreterSettings, ThreadsBeginWithTheNumberOfTheProcess) {
  const int before = at::get_num_threads();
  at::set_num_threads(before + 3);
  InterpreterManager later(1);
  later.registerModuleSource("settings_test", kModule);
  {
    auto I = later.acquireOne();
    for (const auto& seen : I.global("settings_test", "thread_numbers")({}).toIValue().toList())
      EXPECT_EQ(at::IValue(seen).toInt(), before + 3);
  }
  at::set_num_threads(before);
}

TEST_F(InterpreterSettings, BeginWithTheProcesss) {
  at::globalContext().setFloat32MatmulPrecision("high");
  InterpreterManager later(1);
  later.registerModuleSource("settings_test", kModule);
  {
    auto I = later.acquireOne();
    EXPECT_EQ(I.global("settings_test", "asks_precision")({}).toIValue().toStringRef(), "high");
    EXPECT_EQ(I.global("settings_test", "precision")({"medium"}).toIValue().toStringRef(),
              "medium");
  }
  EXPECT_EQ(at::globalContext().float32MatmulPrecision(), at::Float32MatmulPrecision::HIGH);
  at::globalContext().setFloat32MatmulPrecision("highest");
}

TEST_F(InterpreterSettings, AreGoneWithTheInterpreter) {
  for (int round = 0; round < 3; ++round) {
    InterpreterManager short_lived(1);
    short_lived.registerModuleSource("settings_test", kModule);
    auto I = short_lived.acquireOne();
    EXPECT_EQ(I.global("torch", "get_default_dtype")({}).toIValue().toScalarType(), at::kFloat);
    texts(I, "dtypes", {"float64"});
  }
  EXPECT_EQ(at::ones({1}).scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace multipy::runtime
