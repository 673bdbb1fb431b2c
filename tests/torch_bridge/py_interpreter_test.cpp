// The routed PyInterpreter of torch 2.9 and later, with tables that count in place of Python.
#include "torch_bridge/dispatch/py_interpreter_router.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/PyInterpreterHooks.h>
#include <gtest/gtest.h>

#include "abi/torch_routes.h"
#include "counting_interpreters.h"

namespace multipy::bridge {
namespace {

class PyInterpreterRouter : public CountingInterpreters {
 protected:
  static const c10::impl::PyInterpreterVTable& router() {
    return **c10::impl::getGlobalPyInterpreter();
  }
};

TEST_F(PyInterpreterRouter, IsTheProcesssInterpreterAndStaysSo) {
  EXPECT_EQ(router().name(), "multipy");
  prepareProcess();
  EXPECT_EQ(router().name(), "multipy");
}

TEST_F(PyInterpreterRouter, AnObjectIsItsOwners) {
  process::Ownership::setCurrent(slots[0]);
  router().incref(objectOf(1));
  EXPECT_EQ(tables[1].increfs, 1);
  EXPECT_EQ(tables[0].increfs, 0);
  router().decref(objectOf(0));
  EXPECT_EQ(tables[0].decrefs, 1);
  EXPECT_EQ(router().refcnt(objectOf(1)), 7u);
}

TEST_F(PyInterpreterRouter, ObjectsOfTheDeadAreNobodys) {
  PyObject* const object = objectOf(1);
  process::Ownership::instance().setDead(slots[1]);
  router().incref(object);
  router().decref(object);
  EXPECT_EQ(tables[1].increfs + tables[1].decrefs, 0);
  int elsewhere;
  router().decref(reinterpret_cast<PyObject*>(&elsewhere));
}

TEST_F(PyInterpreterRouter, TensorsHoldTheirPythonObjectByItsOwner) {
  at::Tensor tensor = at::ones({2});
  c10::impl::PyObjectSlot* const slot = tensor.unsafeGetTensorImpl()->pyobj_slot();
  EXPECT_FALSE(router().try_incref(*slot)) << "has none";
  slot->store_pyobj(objectOf(1));
  EXPECT_TRUE(router().try_incref(*slot));
  process::Ownership::instance().setDead(slots[1]);
  EXPECT_FALSE(router().try_incref(*slot));
  slot->clear();
}

const c10::OperatorHandle& someOperator() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::relu", "");
  return op;
}

TEST_F(PyInterpreterRouter, DispatchGoesToTheCurrentInterpreter) {
  torch::jit::Stack stack;
  process::Ownership::setCurrent(slots[1]);
  router().dispatch(someOperator(), &stack);
  EXPECT_EQ(tables[1].dispatches, 1);
}

TEST_F(PyInterpreterRouter, DispatchInNoInterpreterAsksTheArguments) {
  at::Tensor tensor = at::ones({2});
  tensor.unsafeGetTensorImpl()->pyobj_slot()->store_pyobj(objectOf(1));
  torch::jit::Stack stack{3, at::Tensor(), tensor};
  router().dispatch(someOperator(), &stack);
  EXPECT_EQ(tables[1].dispatches, 1);
  tensor.unsafeGetTensorImpl()->pyobj_slot()->clear();
}

TEST_F(PyInterpreterRouter, DispatchWithoutAnyInterpreterIsAnError) {
  torch::jit::Stack stack{3};
  try {
    router().dispatch(someOperator(), &stack);
    FAIL();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    EXPECT_NE(text.find("aten::relu"), std::string::npos) << text;
    EXPECT_NE(text.find("in no interpreter"), std::string::npos) << text;
  }
}

TEST_F(PyInterpreterRouter, EachCopyHasARegistryOfItsOwn) {
  const auto& registry = torchRoutes().hooksRegistry;
  EXPECT_NE(registry(slots[0]), registry(slots[1]));
  EXPECT_EQ(registry(slots[0]), registry(slots[0]));
  EXPECT_NE(registry(slots[0]), static_cast<void*>(c10::impl::PyInterpreterHooksRegistry()));
  void* const before = registry(slots[0]);
  clearPyInterpreter(slots[0]);
  EXPECT_NE(registry(slots[0]), before) << "the next interpreter registers anew";
}

}  // namespace
}  // namespace multipy::bridge
