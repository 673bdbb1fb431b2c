// Two interpreters with tables that count in place of Python.
#pragma once

#include <gtest/gtest.h>

#include "base/interpreter_id.h"
#include "counting_table.h"
#include "process/ownership.h"
#include "torch_bridge/dispatch/py_interpreter_router.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {

class CountingInterpreters : public testing::Test {
 protected:
  void SetUp() override {
    prepareProcess();
    for (int i = 0; i < 2; ++i) {
      slots[i] = process::Ownership::instance().admit();
      process::Ownership::instance().setLive(slots[i], [] { return false; });
      setPyInterpreter(slots[i], new c10::impl::PyInterpreter(&tables[i]));
    }
  }
  void TearDown() override {
    process::Ownership::setCurrent(InterpreterId::none());
    for (const InterpreterId slot : slots) {
      clearPyInterpreter(slot);
      process::Ownership::instance().release(slot);
    }
  }
  // An address that belongs to interpreter `i`; nothing may look behind it.
  PyObject* objectOf(int i) {
    return reinterpret_cast<PyObject*>(
        static_cast<char*>(process::Ownership::instance().slice(slots[i]).begin) + 64);
  }

  InterpreterId slots[2];
  Counting tables[2];
};

}  // namespace multipy::bridge
