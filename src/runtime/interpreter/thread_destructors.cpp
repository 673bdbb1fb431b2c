#include "runtime/interpreter/thread_destructors.h"

#include <utility>
#include <vector>

#include "process/fork_guard.h"
#include "process/ownership.h"

namespace multipy::runtime {
namespace {

constinit thread_local bool ended = false;  // the calling thread's have been run

}  // namespace

class ThreadDestructors::OfThread {
 public:
  ~OfThread() {
    // One of them may add another.
    while (!all_.empty()) {
      const Added last = std::move(all_.back());
      all_.pop_back();
      // (A child of fork has the memory as another thread may have left it.)
      if (const auto interpreter = last.interpreter.lock();
          interpreter && !process::inForkedChild())
        interpreter->run(last.destroy, last.object);
    }
    ended = true;
  }

  void add(Destroy destroy, void* object, std::weak_ptr<ThreadDestructors> interpreter) {
    if (all_.size() == all_.capacity()) {
      std::erase_if(all_, [](const Added& each) { return each.interpreter.expired(); });
      all_.reserve(2 * all_.size() + 1);
    }
    all_.push_back({destroy, object, std::move(interpreter)});
  }

 private:
  struct Added {
    Destroy destroy;
    void* object;
    std::weak_ptr<ThreadDestructors> interpreter;
  };
  std::vector<Added> all_;
};

void ThreadDestructors::add(Destroy destroy, void* object) {
  if (ended) return;  // the object stays, as one in static memory does
  thread_local OfThread mine;
  mine.add(destroy, object, weak_from_this());
}

void ThreadDestructors::run(Destroy destroy, void* object) noexcept {
  if (!gate_.tryPass()) return;
  const InterpreterId before = process::Ownership::entered();
  process::Ownership::setCurrent(slot_);
  destroy(object);
  process::Ownership::setCurrent(before);
  gate_.leave();
}

void ThreadDestructors::close() noexcept {
  gate_.close();
  gate_.waitUntilEmpty();
}

}  // namespace multipy::runtime
