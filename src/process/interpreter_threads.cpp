#include "process/interpreter_threads.h"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/per_interpreter.h"
#include "multipy/runtime/Exception.h"
#include "process/forked_child.h"
#include "process/ownership.h"

namespace multipy::process {
namespace {

using Function = std::function<void()>;

// One that no thread waits for: what it throws is not passed on.
class PostedFunction final : public Task {
 public:
  explicit PostedFunction(Function function) : function_(std::move(function)) {}
  void run() noexcept override {
    const std::unique_ptr<PostedFunction> self(this);
    try {
      function_();
    } catch (...) {
      // As the header says.
    }
  }

 private:
  const Function function_;
};

// One that a thread waits for.
class WaitedFor final : public Task {
 public:
  explicit WaitedFor(const Function& function) : function_(function) {}
  void run() noexcept override {
    std::exception_ptr caught;
    try {
      function_();
    } catch (...) {
      caught = std::current_exception();
    }
    const base::Lock guard(lock_);
    thrown_ = std::move(caught);
    done_ = true;
    changed_.notifyOne();
  }
  /// Until it has been run. Throws what it has thrown.
  void wait() {
    const base::Lock guard(lock_);
    while (!done_) changed_.wait(lock_);
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  const Function& function_;
  base::Mutex lock_;
  base::Condition changed_;
  bool done_ MULTIPY_GUARDED_BY(lock_) = false;
  std::exception_ptr thrown_ MULTIPY_GUARDED_BY(lock_);
};

}  // namespace

class TaskQueue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void add(Task& task) noexcept {
    task.next_ = nullptr;
    *end_ = &task;
    end_ = &task.next_;
  }
  Task& take() noexcept {
    Task& task = *first_;
    first_ = task.next_;
    if (!first_) end_ = &first_;
    return task;
  }

 private:
  Task* first_ = nullptr;
  Task** end_ = &first_;
};

namespace {

// A queue and the thread that empties it.
class Worker {
 public:
  explicit Worker(InterpreterId slot) : slot_(slot), thread_([this] { work(); }) {}
  ~Worker() { stop(); }

  bool post(Task& task) noexcept {
    const base::Lock guard(lock_);
    if (stopping_) return false;
    tasks_.add(task);
    changed_.notifyOne();
    return true;
  }

  // Only on its own thread.
  void pause(std::chrono::milliseconds atMost) {
    const auto end = std::chrono::steady_clock::now() + atMost;
    const base::Lock guard(lock_);
    while (!stopping_ && tasks_.empty() && changed_.waitUntil(lock_, end)) {
    }
  }

  bool isThisThread() const noexcept { return here == this; }

