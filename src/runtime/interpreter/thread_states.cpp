#include "runtime/interpreter/thread_states.h"

#include <limits.h>
#include <pthread.h>

#include <new>
#include <utility>
#include <vector>

#include "base/never_destroyed.h"
#include "process/fork_guard.h"
#include "runtime/interpreter/interpreter_core.h"

namespace multipy::runtime {
namespace {

// Set once this thread's ThreadStates is gone. What is made afterwards (in later
// thread-local or static destructors) dies with its interpreter.
constinit thread_local bool ended = false;

struct Given {
  std::weak_ptr<InterpreterCore> core;
  void* state;
};

void giveBack(const std::vector<Given>& states) noexcept {
  if (process::inForkedChild()) return;
  for (const Given& given : states)
    if (const auto core = given.core.lock()) core->threadEnded(given.state);
}

// Other thread-local objects may use interpreters in their destructors, by the states that this
// thread has: so these are given back after all of those, by the destructor of a thread-specific
// value, and in the last of the rounds that there are of them.
class GivenBackLast {
 public:
  /// Before any thread ends: the process has one key more from its first state on, and not later.
  static void prepare() noexcept { keyOfAll(); }

  static void arrange(std::vector<Given>&& states) noexcept {
    const pthread_key_t* const key = keyOfAll();
    auto* const last = key ? new (std::nothrow) GivenBackLast(std::move(states)) : nullptr;
    if (last && pthread_setspecific(*key, last) == 0) return;
    giveBack(last ? last->states_ : states);
    delete last;
  }

 private:
  explicit GivenBackLast(std::vector<Given>&& states) : states_(std::move(states)) {}

  static const pthread_key_t* keyOfAll() {
    struct Key {
      pthread_key_t key;
      bool made = pthread_key_create(&key, round) == 0;
    };
    static const Key& key = base::neverDestroyed<Key>();
    return key.made ? &key.key : nullptr;
  }

  static void round(void* value) noexcept {
    auto* const last = static_cast<GivenBackLast*>(value);
    const bool again = ++last->rounds_ < PTHREAD_DESTRUCTOR_ITERATIONS;
    if (again && pthread_setspecific(*keyOfAll(), last) == 0) return;
    giveBack(last->states_);
    delete last;
  }

  const std::vector<Given> states_;
  int rounds_ = 0;
};

class ThreadStates {
 public:
  ThreadStates() { GivenBackLast::prepare(); }
  ~ThreadStates() {
    ended = true;
    if (!given_.empty()) GivenBackLast::arrange(std::move(given_));
  }

  void makeRoom() {
    std::erase_if(given_, [](const Given& given) { return given.core.expired(); });
    if (given_.size() == given_.capacity()) given_.reserve(2 * given_.size() + 1);
  }
  void add(std::weak_ptr<InterpreterCore> core, void* state) noexcept {
    given_.push_back({std::move(core), state});  // makeRoom() was called
  }

 private:
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
