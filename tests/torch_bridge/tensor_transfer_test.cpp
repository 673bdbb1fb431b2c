#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/interpreter_id.h"
#include "process/interpreter_threads.h"
#include "process/ownership.h"
#include "torch_bridge/tensors/tensor_transfer.h"
#include "torch_bridge/torch_bridge.h"
#include "transferred.h"

namespace multipy::bridge {
namespace {

std::string refusal(const at::Tensor& tensor, InterpreterId owner = InterpreterId::none()) {
  std::string error;
  EXPECT_FALSE(transferTensor(tensor, owner, error).defined());
  EXPECT_NE(error, "");
  return error;
}

#define EXPECT_SAYS(text, words) EXPECT_NE((text).find(words), std::string::npos) << (text)

// Both impls are fresh and the bytes are the same.
void expectAlias(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_NE(a.unsafeGetTensorImpl(), b.unsafeGetTensorImpl());
  EXPECT_NE(a.storage().unsafeGetStorageImpl(), b.storage().unsafeGetStorageImpl());
  EXPECT_EQ(a.const_data_ptr(), b.const_data_ptr());
  EXPECT_EQ(a.sizes(), b.sizes());
  EXPECT_EQ(a.strides(), b.strides());
  EXPECT_EQ(a.storage_offset(), b.storage_offset());
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.device(), b.device());
  EXPECT_EQ(a.storage().nbytes(), b.storage().nbytes());
  EXPECT_EQ(a.requires_grad(), b.requires_grad());
  EXPECT_EQ(a.is_conj(), b.is_conj());
  EXPECT_EQ(a.is_neg(), b.is_neg());
  EXPECT_EQ(a.is_inference(), b.is_inference());
}

TEST(TensorTransfer, UndefinedStaysUndefined) {
  std::string error;
  EXPECT_FALSE(transferTensor({}, InterpreterId::none(), error).defined());
  EXPECT_EQ(error, "");
}

TEST(TensorTransfer, SharesBytesAndVersion) {
  at::Tensor a = at::zeros({4, 5});
  at::Tensor b = transfer(a);
  expectAlias(a, b);
  const auto version = a._version();
  b.fill_(3);
  EXPECT_EQ(a.sum().item<double>(), 60);
  EXPECT_EQ(a._version(), version + 1) << "a write over there must be seen by autograd here";
  a.add_(1);
  EXPECT_EQ(b[0][0].item<double>(), 4);
  EXPECT_EQ(b._version(), a._version());
}

TEST(TensorTransfer, BytesLiveAsLongAsEitherSide) {
  at::Tensor b;
  {
    const at::Tensor a = at::arange(1000);
    b = transfer(a);
  }
  EXPECT_EQ(b.sum().item<int64_t>(), 499500);
}

TEST(TensorTransfer, ViewsAndFormats) {
  const at::Tensor base = at::arange(2 * 3 * 4 * 5, at::kFloat).reshape({2, 3, 4, 5});
  for (const at::Tensor& t :
       {base, base.transpose(1, 3), base.slice(3, 1, 5, 2), base.select(0, 1),
        base.expand({7, 2, 3, 4, 5}), base.contiguous(at::MemoryFormat::ChannelsLast), base.flip(0),
        at::scalar_tensor(3), at::empty({0, 3})}) {
    const at::Tensor transferred = transfer(t);
    expectAlias(t, transferred);
    EXPECT_TRUE(at::equal(t, transferred));
    EXPECT_EQ(t.is_contiguous(at::MemoryFormat::ChannelsLast),
              transferred.is_contiguous(at::MemoryFormat::ChannelsLast));
  }
}

TEST(TensorTransfer, AllDtypes) {
  for (const at::ScalarType type :
       {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble,
        at::kBool, at::kBFloat16, at::kComplexFloat, at::kComplexDouble, at::kFloat8_e4m3fn,
        at::kFloat8_e5m2, at::kUInt16, at::kUInt64}) {
    const at::Tensor a = at::ones({3}, at::kFloat).to(type);
    expectAlias(a, transfer(a));
  }
}

TEST(TensorTransfer, ConjugateNegativeAndMeta) {
  const at::Tensor z = at::randn({3}, at::kComplexFloat);
  expectAlias(z.conj(), transfer(z.conj()));
  const at::Tensor neg = at::imag(z.conj());
  ASSERT_TRUE(neg.is_neg());
  expectAlias(neg, transfer(neg));
  EXPECT_TRUE(at::equal(transfer(neg), neg));
  const at::Tensor meta = at::empty({3, 4}, at::TensorOptions(at::kMeta));
  EXPECT_TRUE(transfer(meta).is_meta());
  EXPECT_EQ(transfer(meta).sizes(), meta.sizes());
}

TEST(TensorTransfer, InferenceTensorsRemainSo) {
  at::Tensor a;
  {
    const c10::InferenceMode guard;
    a = at::ones({3});
  }
  ASSERT_TRUE(a.is_inference());
  const at::Tensor b = transfer(a);
  expectAlias(a, b);
  EXPECT_EQ(b.sum().item<double>(), 3);
}

TEST(TensorTransfer, LeavesKeepRequiresGradAndNothingElse) {
  at::Tensor weight = at::ones({3}).requires_grad_();
  const at::Tensor b = transfer(weight);
  EXPECT_TRUE(b.requires_grad());
  EXPECT_TRUE(b.is_leaf());
  (b * 2).sum().backward();
  EXPECT_TRUE(b.grad().defined());
  EXPECT_FALSE(weight.grad().defined()) << "gradients belong to one side";
}

TEST(TensorTransfer, BackwardSeesWritesFromTheOtherSide) {
  at::Tensor weight = at::ones({3}).requires_grad_();
  at::Tensor x = at::ones({3});
  at::Tensor there = transfer(x);
  const at::Tensor loss = (weight * x).sum();  // saves x
  there.add_(1);
  EXPECT_THROW(loss.backward(), c10::Error);
}

TEST(TensorTransfer, FurtherHopsDoNotGrowAChain) {
  const long live = statistics().liveTransfers;
  at::Tensor a = at::ones({4});
  const void* const bytes = a.const_data_ptr();
  at::Tensor b = a;
  for (int i = 0; i < 1000; ++i) b = transfer(b, InterpreterId::none());
  EXPECT_EQ(statistics().liveTransfers, live + 1) << "each hop replaces the one before";
  EXPECT_EQ(b.const_data_ptr(), bytes);
  a.reset();
  EXPECT_EQ(b.sum().item<double>(), 4);
  b.reset();
  EXPECT_EQ(statistics().liveTransfers, live);
}

TEST(TensorTransfer, TransferredStorageCannotBeResized) {
  at::Tensor b = transfer(at::ones({4}));
  EXPECT_THROW(b.resize_({1000}), c10::Error);
}

TEST(TensorTransfer, CopyOnWriteIsSettledFirst) {
  at::Tensor a = at::ones({4});
  at::Tensor lazy = at::_lazy_clone(a);
  at::Tensor b = transfer(lazy);
  b.fill_(7);
  EXPECT_EQ(lazy.sum().item<double>(), 28);
  EXPECT_EQ(a.sum().item<double>(), 4);
}

TEST(TensorTransfer, AResultFromAnInterpreterKeepsItsGraph) {
  const at::Tensor leaf = at::ones({3}).requires_grad_();
  const at::Tensor result = leaf * 2;
  std::string error;
  const at::Tensor transferred = transferTensor(result, InterpreterId(3), error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(transferred.data_ptr(), result.data_ptr());
  transferred.sum().backward();
  EXPECT_TRUE(leaf.grad().equal(at::full({3}, 2.0)));
}

TEST(TensorTransfer, RefusalsSayWhyAndWhatToDo) {
  const at::Tensor result = at::ones({3}).requires_grad_() * 2;
  EXPECT_SAYS(refusal(result), "grad_fn");
  EXPECT_SAYS(refusal(result), ".detach()");
  EXPECT_SAYS(refusal(result), "from C++");
}

TEST(TensorTransfer, TensorsOfOneGroupKeepTheirStorageInCommon) {
  const at::Tensor base = at::zeros({4, 5});
  const at::Tensor view = base.slice(0, 1, 3), other = at::zeros({4});
  const auto storageOf = [](const at::Tensor& t) { return t.storage().unsafeGetStorageImpl(); };
  at::Tensor transferredBase, transferredView, transferredOther;
  beginTransferGroup();
  {
    transferredBase = transfer(base);
    beginTransferGroup();  // a list in an argument list
    transferredView = transfer(view);
    endTransferGroup();
    transferredOther = transfer(other);
  }
  endTransferGroup();
  EXPECT_EQ(storageOf(transferredBase), storageOf(transferredView));
  EXPECT_NE(storageOf(transferredBase), storageOf(transferredOther));
  EXPECT_TRUE(transferredBase.is_alias_of(transferredView));
  expectAlias(base, transferredBase);
  expectAlias(view, transferredView);
  // And no longer than that.
  EXPECT_NE(storageOf(transfer(base)), storageOf(transferredBase));
}

TEST(TensorTransfer, RefusesWhatOnlyPythonUnderstands) {
  at::Tensor subclass = at::ones({3});
  subclass.unsafeGetTensorImpl()->set_python_dispatch(true);
  const std::string error = refusal(subclass);
  subclass.unsafeGetTensorImpl()->set_python_dispatch(false);
  EXPECT_SAYS(error, "__torch_dispatch__");
}

// ------------------------------------------------------- dropping

struct Interpreters : testing::Test {
  void SetUp() override {
    for (InterpreterId& slot : slots) {
      slot = process::Ownership::instance().admit();
      process::startInterpreterThreads(slot);
      process::Ownership::instance().setLive(slot, [] { return false; });
    }
  }
  void TearDown() override {
    for (const InterpreterId slot : slots) {
      process::closeDrops(slot);
      process::stopInterpreterThreads(slot);
      process::Ownership::instance().release(slot);
    }
  }
  InterpreterId slots[4];
};

using TensorDrops = Interpreters;

// Bytes that are not torch's own: as numpy's are, freed by other code.
struct Foreign {
  std::atomic<int> freed{0};
  std::thread::id by;
  float bytes[4] = {1, 1, 1, 1};
  at::Tensor tensor() {
    return at::from_blob(bytes, {4}, [this](void*) {
      by = std::this_thread::get_id();
      ++freed;
    });
  }
};

TEST_F(TensorDrops, PlainMemoryIsFreedWhereItIsDropped) {
  const auto before = statistics();
  at::Tensor b = transfer(at::ones({4}), slots[0]);
  process::Ownership::setCurrent(slots[1]);
  b.reset();
  process::Ownership::setCurrent(InterpreterId::none());
  EXPECT_EQ(statistics().deferredDrops, before.deferredDrops);
  EXPECT_EQ(statistics().liveTransfers, before.liveTransfers);
}

TEST_F(TensorDrops, ForeignBytesAreFreedByTheirOwnersThread) {
  Foreign foreign;
  at::Tensor b = transfer(foreign.tensor(), slots[0]);
  EXPECT_EQ(foreign.freed, 0);
  const auto before = statistics();
  process::Ownership::setCurrent(slots[1]);
  b.reset();
  process::Ownership::setCurrent(InterpreterId::none());
  std::thread::id housekeeping;
  process::runHousekeeping(slots[0], [&] { housekeeping = std::this_thread::get_id(); });
  EXPECT_EQ(foreign.freed, 1);
  EXPECT_EQ(foreign.by, housekeeping);
  EXPECT_EQ(statistics().deferredDrops, before.deferredDrops + 1);
}

TEST_F(TensorDrops, ForeignBytesAreFreedHereByThreadsInNoneOrTheOwner) {
  for (const InterpreterId here : {InterpreterId::none(), slots[0]}) {
    Foreign foreign;
    at::Tensor b = transfer(foreign.tensor(), slots[0]);
    process::Ownership::setCurrent(here);
    b.reset();
    process::Ownership::setCurrent(InterpreterId::none());
    EXPECT_EQ(foreign.freed, 1);
    EXPECT_EQ(foreign.by, std::this_thread::get_id());
  }
}

TEST_F(TensorDrops, ForeignBytesOfCppAreFreedHere) {
  Foreign foreign;
  at::Tensor b = transfer(foreign.tensor(), InterpreterId::none());
  process::Ownership::setCurrent(slots[1]);
  b.reset();
  process::Ownership::setCurrent(InterpreterId::none());
  EXPECT_EQ(foreign.freed, 1);
}

TEST_F(TensorDrops, ForeignBytesOfTheDeadAreLeftAlone) {
  static Foreign foreign;  // outlives the test: its tensor does
  at::Tensor b = transfer(foreign.tensor(), slots[0]);
  process::closeDrops(slots[0]);
  const long before = statistics().leakedStorages;
  b.reset();
  EXPECT_EQ(foreign.freed, 0);
  EXPECT_EQ(statistics().leakedStorages, before + 1);
}

TEST_F(TensorDrops, PlainBytesOfTheDeadAreFreed) {
  at::Tensor b = transfer(at::ones({4}), slots[0]);
  process::closeDrops(slots[0]);
  const long before = statistics().leakedStorages;
  b.reset();
  EXPECT_EQ(statistics().leakedStorages, before);
}

TEST_F(TensorDrops, ASuccessorInTheSlotIsNotTheOwner) {
  static Foreign foreign;
  at::Tensor b = transfer(foreign.tensor(), slots[0]);
  process::closeDrops(slots[0]);
  process::stopInterpreterThreads(slots[0]);
  process::Ownership::instance().release(slots[0]);
  slots[0] = process::Ownership::instance().admit();  // the lowest free slot: the same
  process::startInterpreterThreads(slots[0]);
  const long before = statistics().leakedStorages;
  b.reset();
  EXPECT_EQ(statistics().leakedStorages, before + 1);
  EXPECT_EQ(foreign.freed, 0);
}

TEST_F(TensorDrops, ManyThreadsLeaveNothingBehind) {
  constexpr int kTransfers = 20000;
  const auto before = statistics();
  std::atomic<long> made{0}, freed{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<at::Tensor> kept(16);
      static float bytes[4];
      for (int i = 0; i < kTransfers; ++i) {
        at::Tensor source;
        switch (random() % 4) {
          case 0:
            source = at::ones({4});
            break;
          case 1:
            source = at::from_blob(bytes, {4}, [&](void*) { ++freed; });
            ++made;
            break;
          case 2:
            source = kept[random() % 16];
            break;
          default:
            source = at::ones({4, 4}).select(0, 1);
        }
        process::Ownership::setCurrent(slots[random() % 4]);
        kept[random() % 16] = transfer(source, slots[random() % 4]);
        if (random() % 3 == 0) process::Ownership::setCurrent(InterpreterId::none());
        kept[random() % 16].reset();
      }
      process::Ownership::setCurrent(slots[t]);
      kept.clear();
      process::Ownership::setCurrent(InterpreterId::none());
    });
  for (auto& thread : threads) thread.join();
  for (const InterpreterId slot : slots) process::runHousekeeping(slot, [] {});
  EXPECT_EQ(statistics().liveTransfers, before.liveTransfers);
  EXPECT_EQ(statistics().leakedStorages, before.leakedStorages);
  EXPECT_GT(statistics().deferredDrops, before.deferredDrops);
  EXPECT_EQ(made, freed);
}

}  // namespace
}  // namespace multipy::bridge