  void stop() noexcept {
    {
      const base::Lock guard(lock_);
      stopping_ = true;
      changed_.notifyOne();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work() {
    // What comes after "multipy-" must fit into the 15 characters Linux keeps.
    ::pthread_setname_np(::pthread_self(), ("multipy-" + std::to_string(slot_.number())).c_str());
    here = this;
    Ownership::setCurrent(slot_);
    base::Lock guard(lock_);
    for (;;) {
      while (!stopping_ && tasks_.empty()) changed_.wait(lock_);
      if (tasks_.empty()) return;
      Task& task = tasks_.take();
      guard.unlock();
      task.run();  // it may be no more after that
      // A task may have entered and left: this thread remains the slot's.
      Ownership::setCurrent(slot_);
      guard.lock();
    }
  }

  static constinit thread_local const Worker* here;  // whose thread this is

  const InterpreterId slot_;
  base::Mutex lock_;
  base::Condition changed_;
  TaskQueue tasks_ MULTIPY_GUARDED_BY(lock_);
  bool stopping_ MULTIPY_GUARDED_BY(lock_) = false;
  std::thread thread_;  // last: starts when all else is there
};

constinit thread_local const Worker* Worker::here = nullptr;

struct Threads {  // of one interpreter
  base::Mutex lock;
  std::shared_ptr<Worker> worker MULTIPY_GUARDED_BY(lock);
  std::shared_ptr<Worker> owner MULTIPY_GUARDED_BY(lock);

  base::SharedMutex drops;  // shared: a drop is under way
  std::uint64_t generation MULTIPY_GUARDED_BY(drops) = 0;
  bool open MULTIPY_GUARDED_BY(drops) = false;

  std::shared_ptr<Worker> current(std::shared_ptr<Worker> Threads::*which) {
    const base::Lock guard(lock);
    return this->*which;
  }
};

// Never destroyed: drops happen until the very end of the process.
PerInterpreter<Threads>& allThreads() {
  static auto* const all = new PerInterpreter<Threads>;
  return *all;
}

Threads& threadsOf(InterpreterId slot, const char* doing) {
  if (!slot.isInterpreter())
    throw runtime::InvalidArgument(std::string(doing) + ": slot is " +
                                   std::to_string(slot.number()) + ", expected 0 to " +
                                   std::to_string(InterpreterId::kMost - 1));
  return allThreads()[slot];
}

bool post(std::shared_ptr<Worker> Threads::*which, InterpreterId slot, Task& task) noexcept {
  if (!slot.isInterpreter() || inForkedChild()) return false;
  const auto worker = allThreads()[slot].current(which);
  return worker && worker->post(task);
}

bool post(std::shared_ptr<Worker> Threads::*which, InterpreterId slot, Function function) {
  auto task = std::make_unique<PostedFunction>(std::move(function));
  if (!post(which, slot, *task)) return false;
  task.release();  // NOLINT: it deletes itself
  return true;
}

void run(std::shared_ptr<Worker> Threads::*which, InterpreterId slot, const char* doing,
         const Function& function) {
  Threads& entry = threadsOf(slot, doing);
  const auto worker = inForkedChild() ? nullptr : entry.current(which);
  if (worker && worker->isThisThread()) return function();

  WaitedFor task(function);
  if (!worker || !worker->post(task))
    throw runtime::HandleError("interpreter " + std::to_string(slot.number()) +
                               " is gone: its thread has ended");
  task.wait();
}

std::shared_ptr<Worker> startWorker(InterpreterId slot) {
  try {
    return std::make_shared<Worker>(slot);
  } catch (const std::system_error& error) {
    throw runtime::EnvironmentError(
        "starting the threads of interpreter " + std::to_string(slot.number()) + ": " +
        error.what() +
        "; each interpreter needs two of its own: raise the limit on threads (`ulimit -u`, "
        "pids.max of the program's cgroup, kernel.threads-max), or make fewer interpreters");
  }
}

}  // namespace

Incarnation incarnation(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return {InterpreterId::none(), 0};
  return {slot, Ownership::instance().generation(slot)};
}

DropPermit::DropPermit(Incarnation owner) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
  if (!owner.slot.isInterpreter()) return;
  Threads& entry = allThreads()[owner.slot];
  const bool inChild = inForkedChild();  // where no interpreter is ended
  if (!inChild) lock_ = std::shared_lock(entry.drops);
  granted_ = entry.open && entry.generation == owner.generation &&
             (!inChild || Ownership::instance().current() == owner.slot);
  if (!granted_) lock_ = {};
}

void startInterpreterThreads(InterpreterId slot) {
  inForkedChild();  // children from now on are known as such
  Threads& entry = threadsOf(slot, "starting an interpreter's threads");
  {
    const base::Lock guard(entry.lock);
    if (entry.worker)
      throw runtime::InternalError("starting the threads of interpreter " +
                                   std::to_string(slot.number()) + ": they run already");
    auto owner = startWorker(slot);
    entry.worker = startWorker(slot);
    entry.owner = std::move(owner);
  }
  const base::Lock guard(entry.drops);
  entry.generation = Ownership::instance().generation(slot);
  entry.open = true;
}

bool postHousekeeping(InterpreterId slot, Task& task) noexcept {
  return post(&Threads::worker, slot, task);
}

bool postHousekeeping(InterpreterId slot, std::function<void()> task) {
  return post(&Threads::worker, slot, std::move(task));
}

bool postToOwner(InterpreterId slot, std::function<void()> task) {
  return post(&Threads::owner, slot, std::move(task));
}

void runHousekeeping(InterpreterId slot, const std::function<void()>& task) {
  run(&Threads::worker, slot, "running a task on a housekeeping thread", task);
}

void runOwner(InterpreterId slot, const std::function<void()>& task) {
  run(&Threads::owner, slot, "running a task on an interpreter's own thread", task);
}

void pauseHousekeeping(InterpreterId slot, std::chrono::milliseconds atMost) {
  const auto worker = threadsOf(slot, "pausing a housekeeping thread").current(&Threads::worker);
  if (worker && worker->isThisThread()) worker->pause(atMost);
}

void stopInterpreterThreads(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  std::shared_ptr<Worker> worker, owner;
  {
    Threads& entry = allThreads()[slot];
    const base::Lock guard(entry.lock);
    worker = std::move(entry.worker);
    owner = std::move(entry.owner);
  }
  if (worker) worker->stop();
  if (owner) owner->stop();
}

void closeDrops(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  Threads& entry = allThreads()[slot];
  // What is queued already ends first; only what comes later leaks.
  if (const auto worker = entry.current(&Threads::worker); worker && !worker->isThisThread())
    runHousekeeping(slot, [] {});  // nothing is kept of it: no memory either
  const base::Lock guard(entry.drops);
  entry.open = false;
}

}  // namespace multipy::process
