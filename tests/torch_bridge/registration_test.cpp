// torch::Library as three interpreters use it; no Python is needed, an
// interpreter is the slot that a thread is in.
#include "torch_bridge/dispatch/registration_router.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <thread>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "routed_library.h"
#include "torch_bridge/dispatch/kernel_route.h"
#include "torch_bridge/symbols/static_phase.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

using c10::DispatchKey;
using torch::Library;

at::Tensor plus1(const at::Tensor& t) { return t + 1; }
at::Tensor plus2(const at::Tensor& t) { return t + 2; }
at::Tensor plus3(const at::Tensor& t) { return t + 3; }

double call(const char* name, const at::Tensor& tensor = at::zeros({})) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  return op.typed<at::Tensor(const at::Tensor&)>().call(tensor).item<double>();
}

double callIn(InterpreterId slot, const char* name, const at::Tensor& tensor = at::zeros({})) {
  struct Inside {
    explicit Inside(InterpreterId s) { process::Ownership::setCurrent(s); }
    ~Inside() { process::Ownership::setCurrent(InterpreterId::none()); }
  } inside(slot);
  return call(name, tensor);
}

template <typename Action>
std::string errorOf(const Action& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  ADD_FAILURE() << "expected an error";
  return {};
}

bool sees(InterpreterId slot, const char* name, DispatchKey key) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  // The entry is the handle's first word's target, at the beginning.
  const void* const entry = torchRoutes().operatorFacts(&op).identity;
  return torchRoutes().hasKernel(slot, entry, static_cast<std::uint16_t>(key));
}

class Registration : public testing::Test {
 protected:
  void SetUp() override {
    before = statistics();
    for (InterpreterId& slot : slots) {
      slot = process::Ownership::instance().admit();
      openRegistrations(slot);
    }
  }
  void TearDown() override {
    process::Ownership::setCurrent(InterpreterId::none());
    for (const InterpreterId slot : slots) {
      purgeRegistrations(slot);
      process::Ownership::instance().release(slot);
    }
    EXPECT_EQ(statistics().routes, before.routes);
    EXPECT_EQ(statistics().kernels, before.kernels);
  }
  InterpreterId A() const { return slots[0]; }
  InterpreterId B() const { return slots[1]; }
  InterpreterId C() const { return slots[2]; }
  InterpreterId slots[3];
  Statistics before;
};

TEST_F(Registration, EachInterpreterCallsItsOwnKernel) {
  RoutedLibrary a(A(), Library::DEF, "each"), b(B(), Library::DEF, "each");
  for (auto* library : {&a, &b}) library->define("op(Tensor t) -> Tensor");
  RoutedLibrary ka(A(), Library::IMPL, "each", DispatchKey::CPU),
      kb(B(), Library::IMPL, "each", DispatchKey::CPU);
  ka.implement("op", plus1);
  kb.implement("op", plus2);
  EXPECT_EQ(callIn(A(), "each::op"), 1);
  EXPECT_EQ(callIn(B(), "each::op"), 2);
  EXPECT_TRUE(sees(A(), "each::op", DispatchKey::CPU));
  EXPECT_FALSE(sees(C(), "each::op", DispatchKey::CPU)) << "only others have one";
  EXPECT_FALSE(sees(A(), "each::op", DispatchKey::CUDA));
}

TEST_F(Registration, NoKernelSaysWhose) {
  RoutedLibrary a(A(), Library::DEF, "whose");
  a.define("op(Tensor t) -> Tensor");
  RoutedLibrary ka(A(), Library::IMPL, "whose", DispatchKey::CPU);
  ka.implement("op", plus1);
  const std::string inB = errorOf([&] { callIn(B(), "whose::op"); });
  EXPECT_NE(inB.find("whose::op"), std::string::npos) << inB;
  EXPECT_NE(inB.find("interpreter " + std::to_string(B().number()) + " has not registered one"),
            std::string::npos)
      << inB;
  EXPECT_NE(inB.find("CPU"), std::string::npos) << inB;
  const std::string outside = errorOf([&] { call("whose::op"); });
  EXPECT_NE(outside.find("in no interpreter"), std::string::npos) << outside;
}

TEST_F(Registration, WithoutOwnKernelTheCppKernelIsCalled) {
  Library cpp(Library::DEF, "earlier", std::nullopt, __FILE__, __LINE__);
  cpp.def("op(Tensor t) -> Tensor");
  Library cppKernels(Library::IMPL, "earlier", DispatchKey::CPU, __FILE__, __LINE__);
  cppKernels.impl("op", plus3);
  {
    RoutedLibrary ka(A(), Library::IMPL, "earlier", DispatchKey::CPU);
    ka.implement("op", plus1);
    EXPECT_EQ(callIn(A(), "earlier::op"), 1);
    EXPECT_EQ(callIn(B(), "earlier::op"), 3);
    EXPECT_EQ(call("earlier::op"), 3);
    EXPECT_TRUE(sees(B(), "earlier::op", DispatchKey::CPU));
  }
  EXPECT_EQ(callIn(A(), "earlier::op"), 3) << "the override ends with its library";
}

