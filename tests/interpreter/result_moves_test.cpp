// Results that go over to C++ as they are, and those next to them that Python keeps; and
// torch.Tensor objects that are used again for later arguments (docs/tensors.md, "What a
// call returns").
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/obj.h>
#include <multipy/runtime/replicated_obj.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "torch_bridge/symbols/torch_features.h"

namespace multipy::runtime {
namespace {

constexpr const char* kModule = R"py(
import gc
import threading
import weakref

import numpy
import torch

kept = {}
address = None

def note(t):
    """Leaves the address of the TensorImpl behind, and nothing else of the tensor."""
    global address
    address = t._cdata
    return t
def address_of_last(): return address
def clear():
    kept.clear()
    gc.collect()

# ---- results that nothing else refers to
def fresh(): return note(torch.arange(4.))
def computed(x): return note(x * 2)
def same(x): return note(x)
def changed(x): return note(x.add_(1))
def reshaped_in_place(x): return note(x.unsqueeze_(0))
def of_inference():
    with torch.inference_mode():
        return note(torch.arange(4.) + 1)
def detached_of_dead(): return note(torch.arange(4.).detach())
def with_attribute():
    t = torch.arange(4.)
    t.note = "is lost"
    return note(t)
def known_weakly():
    t = torch.arange(4.)
    kept["gone"] = []
    kept["weak"] = weakref.ref(t, lambda _: kept["gone"].append(1))
    return note(t)
def is_gone(): return kept["weak"]() is None and kept["gone"] == [1]

# ---- and those that something refers to
def kept_by_name():
    kept["t"] = torch.arange(4.)
    return note(kept["t"])
def argument_kept(x):
    kept["t"] = x
    return note(x)
def write_into_kept(): kept["t"].fill_(7)
def kept_values(): return kept["t"].tolist()
def in_a_closure():
    t = torch.arange(4.)
    kept["closure"] = lambda: t.add_(1)
    return note(t)
def in_a_generator():
    t = torch.arange(4.)
    def generate():
        yield t
        yield t
    kept["generator"] = generate()
    return note(next(kept["generator"]))
def in_a_cycle():
    t = torch.arange(4.)
    t.me = t
    return note(t)
def view_of_kept():
    kept["t"] = torch.arange(8.)
    return note(kept["t"][2:6])
def detached_of_kept():
    kept["t"] = torch.arange(4.)
    return note(kept["t"].detach())
def view_of_dead(): return note(torch.arange(8.)[2:6])
def with_storage():
    t = torch.arange(4.)
    kept["storage"] = t.untyped_storage()
    return note(t)
def with_weak_storage():
    t = torch.arange(4.)
    kept["storage"] = torch.multiprocessing.reductions.StorageWeakRef(t.untyped_storage())
    return note(t)
def of_numpy():
    kept["array"] = numpy.arange(4, dtype=numpy.float32)
    return note(torch.from_numpy(kept["array"]))
def seen_by_numpy():
    t = torch.arange(4.)
    kept["array"] = t.numpy()
    return note(t)
def in_shared_memory(): return note(torch.arange(4.).share_memory_())
def parameter(): return note(torch.nn.Parameter(torch.arange(4.)))
class Tagged(torch.Tensor):
    pass
def subclass(): return note(torch.arange(4.).as_subclass(Tagged))
def requiring_grad():
    return note(torch.arange(4.).requires_grad_())
def with_graph():
    kept["leaf"] = torch.arange(4.).requires_grad_()
    return note(kept["leaf"] * 1)
def saved_by_autograd():
    t = torch.arange(4.)
    kept["loss"] = (torch.ones(4, requires_grad=True) * t).sum()
    return note(t)
def hooked():
    t = torch.arange(4.).requires_grad_()
    t.register_hook(lambda g: g)
    return note(t)
def sparse(): return note(torch.arange(4.).to_sparse())
def in_another_thread():
    t = torch.arange(4.)
    kept["release"], has = threading.Event(), threading.Event()
    def hold(tensor):
        has.set()
        kept["release"].wait()
        kept["sum"] = float(tensor.sum())
    kept["thread"] = threading.Thread(target=hold, args=(t,))
    kept["thread"].start()
    has.wait()
    return note(t)
def end_thread():
    kept["release"].set()
    kept["thread"].join()
    return kept["sum"]

addresses = []
def note_all(tensors):
    addresses[:] = [t._cdata for t in tensors]
    return tensors
def pair(x): return note_all((x, x * 2))
def listed(x): return note_all([x, x * 2])
def nested(x): return (note_all([x, x * 2]), "text", (), [])
def pair_kept(x):
    kept["pair"] = note_all((x, x * 2))
    return kept["pair"]
def pair_of_kept(x):
    kept["t"] = x
    return note_all((x, x * 2))
def address_in_pair(i): return addresses[i]
def not_convertible(x): return (x, object())
def twice():
    t = torch.arange(4.)
    return t, t
def argument_twice(x): return [x, x, torch.zeros(4), x]
def two():
    t = torch.arange(4.)
    return [t, t[1:]]

# ---- objects of arguments
def is_as_new(x):
    new = type(x) is torch.Tensor and not vars(x) and x._backward_hooks is None and gc.is_tracked(x) \
        and not weakref.getweakrefs(x) and x.grad_fn is None and not x.requires_grad
    return [new, float(x.sum())]
def tag(x): x.note = 1
def refer_weakly(x): kept.setdefault("weak", []).append(weakref.ref(x))
def all_gone(): return all(r() is None for r in kept["weak"])
def hook(x): x.requires_grad_().register_hook(lambda g: g)
def give_grad(x): x.grad = torch.ones_like(x)
def resize(x): x.resize_(200)
def set_data(x): x.set_(torch.ones(3))
def become_view(x): kept["view"] = x[1:]
def raising(x): raise ValueError("with x in its traceback")
def keep(x): kept.setdefault("all", []).append(x)
def sum_of_kept(): return float(sum(t.sum() for t in kept["all"]))
def empty_objects():
    """Objects without a tensor, as Python could find them."""
    return sum(type(o) is torch.Tensor and repr(o) == "None" for o in gc.get_objects())

def add_finalizer():
    kept["sums"] = []
    torch.Tensor.__del__ = lambda self: kept["sums"].append(sum(self.tolist()))
def remove_finalizer(): del torch.Tensor.__del__
def finalized(): return kept["sums"]
)py";

// Whether tensors go over as they are with this torch (docs/tensors.md).
constexpr bool kHandsOver = MULTIPY_TORCH_OBJECT_IN_COUNT;

class ResultMoves : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    manager = new InterpreterManager(1);
    manager->registerModuleSource("result_moves_module", kModule);
    call("same", {at::ones({1})});  // an interpreter's first tensor makes torch's objects known
  }
  static void TearDownTestSuite() {
    functions.clear();
    delete manager;
  }
  ~ResultMoves() override { call("clear"); }

  // As a ReplicatedObj is called: what it returns belongs to the call alone.
  static at::IValue call(const std::string& name, const std::vector<at::IValue>& arguments = {}) {
    auto& function = functions[name];
    if (!function) function.emplace(movable(*manager, name));
    return (*function)(arguments);
  }
  static ReplicatedObj movable(InterpreterManager& of, const std::string& name) {
    auto session = of.acquireOne();
    return of.createMovable(session.global("result_moves_module", name.c_str()), &session);
  }
  static at::Tensor tensor(const std::string& name, const std::vector<at::IValue>& arguments = {}) {
    return call(name, arguments).toTensor();
  }
  static bool wentAsItIs(const at::Tensor& result) {
    const auto address = reinterpret_cast<intptr_t>(result.unsafeGetTensorImpl());
    return call("address_of_last").toInt() == address;
  }
  static void expectAsNew(const at::Tensor& argument) {
    for (int i = 0; i < 3; ++i) {
      const auto seen = call("is_as_new", {argument}).toListRef().vec();
      EXPECT_TRUE(seen[0].toBool());
      EXPECT_EQ(seen[1].toDouble(), argument.sum().item<double>());
    }
    EXPECT_EQ(call("empty_objects").toInt(), 0);
  }

  inline static InterpreterManager* manager = nullptr;
  inline static std::map<std::string, std::optional<ReplicatedObj>> functions;
};

