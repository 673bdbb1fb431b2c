// Two interpreters, two threads, one call each.
#include <multipy/runtime/deploy.h>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

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
  std::cout << "served by " << manager.allInstances().size() << " interpreters\n";
}