TEST_F(Registration, KernelsOfOthersAtOtherKeysAreNotNoticed) {
  RoutedLibrary a(A(), Library::DEF, "keys"), b(B(), Library::DEF, "keys"),
      c(C(), Library::DEF, "keys");
  for (auto* library : {&a, &b, &c}) library->define("op(Tensor t) -> Tensor");
  // B's are entered first, whatever was registered first.
  b.implement("op", torch::dispatch(DispatchKey::CPU, plus2));
  b.implement("op", torch::dispatch(DispatchKey::Autograd, plus3));
  a.implement("op", torch::dispatch(DispatchKey::CompositeExplicitAutograd, plus1));
  c.implement("op", plus1);  // CompositeImplicitAutograd
  const at::Tensor leaf = at::zeros({}).requires_grad_();
  for (const auto& tensor : {at::zeros({}), leaf}) {
    EXPECT_EQ(callIn(A(), "keys::op", tensor), 1);
    EXPECT_EQ(callIn(B(), "keys::op", tensor), 3);
    EXPECT_EQ(callIn(C(), "keys::op", tensor), 1);
  }
  errorOf([&] { call("keys::op"); });
}

TEST_F(Registration, ACppKernelAtAnAliasShowsThroughOthersAtARuntimeKey) {
  Library cpp(Library::DEF, "alias", std::nullopt, __FILE__, __LINE__);
  cpp.def("op(Tensor t) -> Tensor", plus3);
  RoutedLibrary ka(A(), Library::IMPL, "alias");
  ka.implement("op", torch::dispatch(DispatchKey::CPU, plus1));
  EXPECT_EQ(callIn(A(), "alias::op"), 1);
  EXPECT_EQ(callIn(B(), "alias::op"), 3);
  // Registered after ours, and C++'s nevertheless.
  Library later(Library::IMPL, "alias", DispatchKey::CPU, __FILE__, __LINE__);
  later.impl("op", plus2);
  EXPECT_EQ(callIn(B(), "alias::op"), 2);
  EXPECT_EQ(call("alias::op"), 2);
}

TEST_F(Registration, NewestOfOneInterpreterWinsAndGivesWay) {
  RoutedLibrary a(A(), Library::DEF, "newest");
  a.define("op(Tensor t) -> Tensor");
  RoutedLibrary first(A(), Library::IMPL, "newest", DispatchKey::CPU);
  first.implement("op", plus1);
  {
    RoutedLibrary second(A(), Library::IMPL, "newest", DispatchKey::CPU);
    second.implement("op", plus2);
    EXPECT_EQ(callIn(A(), "newest::op"), 2);
  }
  EXPECT_EQ(callIn(A(), "newest::op"), 1);
}

TEST_F(Registration, FallthroughFallsThroughInItsInterpreterOnly) {
  RoutedLibrary a(A(), Library::DEF, "fall"), b(B(), Library::DEF, "fall");
  a.define("op(Tensor t) -> Tensor");
  b.define("op(Tensor t) -> Tensor");
  RoutedLibrary ka(A(), Library::IMPL, "fall"), kb(B(), Library::IMPL, "fall");
  ka.implement("op", torch::dispatch(DispatchKey::CPU, plus1));
  kb.implement("op", torch::dispatch(DispatchKey::CPU, plus2));
  ka.implement("op",
               torch::dispatch(DispatchKey::AutogradCPU, torch::CppFunction::makeFallthrough()));
  EXPECT_EQ(callIn(A(), "fall::op"), 1);
  kb.implement("op", torch::dispatch(DispatchKey::AutogradCPU, plus3));
  EXPECT_EQ(callIn(A(), "fall::op"), 1) << "A falls through a functor now";
  EXPECT_EQ(callIn(B(), "fall::op"), 3);
}

TEST_F(Registration, CompositeKernelsAreRoutedToo) {
  RoutedLibrary a(A(), Library::DEF, "composite");
  a.define("op(Tensor t) -> Tensor");
  a.implement("op", plus1);  // without a key: CompositeImplicitAutograd
  EXPECT_EQ(callIn(A(), "composite::op"), 1);
  EXPECT_TRUE(sees(A(), "composite::op", DispatchKey::CompositeImplicitAutograd));
  EXPECT_FALSE(sees(B(), "composite::op", DispatchKey::CompositeImplicitAutograd));
  errorOf([&] { callIn(B(), "composite::op"); });
}