TEST_F(ResultMoves, WhatNothingElseRefersTo) {
  for (const char* name : {"fresh", "detached_of_dead", "of_inference", "with_attribute"}) {
    const at::Tensor result = tensor(name);
    EXPECT_EQ(wentAsItIs(result), kHandsOver) << name;
    EXPECT_EQ(result.numel(), 4) << name;
    EXPECT_EQ(result.use_count(), 1u) << name;
  }
  const at::Tensor x = at::arange(4, at::kFloat);
  for (const char* name : {"same", "computed", "changed", "reshaped_in_place"})
    EXPECT_EQ(wentAsItIs(tensor(name, {x})), kHandsOver) << name;
  EXPECT_EQ(x.sizes(), at::IntArrayRef({4}));
  EXPECT_TRUE(at::equal(x, at::arange(4) + 1.0f)) << "changed in place";
}

TEST_F(ResultMoves, AnArgumentThatComesBackHasTheArgumentsBytes) {
  const at::Tensor x = at::arange(4, at::kFloat);
  const at::Tensor back = tensor("same", {x});
  EXPECT_NE(back.unsafeGetTensorImpl(), x.unsafeGetTensorImpl());
  EXPECT_EQ(back.data_ptr(), x.data_ptr());
  EXPECT_EQ(back._version(), x._version());
  back.add_(1);
  EXPECT_EQ(x[0].item<float>(), 1);
  EXPECT_EQ(back._version(), x._version());
}

