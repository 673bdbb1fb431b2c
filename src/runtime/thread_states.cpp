#include "runtime/thread_states.h"

#include <utility>
#include <vector>

#include "runtime/fork_guard.h"
#include "runtime/interpreter_core.h"

namespace multipy::runtime {
namespace {

// Set once this thread's ThreadStates is gone. What is made afterwards (in later
// thread-local or static destructors) dies with its interpreter.
constinit thread_local bool ended = false;

class ThreadStates {
 public:
  ~ThreadStates() {
    ended = true;
    if (inForkedChild()) return;
    for (const Given& given : given_)
      if (const auto core = given.core.lock()) core->threadEnded(given.state);
  }

  void add(std::weak_ptr<InterpreterCore> core, void* state) {
    std::erase_if(given_, [](const Given& given) { return given.core.expired(); });
    given_.push_back({std::move(core), state});
  }

 private:
  struct Given {
    std::weak_ptr<InterpreterCore> core;
    void* state;
  };
  std::vector<Given> given_;
};

}  // namespace

void rememberThreadState(std::weak_ptr<InterpreterCore> core, void* state) {
  if (ended) return;
  thread_local ThreadStates mine;
  mine.add(std::move(core), state);
}

}  // namespace multipy::runtime
