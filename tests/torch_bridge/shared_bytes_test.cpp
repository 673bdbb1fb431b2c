// That torch knows tensors for aliases that have been transferred, and who frees bytes that several
// storages have. What else a transfer does: tensor_transfer_test.cpp.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StorageImpl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/interpreter_id.h"
#include "process/interpreter_threads.h"
#include "process/ownership.h"
#include "torch_bridge/torch_bridge.h"
#include "transferred.h"

namespace multipy::bridge {
namespace {

bool areAliases(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_NE(a.storage().unsafeGetStorageImpl(), b.storage().unsafeGetStorageImpl());
  return a.storage().is_alias_of(b.storage()) && b.storage().is_alias_of(a.storage());
}

// Bytes that are freed as numpy's are; counts that.
struct Foreign {
  std::atomic<int> freed{0};
  std::thread::id by;
  float bytes[4] = {1, 1, 1, 1};

  at::Tensor tensor() {
    return at::from_blob(bytes, {4}, [this](void*) { count(); });
  }
  // With a context that its owner looks for, as torch's shared memory has it.
  at::Tensor withOwnContext() {
    return at::for_blob(bytes, {4}).context(this, &freeByContext).make_tensor();
  }
  static void freeByContext(void* foreign) { static_cast<Foreign*>(foreign)->count(); }

 private:
  void count() {
    by = std::this_thread::get_id();
    ++freed;
  }
};

class SharedBytesTest : public testing::Test {
 protected:
  SharedBytesTest() : before(statistics()) {
    for (InterpreterId& slot : slots) {
      slot = process::Ownership::instance().admit();
      process::startInterpreterThreads(slot);
      process::Ownership::instance().setLive(slot, [] { return false; });
    }
  }
  ~SharedBytesTest() override {
    for (const InterpreterId slot : slots) {
      process::closeDrops(slot);
      process::stopInterpreterThreads(slot);
      process::Ownership::instance().release(slot);
    }
    EXPECT_EQ(statistics().liveTransfers, before.liveTransfers);
    EXPECT_EQ(statistics().leakedStorages, before.leakedStorages);
  }

  // Ends it as code in interpreter `slot` does.
  static void dropIn(InterpreterId slot, at::Tensor& tensor) {
    process::Ownership::setCurrent(slot);
    tensor.reset();
    process::Ownership::setCurrent(InterpreterId::none());
  }

