// Two interpreters, two threads, one call each; and what torch and Python throw.
#include <multipy/runtime/deploy.h>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string caught(const multipy::runtime::Obj& toInt) {
  std::string texts;
  try {
    at::ones({2}).add(at::ones({3}));
  } catch (const c10::Error& error) {
    texts += error.what_without_backtrace();
  }
  try {
    toInt({"seven"});
  } catch (const multipy::runtime::PythonException& error) {
    texts += error.what();
  }
  return texts;
}

}  // namespace

int main() {
  multipy::runtime::InterpreterManager manager(2);
  std::vector<std::string> answers(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] {
      auto session = manager.allInstances()[i].acquireSession();
      answers[i] = session.global("builtins", "str")({c10::IValue(static_cast<int64_t>(40 + i))})
                       .toIValue()
                       .toStringRef();
    });
  for (auto& thread : threads) thread.join();
  if (answers[0] != "40" || answers[1] != "41") {
    std::cerr << "expected 40 and 41, got " << answers[0] << " and " << answers[1] << '\n';
    return 1;
  }
  const std::string texts = caught(manager.acquireOne().global("builtins", "int"));
  if (texts.find("must match the size of tensor b (3)") == std::string::npos ||
      texts.find("'seven'") == std::string::npos) {
    std::cerr << "expected an error of torch and one of Python, got " << texts << '\n';
    return 1;
  }
  std::cout << "served by " << manager.allInstances().size() << " interpreters\n";
}