TEST_F(Registration, DefineWithKernel) {
  RoutedLibrary a(A(), Library::DEF, "both"), b(B(), Library::DEF, "both");
  a.defineWithKernel("op(Tensor _0) -> Tensor _0", plus1);
  b.defineWithKernel("op", plus2);  // its schema is inferred, and the same
  EXPECT_EQ(callIn(A(), "both::op"), 1);
  EXPECT_EQ(callIn(B(), "both::op"), 2);
}

std::atomic<int> fellBack{0};
struct CountCalls : c10::OperatorKernel {
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) {
    ++fellBack;
  }
};

TEST_F(Registration, FallbacksAreRouted) {
  RoutedLibrary a(A(), Library::DEF, "fallbacks"), b(B(), Library::DEF, "fallbacks");
  a.define("op(Tensor t) -> Tensor");
  b.define("op(Tensor t) -> Tensor");
  RoutedLibrary fallback(A(), Library::IMPL, "_", DispatchKey::PrivateUse3);
  fallback.fallback(torch::CppFunction::makeFromBoxedFunctor(std::make_unique<CountCalls>()));
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("fallbacks::op", "");
  torch::jit::Stack stack{at::zeros({})};
  const c10::DispatchKeySet keys(DispatchKey::PrivateUse3);
  process::Ownership::setCurrent(A());
  op.redispatchBoxed(keys, &stack);
  EXPECT_EQ(fellBack, 1);
  process::Ownership::setCurrent(B());
  errorOf([&] { op.redispatchBoxed(keys, &stack); });
}

TEST_F(Registration, SchemasAreSharedAndMustAgree) {
  RoutedLibrary a(A(), Library::DEF, "schemas"), b(B(), Library::DEF, "schemas");
  a.define("op(Tensor t) -> Tensor");
  b.define("op(Tensor t) -> Tensor");
  const std::string differs = errorOf(
      [&] { RoutedLibrary(C(), Library::DEF, "schemas").define("op(Tensor t, int n) -> Tensor"); });
  EXPECT_NE(differs.find("another schema"), std::string::npos) << differs;
  EXPECT_NE(differs.find("schemas::op(Tensor t) -> Tensor"), std::string::npos) << differs;
  const std::string twice = errorOf([&] { a.define("op(Tensor t) -> Tensor"); });
  EXPECT_NE(twice.find("multiple times"), std::string::npos) << "torch's own words: " << twice;
  errorOf(
      [&] { RoutedLibrary(A(), Library::FRAGMENT, "aten").define("relu(Tensor self) -> Tensor"); });
}

TEST_F(Registration, AnUnusedSchemaStaysUntilItIsReplaced) {
  { RoutedLibrary(A(), Library::DEF, "unused").define("op(Tensor t) -> Tensor"); }
  auto& dispatcher = c10::Dispatcher::singleton();
  EXPECT_TRUE(dispatcher.findSchema({"unused::op", ""})) << "others may be between two look-ups";
  const auto first = dispatcher.findSchemaOrThrow("unused::op", "");
  const auto generation = torchRoutes().operatorFacts(&first).generation;
  RoutedLibrary b(B(), Library::DEF, "unused");
  b.define("op(Tensor t, int n) -> Tensor");
  const auto now = dispatcher.findSchema({"unused::op", ""});
  ASSERT_TRUE(now);
  EXPECT_EQ(now->schema().arguments().size(), 2u);
  EXPECT_GT(torchRoutes().operatorFacts(&*now).generation, generation);
}

TEST_F(Registration, NamespacesAreOwnedOncePerInterpreter) {
  RoutedLibrary a(A(), Library::DEF, "owned");
  RoutedLibrary b(B(), Library::DEF, "owned");
  const std::string again = errorOf([&] { RoutedLibrary(A(), Library::DEF, "owned"); });
  EXPECT_NE(again.find("Only a single TORCH_LIBRARY"), std::string::npos) << again;
  errorOf([&] { RoutedLibrary(A(), Library::DEF, "aten"); });
}

TEST_F(Registration, NamespacesAreFreeAgainAfterwards) {
  { RoutedLibrary a(A(), Library::DEF, "freed"); }
  { RoutedLibrary a(A(), Library::DEF, "freed"); }
  const Library cpp(Library::DEF, "freed", std::nullopt, __FILE__, __LINE__);
}

TEST_F(Registration, TorchsOwnErrorsRemain) {
  RoutedLibrary a(A(), Library::DEF, "wrong");
  errorOf([&] { a.implement("other::op", plus1); });
  errorOf(
      [&] { RoutedLibrary(A(), Library::IMPL, "wrong", DispatchKey::CPU).define("op() -> ()"); });
  errorOf([&] {
    RoutedLibrary(A(), Library::IMPL, "wrong", DispatchKey::CPU)
        .implement("op", torch::dispatch(DispatchKey::CUDA, plus1));
  });
  errorOf([&] { a.fallback(torch::CppFunction::makeFallthrough()); });
}

