#include "runtime/interpreter/thread_states.h"

#include <utility>
#include <vector>

#include "process/fork_guard.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {
namespace {

// Set once this thread's ThreadStates is gone. What is made afterwards (in later
// thread-local or static destructors) dies with its interpreter.
constinit thread_local bool ended = false;

class ThreadStates {
 public:
  ~ThreadStates() {
    ended = true;
    if (process::inForkedChild()) return;
    for (const Given& given : given_)
      if (const auto core = given.core.lock()) core->threadEnded(given.state);
  }

  void makeRoom() {
    std::erase_if(given_, [](const Given& given) { return given.core.expired(); });
    if (given_.size() == given_.capacity()) given_.reserve(2 * given_.size() + 1);
  }
  void add(std::weak_ptr<InterpreterCore> core, void* state) noexcept {
    given_.push_back({std::move(core), state});  // makeRoom() was called
  }

 private:
  struct Given {
    std::weak_ptr<InterpreterCore> core;
    void* state;
  };
  std::vector<Given> given_;
};

ThreadStates& mine() {
  thread_local ThreadStates states;
  return states;
}

}  // namespace

void prepareToRememberThreadState() {
  if (!ended) mine().makeRoom();
}

void rememberThreadState(std::weak_ptr<InterpreterCore> core, void* state) noexcept {
  if (!ended) mine().add(std::move(core), state);
}

}  // namespace multipy::runtime
