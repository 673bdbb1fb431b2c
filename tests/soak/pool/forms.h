// The forms in which a thread makes calls: it waits for it, has a future or a callback of it,
// awaits it in a coroutine, or has a session.
//
// Threads: one object a thread.
#pragma once

#include <coroutine>
#include <future>
#include <memory>
#include <utility>

#include "../random.h"
#include "call.h"
#include "pool.h"

namespace multipy::soak::pool {

class Forms {
 public:
  Forms(Pool& pool, std::uint64_t seed);
  /// Waits until all that it has begun has ended.
  ~Forms();
  Forms(const Forms&) = delete;
  Forms& operator=(const Forms&) = delete;

  /// Makes a call in some form, or a few of them at once.
  void next();
  Random& random() noexcept { return random_; }

  /// How many sessions with limits were not had, by why; of all threads.
  static Ledger::Ends sessionsNotHad();

 private:
  /// Calls that no thread waits for, until they are judged.
  class UnderWay;
  struct Detached;
  struct Kept;
  struct Waiting {
    Call call;
    std::future<at::IValue> result;
  };

  void waitedFor();
  void futures();
  void forgottenFuture();
  void callback();
  void coroutine();
  void droppedCoroutine();
  void session();
  Detached await(Call call, std::shared_ptr<UnderWay> underWay);
  Kept awaitForEver(Call call);

  Pool& pool_;
  Random random_;
  std::shared_ptr<UnderWay> underWay_;
};

}  // namespace multipy::soak::pool