TEST_F(Registration, StaticInitialisersOfFurtherCopiesRegisterNothing) {
  Library cpp(Library::DEF, "statics", std::nullopt, __FILE__, __LINE__);
  cpp.def("op(Tensor t) -> Tensor", plus3);
  StaticPhase::begin();
  {
    RoutedLibrary again(A(), Library::DEF, "statics");
    again.define("op(Tensor t) -> Tensor");
    again.defineWithKernel("other(Tensor t) -> Tensor", plus1);
    again.implement("op", plus1);
  }
  StaticPhase::end();
  EXPECT_EQ(callIn(A(), "statics::op"), 3);
  EXPECT_FALSE(c10::Dispatcher::singleton().findSchema({"statics::other", ""}));
}

TEST_F(Registration, TheResidentCopyRegistersForTheProcess) {
  RoutedLibrary resident(InterpreterId::resident(), Library::DEF, "resident");
  resident.defineWithKernel("op(Tensor t) -> Tensor", plus3);
  EXPECT_EQ(call("resident::op"), 3);
  EXPECT_EQ(callIn(A(), "resident::op"), 3);
  EXPECT_EQ(statistics().routes, before.routes);
}

TEST_F(Registration, PurgeTakesAllOfOneInterpreter) {
  auto a = std::make_unique<RoutedLibrary>(A(), Library::DEF, "purge");
  RoutedLibrary b(B(), Library::DEF, "purge");
  a->define("op(Tensor t) -> Tensor");
  b.define("op(Tensor t) -> Tensor");
  a->implement("op", plus1);
  b.implement("op", plus2);
  purgeRegistrations(A());
  EXPECT_EQ(callIn(B(), "purge::op"), 2);
  errorOf([&] { callIn(A(), "purge::op"); });
  a->implement("op", plus3);  // too late: dropped
  errorOf([&] { callIn(A(), "purge::op"); });
  a.reset();  // Python's finalisation destroys it later
  EXPECT_EQ(callIn(B(), "purge::op"), 2);
}

// A kernel that says when it dies, and ends its own registration when called.
struct SelfRemoving : c10::OperatorKernel {
  explicit SelfRemoving(std::unique_ptr<RoutedLibrary>& l, std::atomic<bool>& d)
      : library(l), dead(d) {}
  ~SelfRemoving() override { dead = true; }
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    library.reset();
    EXPECT_FALSE(dead) << "a kernel must outlive the calls that are in it";
    stack->back() = stack->back().toTensor() + 9;
  }
  std::unique_ptr<RoutedLibrary>& library;
  std::atomic<bool>& dead;
};

TEST_F(Registration, AKernelMayRemoveItself) {
  RoutedLibrary a(A(), Library::DEF, "self");
  a.define("op(Tensor t) -> Tensor");
  std::atomic<bool> dead{false};
  auto kernels = std::make_unique<RoutedLibrary>(A(), Library::IMPL, "self", DispatchKey::CPU);
  kernels->implement("op", torch::CppFunction::makeFromBoxedFunctor(
                               std::make_unique<SelfRemoving>(kernels, dead)));
  EXPECT_EQ(callIn(A(), "self::op"), 9);
  EXPECT_TRUE(dead) << "and dies with the last call";
  errorOf([&] { callIn(A(), "self::op"); });
}

TEST_F(Registration, ThreadsCallWhileOthersRegister) {
  RoutedLibrary a(A(), Library::DEF, "busy"), b(B(), Library::DEF, "busy"),
      c(C(), Library::DEF, "busy");
  for (auto* library : {&a, &b, &c}) library->define("op(Tensor t) -> Tensor");
  RoutedLibrary ka(A(), Library::IMPL, "busy", DispatchKey::CPU),
      kb(B(), Library::IMPL, "busy", DispatchKey::CPU);
  ka.implement("op", plus1);
  kb.implement("op", plus2);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (const auto& [slot, expected] : {std::pair(A(), 1.0), std::pair(B(), 2.0)})
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&, slot = slot, expected = expected] {
        while (!stop) wrong += callIn(slot, "busy::op") != expected;
      });
  threads.emplace_back([&] {
    const c10::InferenceMode inference;
    for (int i = 0; i < 3000; ++i) {
      {
        RoutedLibrary kc(C(), Library::IMPL, "busy", DispatchKey::CPU);
        kc.implement("op", plus3);
        wrong += callIn(C(), "busy::op") != 3;
        // A's newer kernel does the same as its older one.
        RoutedLibrary newer(A(), Library::IMPL, "busy", DispatchKey::CPU);
        newer.implement("op", plus1);
      }
    }
    stop = true;
  });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace multipy::bridge
