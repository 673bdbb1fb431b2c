// A shared library with multipy inside, as a Python process loads it.
#include <ATen/ATen.h>
#include <multipy/runtime/deploy.h>

#include <cstring>
#include <thread>

namespace {

void run() {
  using namespace multipy::runtime;
  InterpreterManager manager(2);
  manager.registerModuleSource("hosted", R"py(
import ctypes, sqlite3
import numpy, torch
def none(): return id(None)
def work(x):
    assert ctypes.addressof(ctypes.c_byte.in_dll(ctypes.pythonapi, '_Py_NoneStruct')) == id(None)
    return torch.linalg.inv(x) @ torch.from_numpy(numpy.ones((2, 1), dtype='float32'))
)py");
  std::vector<std::string> failures(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++)
    threads.emplace_back([&, i] {
      try {
        auto session = manager.allInstances()[i].acquireSession();
        const at::Tensor y = session.global("hosted", "work")({at::eye(2) * 2}).toIValue().toTensor();
        if (!y.equal(at::full({2, 1}, 0.5))) failures[i] = "wrong result";
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
