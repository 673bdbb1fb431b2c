// Two interpreters with tables that count in place of Python.
#pragma once

#include <gtest/gtest.h>

#include "counting_table.h"
#include "torch/ownership.h"
#include "torch/py_interpreter_router.h"
#include "torch/torch_router.h"

namespace multipy::routing {

class CountingInterpreters : public testing::Test {
 protected:
  void SetUp() override {
    prepareProcess();
    for (int i = 0; i < 2; ++i) {
      slots[i] = Ownership::process().admit();
      Ownership::process().setLive(slots[i], [] { return false; });
      setPyInterpreter(slots[i], new c10::impl::PyInterpreter(&tables[i]));
    }
  }
  void TearDown() override {
    Ownership::setCurrent(kNone);
    for (const int slot : slots) {
      clearPyInterpreter(slot);
      Ownership::process().release(slot);
    }
  }
  // An address that belongs to interpreter `i`; nothing may look behind it.
  PyObject* objectOf(int i) {
    return reinterpret_cast<PyObject*>(
        static_cast<char*>(Ownership::process().slice(slots[i]).begin) + 64);
  }

  int slots[2];
  Counting tables[2];
};

}  // namespace multipy::routing
