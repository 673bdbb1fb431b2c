#include "torch/housekeeping.h"

#include <pthread.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "multipy/runtime/Exception.h"
#include "torch/forked_child.h"
#include "torch/ownership.h"
#include "torch/torch_router.h"

namespace multipy::routing {
namespace {

using Task = std::function<void()>;

// A queue and the thread that empties it.
class Worker {
 public:
  explicit Worker(int slot) : slot_(slot), thread_([this] { work(); }) {}
  ~Worker() { stop(); }

  bool post(Task task) {
    const std::lock_guard guard(lock_);
    if (stopping_) return false;
    tasks_.push_back(std::move(task));
    changed_.notify_one();
    return true;
  }

  // Only on its own thread.
  void pause(std::chrono::milliseconds atMost) {
    std::unique_lock guard(lock_);
    changed_.wait_for(guard, atMost, [this] { return stopping_ || !tasks_.empty(); });
  }

  bool isThisThread() const noexcept { return here == this; }

  void stop() {
    {
      const std::lock_guard guard(lock_);
      stopping_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work() {
    // What comes after "multipy-" must fit into the 15 characters Linux keeps.
    ::pthread_setname_np(::pthread_self(), ("multipy-" + std::to_string(slot_)).c_str());
    here = this;
    Ownership::setCurrent(slot_);
    std::unique_lock guard(lock_);
    for (;;) {
      changed_.wait(guard, [this] { return stopping_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      guard.unlock();
      task();
      task = nullptr;  // what it holds dies outside the lock
      // A task may have entered and left: this thread remains the slot's.
      Ownership::setCurrent(slot_);
      guard.lock();
    }
  }

  static constinit thread_local const Worker* here;  // whose thread this is

  const int slot_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;   // guarded by lock_
  bool stopping_ = false;    // guarded by lock_
  std::thread thread_;       // last: starts when all else is there
};

constinit thread_local const Worker* Worker::here = nullptr;

struct Place {
  std::mutex lock;
  std::shared_ptr<Worker> worker;  // guarded by lock
  std::shared_ptr<Worker> owner;   // guarded by lock

  std::shared_mutex drops;         // shared: a drop is under way
  std::uint64_t generation = 0;    // guarded by drops
  bool open = false;               // guarded by drops

  std::shared_ptr<Worker> current(std::shared_ptr<Worker> Place::* which) {
    const std::lock_guard guard(lock);
    return this->*which;
  }
};

// Never destroyed: drops happen until the very end of the process.
std::array<Place, kMaxInterpreters>& places() {
  static auto* const all = new std::array<Place, kMaxInterpreters>;
  return *all;
}

Place& place(int slot, const char* doing) {
  if (slot < 0 || slot >= kMaxInterpreters)
    throw runtime::InvalidArgument(std::string(doing) + ": slot is " + std::to_string(slot) +
                                   ", expected 0 to " + std::to_string(kMaxInterpreters - 1));
  return places()[slot];
}

bool post(std::shared_ptr<Worker> Place::* which, int slot, Task task) {
  if (slot < 0 || slot >= kMaxInterpreters || inForkedChild()) return false;
  const auto worker = places()[slot].current(which);
  return worker && worker->post(std::move(task));
}

void run(std::shared_ptr<Worker> Place::* which, int slot, const char* doing, const Task& task) {
  Place& entry = place(slot, doing);
  const auto worker = inForkedChild() ? nullptr : entry.current(which);
  if (worker && worker->isThisThread()) return task();

  std::mutex lock;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr thrown;
  const bool accepted = worker && worker->post([&] {
    std::exception_ptr caught;
    try {
      task();
    } catch (...) {
      caught = std::current_exception();
    }
    const std::lock_guard guard(lock);
    thrown = std::move(caught);
    done = true;
    changed.notify_one();
  });
  if (!accepted)
    throw runtime::HandleError("interpreter " + std::to_string(slot) +
                               " is gone: its thread has ended");
  std::unique_lock guard(lock);
  changed.wait(guard, [&] { return done; });
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

Incarnation incarnation(int slot) noexcept {
  if (slot < 0 || slot >= kMaxInterpreters) return {kNone, 0};
  return {slot, Ownership::process().generation(slot)};
}

DropPermit::DropPermit(Incarnation owner) {
  if (owner.slot < 0 || owner.slot >= kMaxInterpreters) return;
  Place& entry = places()[owner.slot];
  const bool inChild = inForkedChild();  // where nobody ends an interpreter
  if (!inChild) lock_ = std::shared_lock(entry.drops);
  granted_ = entry.open && entry.generation == owner.generation &&
             (!inChild || Ownership::process().current() == owner.slot);
  if (!granted_) lock_ = {};
}

void startInterpreterThreads(int slot) {
  inForkedChild();  // children from now on are known as such
  Place& entry = place(slot, "starting an interpreter's threads");
  {
    const std::lock_guard guard(entry.lock);
    if (entry.worker)
      throw runtime::InternalError("starting the threads of interpreter " + std::to_string(slot) +
                                   ": they run already");
    auto owner = std::make_shared<Worker>(slot);
    entry.worker = std::make_shared<Worker>(slot);
    entry.owner = std::move(owner);
  }
  const std::unique_lock guard(entry.drops);
  entry.generation = Ownership::process().generation(slot);
  entry.open = true;
}

bool postHousekeeping(int slot, std::function<void()> task) {
  return post(&Place::worker, slot, std::move(task));
}

bool postToOwner(int slot, std::function<void()> task) {
  return post(&Place::owner, slot, std::move(task));
}

void runHousekeeping(int slot, const std::function<void()>& task) {
  run(&Place::worker, slot, "running a task on a housekeeping thread", task);
}

void runOwner(int slot, const std::function<void()>& task) {
  run(&Place::owner, slot, "running a task on an interpreter's own thread", task);
}

void pauseHousekeeping(int slot, std::chrono::milliseconds atMost) {
  const auto worker = place(slot, "pausing a housekeeping thread").current(&Place::worker);
  if (worker && worker->isThisThread()) worker->pause(atMost);
}

void stopInterpreterThreads(int slot) {
  if (slot < 0 || slot >= kMaxInterpreters) return;
  std::shared_ptr<Worker> worker, owner;
  {
    Place& entry = places()[slot];
    const std::lock_guard guard(entry.lock);
    worker = std::move(entry.worker);
    owner = std::move(entry.owner);
  }
  if (worker) worker->stop();
  if (owner) owner->stop();
}

void closeDrops(int slot) {
  if (slot < 0 || slot >= kMaxInterpreters) return;
  Place& entry = places()[slot];
  // What is queued already ends first; only what comes later leaks.
  if (const auto worker = entry.current(&Place::worker); worker && !worker->isThisThread())
    runHousekeeping(slot, [] {});
  const std::unique_lock guard(entry.drops);
  entry.open = false;
}

}  // namespace multipy::routing
