// A shared library with multipy inside, as a Python process or a C program loads it.
#include <ATen/ATen.h>
#include <multipy/runtime/Exception.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/obj.h>

#include <cstring>
#include <thread>

using namespace multipy::runtime;

namespace {

// Exceptions of torch and of Python arrive with their types.
std::string throwsAsItShould(const Obj& toInt) {
  try {
    at::ones({2}).add(at::ones({3}));
    return "torch threw nothing";
  } catch (const c10::Error&) {
  }
  try {
    toInt({"seven"});
    return "Python threw nothing";
  } catch (const PythonException&) {
  }
  return {};
}

void run() {
  InterpreterManager manager(2);
  manager.registerModuleSource("hosted", R"py(
import ctypes, sqlite3
import numpy, torch
class Model(torch.nn.Module):
    def forward(self, x):
        assert ctypes.addressof(ctypes.c_byte.in_dll(ctypes.pythonapi, '_Py_NoneStruct')) == id(None)
        return torch.linalg.inv(x) @ torch.from_numpy(numpy.ones((2, 1), dtype='float32'))
)py");
  std::vector<std::string> failures(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++)
    threads.emplace_back([&, i] {
      try {
        auto session = manager.allInstances()[i].acquireSession();
        const Obj model = session.global("hosted", "Model")({});
        const at::Tensor y = model({at::eye(2) * 2}).toIValue().toTensor();
        if (!y.equal(at::full({2, 1}, 0.5))) failures[i] = "wrong result";
        failures[i] += throwsAsItShould(session.global("builtins", "int"));
      } catch (const std::exception& error) {
        failures[i] = error.what();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (!failure.empty()) throw std::runtime_error(failure);
}

}  // namespace

/// 0, or 1 with a message in `error`.
extern "C" int run_hosted(char* error, std::size_t size) {
  try {
    run();
    return 0;
  } catch (const std::exception& caught) {
    std::strncpy(error, caught.what(), size - 1);
    return 1;
  }
}
