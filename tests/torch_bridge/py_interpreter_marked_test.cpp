// The routed PyInterpreter of a torch whose tensors are marked with the interpreter of their
// Python object, with tables that count in place of Python.
#include "torch_bridge/dispatch/py_interpreter_router.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "base/interpreter_id.h"
#include "counting_interpreters.h"
#include "torch_bridge/symbols/features/interpreter_table.h"

namespace multipy::bridge {
namespace {

using c10::impl::PyInterpreter;

class PyInterpreterRouter : public CountingInterpreters {
 protected:
  static PyInterpreter* process() { return feature::processInterpreter(); }
  static const c10::impl::PyInterpreterVTable& router() { return **process(); }
};

/// How many times torch counts the object up: once, or never where its table has no incref().
template <class Table>
int incref(const Table& table, PyObject* object) {
  if constexpr (requires { table.incref(object); }) {
    table.incref(object);
    return 1;
  }
  return 0;
}

TEST_F(PyInterpreterRouter, IsTheOneThatTorchAsksAndStaysSo) {
  ASSERT_NE(process(), nullptr);
  EXPECT_EQ(router().name(), "multipy");
  PyInterpreter* const before = process();
  prepareProcess();
  EXPECT_EQ(process(), before);
}

TEST_F(PyInterpreterRouter, AnObjectIsItsOwners) {
  process::Ownership::setCurrent(slots[0]);
  EXPECT_EQ(incref(router(), objectOf(1)), tables[1].increfs);
  EXPECT_EQ(tables[0].increfs, 0);
  router().decref(objectOf(0), false);
  EXPECT_EQ(tables[0].decrefs, 1);
}

TEST_F(PyInterpreterRouter, ObjectsOfTheDeadAreNobodys) {
  PyObject* const object = objectOf(1);
  process::Ownership::instance().setDead(slots[1]);
  incref(router(), object);
  router().decref(object, true);
  EXPECT_EQ(tables[1].increfs + tables[1].decrefs, 0);
}

TEST_F(PyInterpreterRouter, DispatchGoesToTheCurrentInterpreter) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::relu", "");
  torch::jit::Stack stack;
  process::Ownership::setCurrent(slots[1]);
  router().dispatch(op, &stack);
  EXPECT_EQ(tables[1].dispatches, 1);
  process::Ownership::setCurrent(InterpreterId::none());
  EXPECT_THROW(router().dispatch(op, &stack), c10::Error) << "no interpreter to ask";
}

}  // namespace
}  // namespace multipy::bridge
