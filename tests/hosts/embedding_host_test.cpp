// A host program that links libpython and has its own Python running by
// pybind11: all of CPython's names are in the global scope, where glibc looks
// first. Private interpreters must use their own all the same.
#include <gtest/gtest.h>
#include <multipy/runtime/interpreter.h>
#include <multipy/runtime/interpreter_manager.h>
#include <pybind11/embed.h>

#include <ATen/ATen.h>

#include <thread>

namespace py = pybind11;
using multipy::runtime::InterpreterManager;

namespace {

int64_t addressOfNone(const multipy::runtime::Interpreter& interpreter) {
  auto session = interpreter.acquireSession();
  return session.global("builtins", "id")({at::IValue()}).toIValue().toInt();
}

void useEverything(InterpreterManager& manager) {
  manager.registerModuleSource("hosted", R"py(
import ctypes, decimal, hashlib, sqlite3, sys, threading
import numpy, torch
def work(x):
    ctypes.pythonapi.PyLong_FromLong.restype = ctypes.py_object
    assert ctypes.pythonapi.PyLong_FromLong(77) == 77
    assert ctypes.addressof(ctypes.c_byte.in_dll(ctypes.pythonapi, '_Py_NoneStruct')) == id(None)
    assert sqlite3.connect(':memory:').execute('select 1').fetchone() == (1,)
    assert numpy.linalg.det(numpy.eye(3)) == 1.0
    return torch.nn.functional.relu(x) + decimal.Decimal(1).__int__()
)py");
  std::vector<std::thread> threads;
  for (const auto& interpreter : manager.allInstances())
    threads.emplace_back([&interpreter] {
      auto session = interpreter.acquireSession();
      EXPECT_TRUE(session.global("hosted", "work")({at::full({2}, -1.0)})
                      .toIValue()
                      .toTensor()
                      .equal(at::ones({2})));
    });
  for (auto& thread : threads) thread.join();
}

TEST(EmbeddingHost, ItsPythonRunsBesidePrivateOnes) {
  py::scoped_interpreter host;
  const auto hostNone = reinterpret_cast<int64_t>(Py_None);
  py::exec("import sqlite3, ctypes; mark = 'host'");
  {
    py::gil_scoped_release released;
    InterpreterManager manager(2);
    EXPECT_NE(addressOfNone(manager.allInstances()[0]), hostNone);
    EXPECT_NE(addressOfNone(manager.allInstances()[0]), addressOfNone(manager.allInstances()[1]));
    useEverything(manager);
  }
  EXPECT_EQ(py::eval("mark + str(ctypes.pythonapi.Py_IsInitialized())").cast<std::string>(),
            "host1");
  EXPECT_EQ(py::eval("id(None)").cast<int64_t>(), hostNone);
}

}  // namespace
