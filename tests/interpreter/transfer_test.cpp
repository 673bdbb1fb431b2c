// What docs/tensors.md says of tensors that cross, seen from Python.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/obj.h>

namespace multipy::runtime {
namespace {

constexpr const char* kModule = R"py(
import torch

class Tagged(torch.Tensor):
    """A subclass without __torch_dispatch__."""

def tagged():
    t = torch.arange(3.).as_subclass(Tagged)
    t.note = "stays here"
    return t
def describe(t): return [type(t).__name__, str(sorted(vars(t))) if hasattr(t, "__dict__") else "[]"]

def views():
    base = torch.zeros(4, 5)
    return [base, base[1:3], base.t(), torch.zeros(2)]
def aliasing(tensors):
    """For each pair: one storage?"""
    storages = [t.untyped_storage()._cdata for t in tensors]
    return [storages[0] == s for s in storages]
def aliasing_of_arguments(a, b, *, c): return aliasing([a, b, c])

def shared(): return torch.ones(3).share_memory_()
def shared_by_name():
    t = torch.ones(3)
    t.untyped_storage()._share_filename_cpu_()
    return t
def add_one(t): t.add_(1)

def with_grad():
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    return x
def grad_of(t): return [t.requires_grad, t.grad is None, t.is_leaf]

def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        return torch.empty(3)
def jagged(): return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
def nested(): return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.strided)
def csr(): return torch.eye(3).to_sparse_csr()
def sums(t): return [float(p.sum()) for p in (t.unbind() if t.is_nested else [t.to_dense()])]
def resize(t): t.untyped_storage().resize_(1000)
def parameter(): return torch.nn.Parameter(torch.ones(2))
)py";

class Transfer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    manager = new InterpreterManager(2);
    manager->registerModuleSource("crossing_test", kModule);
  }
  static void TearDownTestSuite() { delete manager; }
  Transfer()
      : A(manager->allInstances()[0].acquireSession()),
        B(manager->allInstances()[1].acquireSession()) {}
  static at::IValue from(InterpreterSession& I, const char* function,
                         std::vector<at::IValue> arguments = {}) {
    return I.global("crossing_test", function)(arguments).toIValue();
  }
  static std::vector<bool> bools(const at::IValue& value) {
    std::vector<bool> all;
    for (const at::IValue& one : value.toListRef()) all.push_back(one.toBool());
    return all;
  }
  InterpreterSession A, B;
  inline static InterpreterManager* manager = nullptr;
};

TEST_F(Transfer, ASubclassComesAsAPlainTensorWithoutItsDict) {
  const auto seen = from(B, "describe", {from(A, "tagged")}).toListRef().vec();
  EXPECT_EQ(seen[0].toStringRef(), "Tensor");
  EXPECT_EQ(seen[1].toStringRef(), "[]");
  EXPECT_TRUE(from(A, "parameter").toTensor().requires_grad());
}

TEST_F(Transfer, ViewsOfOneStorageRemainSo) {
  const at::IValue views = from(A, "views");
  const at::Tensor base = views.toTensorVector()[0];
  EXPECT_TRUE(base.is_alias_of(views.toTensorVector()[1]));
  EXPECT_EQ(bools(from(B, "aliasing", {views})), (std::vector<bool>{true, true, true, false}));
  // The arguments of one call are one transfer, too.
  const Obj function = B.global("crossing_test", "aliasing_of_arguments");
  EXPECT_EQ(
      bools(function.callKwargs({base, base.slice(0, 1, 2)}, {{"c", at::zeros({2})}}).toIValue()),
      (std::vector<bool>{true, true, false}));
}

TEST_F(Transfer, WritesInSharedMemoryAreSeenEverywhere) {
  for (const char* function : {"shared", "shared_by_name"}) {
    SCOPED_TRACE(function);
    const at::Tensor t = from(A, function).toTensor();
    from(B, "add_one", {t});
    from(A, "add_one", {t});
    EXPECT_TRUE(at::equal(t, at::full({3}, 3.0f)));
  }
}

// libshm, which gives the bytes back, is the interpreter's and goes with it.
TEST_F(Transfer, MemorySharedByNameOutlivesItsInterpreter) {
  at::Tensor t;
  {
    InterpreterManager other(1);
    other.registerModuleSource("crossing_test", kModule);
    auto I = other.acquireOne();
    t = from(I, "shared_by_name").toTensor();
  }
  from(A, "add_one", {t});
  EXPECT_TRUE(at::equal(t, at::full({3}, 2.0f)));
}

TEST_F(Transfer, ALeafComesWithoutItsGradient) {
  EXPECT_EQ(bools(from(B, "grad_of", {from(A, "with_grad")})),
            (std::vector<bool>{true, true, true}));
}

TEST_F(Transfer, LayoutsArriveInPython) {
  EXPECT_EQ(from(B, "sums", {from(A, "nested")}).toDoubleVector(), (std::vector<double>{2, 3}));
  EXPECT_EQ(from(B, "sums", {from(A, "csr")}).toDoubleVector(), (std::vector<double>{3}));
}

TEST_F(Transfer, WhatOnlyPythonUnderstandsIsRefused) {
  for (const char* function : {"fake", "jagged"}) {
    try {
      from(A, function);
      FAIL() << function << " was transferred";
    } catch (const ConversionError& error) {
      EXPECT_NE(std::string(error.what()).find("__torch_dispatch__"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(Transfer, TransferredBytesCannotBeResized) {
  try {
    from(B, "resize", {at::ones({3})});
    FAIL() << "nothing was thrown";
  } catch (const PythonException& error) {
    EXPECT_NE(error.message().find("resizable"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace multipy::runtime