TEST_F(ResultMoves, WhatComesBackCanBeUsedByOtherThreadsAndCallsAndOutliveAll) {
  at::Tensor result = tensor("fresh");
  std::thread([&] { result = tensor("computed", {result}); }).join();
  result = tensor("same", {tensor("same", {result})});
  EXPECT_TRUE(at::equal(result, at::arange(4) * 2.0f));
  {
    InterpreterManager other(1);
    other.registerModuleSource("result_moves_module", kModule);
    const ReplicatedObj fresh = movable(other, "fresh"), same = movable(other, "same");
    result = same({fresh({}).toTensor() + result}).toTensor();
  }
  EXPECT_TRUE(at::equal(result, at::arange(4) * 3.0f));
  EXPECT_TRUE(at::equal(tensor("computed", {result}), at::arange(4) * 6.0f));
}

TEST_F(ResultMoves, OfAnObjThatIsGivenUp) {
  const InterpreterSession I = manager->acquireOne();
  const Obj fresh = I.global("result_moves_module", "fresh");
  EXPECT_EQ(wentAsItIs(fresh(std::vector<Obj>()).toIValue().toTensor()), kHandsOver);
  Obj kept = fresh(std::vector<Obj>());
  EXPECT_FALSE(wentAsItIs(kept.toIValue().toTensor()));
  EXPECT_EQ(wentAsItIs(std::move(kept).toIValue().toTensor()), kHandsOver);
  Obj twice = fresh(std::vector<Obj>());
  const Obj copy = twice;
  EXPECT_FALSE(wentAsItIs(std::move(twice).toIValue().toTensor()));
  EXPECT_EQ(copy.toIValue().toTensor().numel(), 4);
}

TEST_F(ResultMoves, AWeakReferenceEndsWithTheCall) {
  const at::Tensor result = tensor("known_weakly");
  EXPECT_EQ(wentAsItIs(result), kHandsOver);
  EXPECT_TRUE(call("is_gone").toBool());
}

TEST_F(ResultMoves, WhatSomethingRefersToStaysWhereItIs) {
  for (const char* name :
       {"kept_by_name", "in_a_closure", "in_a_generator", "in_a_cycle", "view_of_kept",
        "detached_of_kept", "view_of_dead", "with_storage", "with_weak_storage", "of_numpy",
        "seen_by_numpy", "in_shared_memory", "parameter", "subclass", "requiring_grad",
        "with_graph", "saved_by_autograd", "hooked", "sparse"}) {
    const at::Tensor result = tensor(name);
    EXPECT_FALSE(wentAsItIs(result)) << name;
    EXPECT_EQ(result.numel(), 4) << name;
    call("clear");
    EXPECT_EQ(result.sum().item<float>(), std::string(name).starts_with("view") ? 14 : 6) << name;
  }
}

TEST_F(ResultMoves, WhatPythonKeepsIsTheSameBytes) {
  const at::Tensor x = at::arange(4, at::kFloat);
  for (const bool argument : {false, true}) {
    const at::Tensor result = argument ? tensor("argument_kept", {x}) : tensor("kept_by_name");
    EXPECT_FALSE(wentAsItIs(result));
    call("write_into_kept");
    EXPECT_EQ(result.sum().item<float>(), 28);
    result.fill_(1);
    EXPECT_EQ(call("kept_values").toDoubleVector(), std::vector<double>(4, 1.0));
  }
  EXPECT_EQ(x.sum().item<float>(), 4);
}

TEST_F(ResultMoves, WhatAnotherThreadHasStaysWhereItIs) {
  const at::Tensor result = tensor("in_another_thread");
  EXPECT_FALSE(wentAsItIs(result));
  result.add_(1);
  EXPECT_EQ(call("end_thread").toDouble(), 10);
}