  const Statistics before;
  InterpreterId slots[3];
};

// ------------------------------------------------------- aliases

TEST_F(SharedBytesTest, ATensorOfCppIsAnAliasOfAllThatCameOfIt) {
  const at::Tensor original = at::ones({4});
  const at::Tensor first = transfer(original), second = transfer(original);
  const at::Tensor further = transfer(first, slots[0]), back = transfer(further, slots[1]);
  for (const at::Tensor& each : {first, second, further, back}) {
    EXPECT_TRUE(areAliases(original, each));
    EXPECT_TRUE(areAliases(each, transfer(original)));
  }
  EXPECT_TRUE(areAliases(second, back));
  EXPECT_TRUE(areAliases(original, transfer(original.slice(0, 1, 3))));
  EXPECT_FALSE(areAliases(transfer(at::ones({4})), back));
}

TEST_F(SharedBytesTest, ATensorOfAnInterpreterIsAnAliasOfAllThatCameOfIt) {
  Foreign foreign;
  for (const at::Tensor& original : {at::ones({4}), foreign.tensor()}) {
    const at::Tensor inCpp = transfer(original, slots[0]), again = transfer(original, slots[0]);
    const at::Tensor there = transfer(inCpp), elsewhere = transfer(again);
    for (const at::Tensor& each : {inCpp, again, there, elsewhere})
      EXPECT_TRUE(areAliases(original, each));
    EXPECT_TRUE(areAliases(there, elsewhere));
  }
}

TEST_F(SharedBytesTest, BytesWithoutADeleterAreAliasesToo) {
  float bytes[4] = {1, 2, 3, 4};
  const at::Tensor original = at::from_blob(bytes, {4}), empty = at::empty({0});
  EXPECT_TRUE(areAliases(original, transfer(original)));
  EXPECT_TRUE(areAliases(empty, transfer(empty)));
}

// An allocator that finds its context no more would take the memory for another's:
// torch's own for GPUs, pinned memory, and memory of several processes.
TEST_F(SharedBytesTest, AContextThatItsAllocatorLooksForStays) {
  Foreign foreign;
  at::Tensor original = foreign.withOwnContext();
  at::Tensor there = transfer(original), further = transfer(there, slots[0]);
  const at::DataPtr& bytes = original.storage().data_ptr();
  EXPECT_EQ(bytes.get_context(), &foreign);
  EXPECT_EQ(bytes.get_deleter(), &Foreign::freeByContext);
  EXPECT_FALSE(areAliases(original, there));
  EXPECT_TRUE(areAliases(there, further));
  original.reset();
  there.reset();
  EXPECT_EQ(foreign.freed, 0);
  EXPECT_EQ(further.sum().item<float>(), 4);
  further.reset();
  EXPECT_EQ(foreign.freed, 1);
}

TEST_F(SharedBytesTest, ThreadsShareItForTheFirstTimeAtOnce) {
  constexpr int kThreads = 4, kRounds = 500;
  at::Tensor original = at::ones({4});
  std::vector<at::Tensor> made(kThreads);
  std::barrier ready(kThreads);
  std::barrier done(kThreads, [&]() noexcept {
    for (const at::Tensor& each : made) EXPECT_TRUE(areAliases(original, each));
    original = at::ones({4});
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        ready.arrive_and_wait();
        made[t] = transfer(original);
        done.arrive_and_wait();
      }
    });
  for (std::thread& each : threads) each.join();
}

// ------------------------------------------------------- who frees the bytes, and when

TEST_F(SharedBytesTest, TheLastOneFreesTheBytes) {
  for (const bool originalFirst : {true, false}) {
    Foreign foreign;
    at::Tensor original = foreign.tensor(), a = transfer(original, slots[0]), b = transfer(a);
    if (originalFirst) original.reset();
    a.reset();
    b.reset();
    EXPECT_EQ(foreign.freed, originalFirst ? 1 : 0);
    original.reset();
    EXPECT_EQ(foreign.freed, 1);
  }
}

TEST_F(SharedBytesTest, AllEndAtTheSameMoment) {
  constexpr int kThreads = 4, kRounds = 2000;
  std::vector<at::Tensor> all(kThreads);
  Foreign foreign;
  int made = 0;
  const auto fill = [&]() noexcept {
    EXPECT_EQ(foreign.freed, made);
    all[0] = foreign.tensor();
    ++made;
    for (int i = 1; i < kThreads; ++i) all[i] = transfer(all[i / 2]);
  };
  std::barrier round(kThreads, fill);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        round.arrive_and_wait();
        all[t].reset();
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(foreign.freed, kRounds);
}

TEST_F(SharedBytesTest, AWeakReferenceKeepsNoBytes) {
  Foreign foreign;
  at::Tensor there = transfer(foreign.tensor());
  const auto weak = there.storage().getWeakStorageImpl();
  there.reset();
  EXPECT_EQ(foreign.freed, 1);
  EXPECT_EQ(statistics().liveTransfers, before.liveTransfers);
}

TEST_F(SharedBytesTest, AnOriginalThatIsResizedLeavesItsBytesToTheOthers) {
  at::Tensor original = at::full({4}, 7);
  const at::Tensor there = transfer(original);
  original.resize_({1000}).fill_(1);
  at::full({4}, 2);  // takes the place of bytes that were freed
  EXPECT_EQ(there.sum().item<int64_t>(), 28);
  EXPECT_FALSE(areAliases(original, there));
  EXPECT_TRUE(areAliases(original, transfer(original)));
}

TEST_F(SharedBytesTest, BytesThatTheOriginalHasGivenUpAreTheirInterpretersStill) {
  Foreign foreign;
  at::Tensor original = foreign.tensor(), there = transfer(original, slots[0]),
             further = transfer(there);
  original.storage().set_data_ptr(at::ones({4}).storage().set_data_ptr({}));
  dropIn(slots[1], there);
  EXPECT_EQ(foreign.freed, 0);
  dropIn(slots[2], further);
  std::thread::id housekeeping;
  process::runHousekeeping(slots[0], [&] { housekeeping = std::this_thread::get_id(); });
  EXPECT_EQ(foreign.freed, 1);
  EXPECT_EQ(foreign.by, housekeeping);
}

// As share_memory_() does it to a tensor that has come from elsewhere.
TEST_F(SharedBytesTest, WhatWasTransferredCanGetBytesOfItsOwn) {
  Foreign foreign;
  at::Tensor original = foreign.tensor(), there = transfer(original);
  there.storage().set_data_ptr(at::zeros({4}).storage().set_data_ptr({}));
  EXPECT_FALSE(areAliases(original, there));
  EXPECT_EQ(original.sum().item<float>(), 4);
  at::Tensor further = transfer(there, slots[0]);
  EXPECT_TRUE(areAliases(there, further));
  there.reset();
  EXPECT_EQ(further.sum().item<float>(), 0);
  further.reset();
  EXPECT_EQ(foreign.freed, 0);
  original.reset();
  EXPECT_EQ(foreign.freed, 1);
}

// A DataPtr can be moved to another storage while others have its bytes.
TEST_F(SharedBytesTest, BytesMayMoveToAnotherStorage) {
  Foreign foreign;
  at::Tensor original = foreign.tensor(), there = transfer(original), other = at::ones({4});
  other.storage().set_data_ptr(original.storage().set_data_ptr({}));
  original.reset();
  EXPECT_TRUE(areAliases(other, there));
  at::Tensor further = transfer(other);
  EXPECT_TRUE(areAliases(further, there));
  there.reset();
  other.reset();
  EXPECT_EQ(further.sum().item<float>(), 4);
  further.reset();
  EXPECT_EQ(foreign.freed, 1);
}

}  // namespace
}  // namespace multipy::bridge
