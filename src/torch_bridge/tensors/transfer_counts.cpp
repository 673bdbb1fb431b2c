#include "torch_bridge/tensors/transfer_counts.h"

#include <atomic>
#include <vector>

#include "base/mutex.h"

namespace multipy::bridge {
namespace {

// A thread's numbers, on a cache line of their own. They outlive the thread: the next
// one to come goes on counting where it has stopped.
struct alignas(64) Numbers {
  std::atomic<long> transfers{0}, live{0};
  Numbers* next = nullptr;
};

// Never destroyed: storages may end after static destructors have begun.
struct AllNumbers {
  std::atomic<Numbers*> first{nullptr};
  Numbers ofEnded;  // of threads whose thread-local variables have gone
  base::Mutex lock;
  std::vector<Numbers*> unused MULTIPY_GUARDED_BY(lock);

  static AllNumbers& process() {
    static auto* const one = new AllNumbers;
    return *one;
  }

  // The lock is never waited for: in a child of fork(), who had it may not be there. What
  // is not used again for that goes on being added up.
  Numbers* take() {
    if (Numbers* const numbers = takeUnused()) return numbers;
    auto* const numbers = new Numbers;
    numbers->next = first.load();
    while (!first.compare_exchange_weak(numbers->next, numbers)) {
    }
    return numbers;
  }
  Numbers* takeUnused() {
    if (!lock.try_lock()) return nullptr;
    const base::Lock guard(lock, std::adopt_lock);
    if (unused.empty()) return nullptr;
    Numbers* const numbers = unused.back();
    unused.pop_back();
    return numbers;
  }
  void giveBack(Numbers* numbers) {
    if (!lock.try_lock()) return;
    const base::Lock guard(lock, std::adopt_lock);
    unused.push_back(numbers);
  }
};

constinit thread_local Numbers* mine = nullptr;
constinit thread_local bool ended = false;

struct Registration {
  Registration() { mine = AllNumbers::process().take(); }
  ~Registration() {
    ended = true;
    AllNumbers::process().giveBack(mine);
    mine = nullptr;
  }
};

[[gnu::noinline]] void countElsewhere(std::atomic<long> Numbers::*which, long change) noexcept {
  if (ended) {
    (AllNumbers::process().ofEnded.*which).fetch_add(change, std::memory_order_relaxed);
    return;
  }
  thread_local const Registration registration;
  std::atomic<long>& number = mine->*which;
  number.store(number.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

void count(std::atomic<long> Numbers::*which, long change) noexcept {
  if (!mine) [[unlikely]]
    return countElsewhere(which, change);
  std::atomic<long>& number = mine->*which;  // no other thread writes it
  number.store(number.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
}

}  // namespace

void countTransfer() noexcept { count(&Numbers::transfers, 1); }
void countLive(long change) noexcept { count(&Numbers::live, change); }

TransferSums transferSums() noexcept {
  const AllNumbers& all = AllNumbers::process();
  TransferSums sums{all.ofEnded.transfers.load(std::memory_order_relaxed),
                    all.ofEnded.live.load(std::memory_order_relaxed)};
  for (const Numbers* numbers = all.first.load(); numbers; numbers = numbers->next) {
    sums.transfers += numbers->transfers.load(std::memory_order_relaxed);
    sums.live += numbers->live.load(std::memory_order_relaxed);
  }
  return sums;
}

}  // namespace multipy::bridge
