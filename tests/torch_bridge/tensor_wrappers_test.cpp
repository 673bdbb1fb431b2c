// Tensors that leave their Python object and go over as they are, and those next to them
// that must not. The object is an address here: nothing looks behind it.
#include <ATen/ATen.h>
#include <c10/core/impl/PyObjectSlot.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/interpreter_id.h"
#include "counting_interpreters.h"
#include "process/interpreter_threads.h"
#include "torch_bridge/symbols/features/python_objects.h"
#include "torch_bridge/tensors/tensor_transfer.h"
#include "torch_bridge/tensors/tensor_wrappers.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

class TensorWrappers : public CountingInterpreters {
 protected:
  void SetUp() override {
    CountingInterpreters::SetUp();
    for (const InterpreterId slot : slots) process::startInterpreterThreads(slot);
  }
  void TearDown() override {
    for (const InterpreterId slot : slots) {
      process::closeDrops(slot);
      process::stopInterpreterThreads(slot);
    }
    CountingInterpreters::TearDown();
  }

  // A tensor that nothing else refers to, as it is inside of a Python object.
  at::Tensor wrapped(at::Tensor tensor) {
    EXPECT_EQ(tensor.use_count(), 1u) << "its counts would be wrong from then on";
    at::Tensor inside;
    EXPECT_TRUE(putTensor(tensor, inside, object()));
    EXPECT_FALSE(tensor.defined());
    return inside;
  }
  PyObject* object() { return objectOf(0); }

  at::Tensor take(at::Tensor& inside) {
    std::string error;
    at::Tensor result = moveTensor(inside, object(), slots[0], error);
    EXPECT_EQ(error, "");
    return result;
  }
  // Puts the tensor into an object, takes it, and gives what was transferred. The tensor is to
  // have gone over, or to be where it was.
  at::Tensor taken(at::Tensor tensor, bool itself) {
    const at::TensorImpl* const before = tensor.unsafeGetTensorImpl();
    const void* const bytes = tensor.has_storage() ? tensor.const_data_ptr() : nullptr;
    at::Tensor inside = wrapped(std::move(tensor));
    at::Tensor result = take(inside);
    EXPECT_EQ(inside.defined(), !itself);
    EXPECT_EQ(result.unsafeGetTensorImpl() == before, itself);
    EXPECT_EQ(result.has_storage() ? result.const_data_ptr() : nullptr, bytes);
    if (inside.defined()) leaveObject(inside);
    return result;
  }
  // What Python does when the object dies.
  static void leaveObject(at::Tensor& inside) {
    feature::leaveObject(*inside.unsafeGetTensorImpl());
  }
};

TEST_F(TensorWrappers, AFreshTensorGoesAsItIs) {
  const auto before = statistics();
  at::Tensor result = taken(at::arange(4), true);
  EXPECT_EQ(result.use_count(), 1u);
  EXPECT_EQ(result.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj(), nullptr);
  EXPECT_EQ(statistics().transfers, before.transfers + 1);
  EXPECT_EQ(statistics().liveTransfers, before.liveTransfers) << "its bytes are its own";
  // Further references have nothing to do with Python any more.
  const at::Tensor other = result;
  result.reset();
  EXPECT_EQ(tables[0].increfs + tables[0].decrefs, 0);
  result = other;
  result.resize_({100});
}

TEST_F(TensorWrappers, WhatCameFromTheOtherSideGoesBackAsItIs) {
  const at::Tensor original = at::arange(4);
  std::string error;
  const at::Tensor result = taken(transferTensor(original, InterpreterId::none(), error), true);
  EXPECT_EQ(result.const_data_ptr(), original.const_data_ptr());
  EXPECT_EQ(result._version(), original._version());
  result.add_(1);
  EXPECT_EQ(original._version(), result._version());
}

TEST_F(TensorWrappers, WhatHadGoneElsewhereBeforeGoesAsItIs) {
  at::Tensor made = at::arange(4);
  std::string error;
  transferTensor(made, slots[0], error).reset();
  at::Tensor result = taken(std::move(made), true);
  at::Tensor there = transferTensor(result, InterpreterId::none(), error);
  EXPECT_TRUE(result.storage().is_alias_of(there.storage()));
  // It is C++'s now: that its interpreter has gone does not matter.
  const long leaked = statistics().leakedStorages;
  process::closeDrops(slots[0]);
  there.reset();
  EXPECT_EQ(result.storage().use_count(), 1u);
  EXPECT_EQ(statistics().leakedStorages, leaked);
}

TEST_F(TensorWrappers, AnInferenceTensorGoesAsItIs) {
  at::Tensor made;
  {
    const c10::InferenceMode guard;
    made = at::ones({3});
  }
  EXPECT_TRUE(taken(std::move(made), true).is_inference());
}

TEST_F(TensorWrappers, ATensorThatOthersHaveStays) {
  at::Tensor inside = wrapped(at::ones({3}));
  {
    const at::Tensor other = inside;
    const at::Tensor result = take(inside);
    ASSERT_TRUE(inside.defined());
    EXPECT_NE(result.unsafeGetTensorImpl(), other.unsafeGetTensorImpl());
    EXPECT_EQ(other.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj(), object());
  }
  EXPECT_EQ(tables[0].increfs, 1);
  EXPECT_EQ(tables[0].decrefs, 1);
  leaveObject(inside);
}

