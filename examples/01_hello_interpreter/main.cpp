// Some Python interpreters in one process, each with its own types, modules and
// GIL, called from twice as many threads. No torch is imported in any of them.
#include <multipy/runtime/deploy.h>

#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kInterpreters = 4;

// Any interpreter can import this module; each that does has its own counter.
constexpr const char* kModule = R"(
import itertools
callers = itertools.count(1)

def greet(name):
    return f"hello {name}, you are caller {next(callers)} here"
)";

}  // namespace

int main() try {
  multipy::runtime::InterpreterManager manager(kInterpreters);
  manager.registerModuleSource("hello", kModule);

  std::vector<std::string> answers(2 * kInterpreters);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2 * kInterpreters; ++i) {
    threads.emplace_back([&, i] {
      auto session = manager.allInstances()[i / 2].acquireSession();
      auto greet = session.global("hello", "greet");
      answers[i] = greet({"thread " + std::to_string(i)}).toIValue().toStringRef();
    });
  }
  for (auto& thread : threads) thread.join();

  for (int i = 0; i < 2 * kInterpreters; ++i)
    std::printf("interpreter %d: %s\n", i / 2, answers[i].c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "01_hello_interpreter: %s\n", error.what());
  return 1;
}
