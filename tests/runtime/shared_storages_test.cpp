// Tensors here, in interpreters and back are known to torch as aliases, and their bytes
// live as long as any of them.
#include <gtest/gtest.h>
#include <torch/deploy.h>

#include <string>
#include <vector>

#include "torch_bridge/torch_bridge.h"

namespace multipy::runtime {
namespace {

at::Tensor tensorOf(const Obj& object) { return object.toIValue().toTensor(); }

bool areAliases(const at::Tensor& a, const at::Tensor& b) {
  return a.storage().is_alias_of(b.storage());
}

class SharedStoragesTest : public testing::Test {
 protected:
  SharedStoragesTest() : before(bridge::statistics()) {}
  // The manager has gone.
  ~SharedStoragesTest() override {
    EXPECT_EQ(bridge::statistics().liveTransfers, before.liveTransfers);
  }
  const bridge::Statistics before;
};

constexpr const char* kModule = R"(
import numpy, torch

kept = []

def ones():
    return torch.ones(2, 2)

def from_numpy():
    return torch.from_numpy(numpy.ones((2, 2), numpy.float32))

def keep(tensor):
    kept.append(tensor)

def give():
    return kept[-1]

def forget():
    kept.clear()

def alias(a, b):
    return torch._C._is_alias_of(a, b)
)";

// The ancestor's own test.
TEST_F(SharedStoragesTest, AMovableSharesTheStorage) {
  torch::deploy::InterpreterManager manager(2);
  manager.registerModuleSource("test_module", kModule);
  auto I = manager.acquireOne();
  auto I2 = manager.acquireOne();
  auto objOnI = I.global("test_module", "ones")(at::ArrayRef<at::IValue>{});
  auto replicated = manager.createMovable(objOnI, &I);
  auto objOnI2 = I2.fromMovable(replicated);
  EXPECT_TRUE(areAliases(tensorOf(objOnI), tensorOf(objOnI2)));
}

TEST_F(SharedStoragesTest, AmongThreeInterpretersAndCpp) {
  InterpreterManager manager(3);
  manager.registerModuleSource("test_module", kModule);
  const at::Tensor mine = at::ones({2, 2}), other = at::ones({2, 2});
  std::vector<InterpreterSession> sessions;
  for (const Interpreter& each : manager.allInstances()) sessions.push_back(each.acquireSession());

  at::Tensor handedOn = mine;
  for (InterpreterSession& I : sessions) {
    I.global("test_module", "keep")({handedOn});
    handedOn = tensorOf(I.global("test_module", "give")(std::vector<Obj>()));
    EXPECT_TRUE(areAliases(mine, handedOn));
    EXPECT_FALSE(areAliases(other, handedOn));
    // Python's own question, of tensors that came by different calls.
    const Obj kept = I.global("test_module", "give")(std::vector<Obj>());
    const Obj alias = I.global("test_module", "alias");
    EXPECT_TRUE(alias({kept, I.fromIValue(mine)}).toIValue().toBool());
    EXPECT_FALSE(alias({kept, I.fromIValue(other)}).toIValue().toBool());
  }
  handedOn.fill_(3);
  EXPECT_EQ(mine.sum().item<float>(), 12);
  sessions.clear();
}

TEST_F(SharedStoragesTest, OfAnInterpretersOwnTensor) {
  InterpreterManager manager(3);
  manager.registerModuleSource("test_module", kModule);
  auto I = manager.allInstances()[0].acquireSession();
  for (const char* const made : {"ones", "from_numpy"}) {
    I.global("test_module", "keep")({I.global("test_module", made)(std::vector<Obj>())});
    const at::Tensor here = tensorOf(I.global("test_module", "give")(std::vector<Obj>()));
    for (int other : {1, 2}) {
      auto J = manager.allInstances()[other].acquireSession();
      J.global("test_module", "keep")({here});
      const at::Tensor back = tensorOf(J.global("test_module", "give")(std::vector<Obj>()));
      EXPECT_TRUE(areAliases(here, back)) << made;
      EXPECT_TRUE(I.global("test_module", "alias")(
                       {I.global("test_module", "give")(std::vector<Obj>()), I.fromIValue(back)})
                      .toIValue()
                      .toBool())
          << made;
      J.global("test_module", "forget")(std::vector<Obj>());
    }
  }
}

TEST_F(SharedStoragesTest, BytesOutliveWhicheverSideEndsFirst) {
  at::Tensor plain, mine = at::ones({2, 2});
  {
    InterpreterManager manager(2);
    manager.registerModuleSource("test_module", kModule);
    auto I = manager.allInstances()[0].acquireSession();
    plain = tensorOf(I.global("test_module", "ones")(std::vector<Obj>()));
    I.global("test_module", "keep")({mine});
    mine.reset();
    EXPECT_EQ(tensorOf(I.global("test_module", "give")(std::vector<Obj>())).sum().item<float>(), 4);
    // An array's bytes are its interpreter's: given up here, freed there.
    I.global("test_module", "keep")({I.global("test_module", "from_numpy")(std::vector<Obj>())});
    at::Tensor array = tensorOf(I.global("test_module", "give")(std::vector<Obj>()));
    I.global("test_module", "forget")(std::vector<Obj>());
    EXPECT_EQ(array.sum().item<float>(), 4);
  }
  EXPECT_EQ(plain.sum().item<float>(), 4);
  EXPECT_EQ(bridge::statistics().leakedStorages, before.leakedStorages);
}

// As ever: what Python owned and C++ has when the interpreter ends is left where it is.
TEST_F(SharedStoragesTest, AnArraysBytesStayWhenItsInterpreterHasEnded) {
  at::Tensor array;
  {
    InterpreterManager manager(1);
    manager.registerModuleSource("test_module", kModule);
    array = tensorOf(manager.acquireOne().global("test_module", "from_numpy")(std::vector<Obj>()));
  }
  EXPECT_EQ(array.sum().item<float>(), 4);
  array.reset();
  EXPECT_EQ(bridge::statistics().leakedStorages, before.leakedStorages + 1);
}

TEST_F(SharedStoragesTest, AResizedOriginalLeavesItsBytesToPython) {
  InterpreterManager manager(1);
  manager.registerModuleSource("test_module", kModule);
  at::Tensor mine = at::full({2, 2}, 7.0F);
  auto I = manager.acquireOne();
  I.global("test_module", "keep")({mine});
  mine.resize_({1000}).fill_(1);
  const at::Tensor kept = tensorOf(I.global("test_module", "give")(std::vector<Obj>()));
  EXPECT_EQ(kept.sum().item<float>(), 28);
  EXPECT_FALSE(areAliases(mine, kept));
}

}  // namespace
}  // namespace multipy::runtime