TEST_F(TensorWrappers, ATensorOfAnotherObjectStays) {
  at::Tensor inside = wrapped(at::ones({3}));
  std::string error;
  const at::Tensor result = moveTensor(inside, objectOf(1), slots[1], error);
  EXPECT_TRUE(inside.defined());
  EXPECT_NE(result.unsafeGetTensorImpl(), inside.unsafeGetTensorImpl());
  leaveObject(inside);
}

TEST_F(TensorWrappers, ATensorThatCachesKnowStays) {
  at::Tensor inside = wrapped(at::ones({3}));
  {
    const c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl> weak(
        inside.getIntrusivePtr());
    const at::Tensor result = take(inside);
    ASSERT_TRUE(inside.defined());
    EXPECT_NE(result.unsafeGetTensorImpl(), inside.unsafeGetTensorImpl());
  }
  leaveObject(inside);
}

TEST_F(TensorWrappers, BytesThatOthersHaveAreShared) {
  const at::Tensor base = at::arange(20).reshape({4, 5});
  taken(base.detach(), false);
  taken(base.slice(0, 1, 3), false);
  taken(at::arange(20).slice(0, 1, 3), false);  // a view keeps its base
}

TEST_F(TensorWrappers, StoragesThatAreKnownOtherwiseStay) {
  at::Tensor tensor = at::ones({3});
  c10::Storage storage = tensor.storage();
  at::Tensor inside = wrapped(std::move(tensor));
  EXPECT_NE(take(inside).unsafeGetTensorImpl(), inside.unsafeGetTensorImpl());
  ASSERT_TRUE(inside.defined());
  {
    const c10::weak_intrusive_ptr<c10::StorageImpl> weak(storage.getWeakStorageImpl());
    storage = {};
    EXPECT_NE(take(inside).unsafeGetTensorImpl(), inside.unsafeGetTensorImpl());
    ASSERT_TRUE(inside.defined());
  }
  EXPECT_TRUE(take(inside).defined());
  EXPECT_FALSE(inside.defined());
}

TEST_F(TensorWrappers, BytesOfSomebodyElseStayWithTheirInterpreter) {
  static float bytes[4] = {1, 2, 3, 4};
  bool freed = false;
  {
    const at::Tensor result = taken(at::from_blob(bytes, {4}, [&](void*) { freed = true; }), false);
    EXPECT_FALSE(freed);
  }
  EXPECT_TRUE(freed);
}

TEST_F(TensorWrappers, WhatAutogradKnowsIsMadeAnew) {
  at::Tensor parameter = at::ones({3});
  parameter.requires_grad_();
  EXPECT_TRUE(taken(std::move(parameter), false).requires_grad());
  const at::Tensor leaf = at::ones({3}).requires_grad_();
  taken(leaf * 2, false).sum().backward();
  EXPECT_TRUE(leaf.grad().equal(at::full({3}, 2.0)));
  at::Tensor withGradient = at::ones({3});
  withGradient.mutable_grad() = at::ones({3});
  EXPECT_FALSE(taken(std::move(withGradient), false).grad().defined());
}

TEST_F(TensorWrappers, OtherLayoutsAreMadeAnew) {
  taken(at::eye(3).to_sparse(), false);
  taken(at::eye(3).to_sparse_csr(), false);
  taken(at::quantize_per_tensor(at::ones({3}), 0.1, 0, at::kQUInt8), false);
}

TEST_F(TensorWrappers, RefusalsAreThoseOfTransfers) {
  at::Tensor inside = wrapped(at::ones({3}));
  inside.unsafeGetTensorImpl()->set_python_dispatch(true);
  std::string error;
  EXPECT_FALSE(moveTensor(inside, object(), slots[0], error).defined());
  EXPECT_NE(error.find("__torch_dispatch__"), std::string::npos) << error;
  EXPECT_TRUE(inside.defined());
  inside.unsafeGetTensorImpl()->set_python_dispatch(false);
  leaveObject(inside);
}

TEST_F(TensorWrappers, AnArgumentIsDroppedWhereItsBytesLiveOn) {
  const auto before = statistics();
  at::Tensor original = at::ones({3});
  std::string error;
  at::Tensor inside = wrapped(transferTensor(original, InterpreterId::none(), error));
  EXPECT_TRUE(dropTensor(inside, object()));
  EXPECT_FALSE(inside.defined());
  EXPECT_EQ(statistics().liveTransfers, before.liveTransfers);

  inside = wrapped(transferTensor(original, InterpreterId::none(), error));
  original.reset();
  EXPECT_FALSE(dropTensor(inside, object())) << "it would free them";
  EXPECT_TRUE(inside.defined());
  leaveObject(inside);

  at::Tensor own = wrapped(at::ones({3}));
  EXPECT_FALSE(dropTensor(own, object())) << "it would free them";
  leaveObject(own);
}

TEST_F(TensorWrappers, AnArgumentThatOthersHaveIsNotDropped) {
  const at::Tensor original = at::ones({3});
  std::string error;
  at::Tensor inside = wrapped(transferTensor(original, InterpreterId::none(), error));
  {
    const at::Tensor saved = inside;
    EXPECT_FALSE(dropTensor(inside, object()));
  }
  {
    const at::Tensor view = inside.detach();
    EXPECT_FALSE(dropTensor(inside, object()));
  }
  EXPECT_TRUE(dropTensor(inside, object()));
}

}  // namespace
}  // namespace multipy::bridge