TEST_F(ResultMoves, PartsOfOneResultKeepWhatTheyHaveInCommon) {
  const auto twice = call("twice").toTupleRef().elements().vec();
  twice[0].toTensor().add_(1);
  EXPECT_TRUE(at::equal(twice[1].toTensor(), at::arange(4) + 1.0f));
  const at::Tensor x = at::arange(4, at::kFloat);
  for (int i = 0; i < 100; ++i) {
    const auto three = call("argument_twice", {x}).toTensorVector();
    EXPECT_TRUE(three[0].is_alias_of(three[1]));
    EXPECT_TRUE(three[0].is_alias_of(three[3]));
    EXPECT_FALSE(three[0].is_alias_of(three[2]));
    EXPECT_TRUE(at::equal(three[3], x));
    EXPECT_TRUE(at::equal(three[2], at::zeros({4})));
  }
  const auto two = call("two").toTensorVector();
  EXPECT_TRUE(two[0].is_alias_of(two[1]));
}

TEST_F(ResultMoves, PartsThatNothingElseRefersTo) {
  const at::Tensor x = at::arange(4, at::kFloat);
  const auto went = [](const at::Tensor& part, int64_t i) {
    return call("address_in_pair", {i}).toInt() ==
           reinterpret_cast<intptr_t>(part.unsafeGetTensorImpl());
  };
  const auto parts = [&](const at::IValue& value) {
    return value.isTuple() ? value.toTupleRef().elements().vec() : value.toList().vec();
  };
  for (const char* name : {"pair", "listed", "nested", "pair_kept", "pair_of_kept"}) {
    const std::string called = name;
    at::IValue result = call(name, {x});
    if (called == "nested") {
      EXPECT_EQ(parts(result).size(), 4u);
      EXPECT_EQ(parts(result)[1].toStringRef(), "text");
      result = parts(result)[0];
    }
    const auto both = parts(result);
    ASSERT_EQ(both.size(), 2u) << name;
    EXPECT_EQ(went(both[0].toTensor(), 0), kHandsOver && !called.starts_with("pair_")) << name;
    EXPECT_EQ(went(both[1].toTensor(), 1), kHandsOver && called != "pair_kept") << name;
    EXPECT_TRUE(at::equal(both[1].toTensor(), x * 2)) << name;
    EXPECT_EQ(both[0].toTensor().data_ptr(), x.data_ptr()) << name;
  }
  EXPECT_THROW(call("not_convertible", {x}), ConversionError);
  expectAsNew(x);
}

// ------------------------------------------------------- objects of arguments

TEST_F(ResultMoves, ArgumentsAreAsNewWhateverWasDoneWithEarlierOnes) {
  const at::Tensor x = at::ones({3}), other = at::full({5}, 2.0f);
  for (const char* name : {"tag", "refer_weakly", "hook", "give_grad", "set_data", "become_view"}) {
    for (int i = 0; i < 3; ++i) call(name, {x.clone()});
    SCOPED_TRACE(name);
    expectAsNew(x);
    expectAsNew(other);
  }
  EXPECT_TRUE(call("all_gone").toBool());
  EXPECT_THROW(call("resize", {x}), PythonException);
  EXPECT_THROW(call("raising", {x}), PythonException);
  expectAsNew(x);
}

TEST_F(ResultMoves, ArgumentsThatAreKeptAreNotUsedAgain) {
  for (int i = 1; i <= 40; ++i) {
    call("keep", {at::full({2}, i)});
    if (i % 3 == 0) call("tag", {at::full({2}, -1)});
  }
  EXPECT_EQ(call("sum_of_kept").toDouble(), 40 * 41);
  expectAsNew(at::ones({3}));
}

TEST_F(ResultMoves, ManyArgumentsAtOnce) {
  auto session = manager->acquireOne();
  const Obj sum = session.global("builtins", "max");
  std::vector<at::IValue> arguments;
  for (int i = 0; i < 40; ++i) arguments.push_back(at::full({1}, i));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sum(arguments).toIValue().toTensor().item<int64_t>(), 39);
  expectAsNew(at::ones({3}));
}

// The class is given a finalizer: it has to see the tensor.
TEST_F(ResultMoves, AFinalizerSeesItsTensor) {
  const at::Tensor x = at::ones({3});
  call("same", {x});  // an object is kept
  call("add_finalizer");
  call("same", {x});
  call("tag", {x * 2});
  const auto sums = call("finalized").toDoubleVector();
  call("remove_finalizer");
  ASSERT_GE(sums.size(), 2u);
  for (const double expected : {3.0, 6.0})
    EXPECT_NE(std::find(sums.begin(), sums.end(), expected), sums.end()) << expected;
}

}  // namespace
}  // namespace multipy::runtime
