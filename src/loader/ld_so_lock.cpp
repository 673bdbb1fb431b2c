#include "loader/ld_so_lock.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace multipy::loader {
namespace {

// The locks of ld.so that a thread has, and how often. They are members of _rtld_global, which
// differs from release to release: they are known by what glibc's recursive mutexes look like.
class HeldLocks {
 public:
  HeldLocks() noexcept { look(); }

  /// Gives back what this thread has taken since `before`.
  void giveBack(const HeldLocks& before) const noexcept {
    for (const Held& held : all())
      for (unsigned i = before.times(held.lock); i < held.times; ++i)
        ::pthread_mutex_unlock(held.lock);
  }

 private:
  struct Held {
    pthread_mutex_t* lock;
    unsigned times;
  };
  static constexpr std::size_t kMost = 4;

  std::span<const Held> all() const noexcept { return {held_.data(), count_}; }

  unsigned times(const pthread_mutex_t* lock) const noexcept {
    const auto held = all();
    const auto one = std::ranges::find(held, lock, &Held::lock);
    return one == held.end() ? 0 : one->times;
  }

  // Whatever could be a mutex is looked at: at each place that is aligned as one. Other threads
  // take and give back what lies there: only this thread's own is relied on.
  __attribute__((no_sanitize("thread", "address"))) void look() noexcept {
    static const std::span<std::byte> global = rtldGlobal();
    const int me = ::gettid();
    for (std::size_t at = 0; at + sizeof(pthread_mutex_t) <= global.size();
         at += alignof(pthread_mutex_t)) {
      auto* const lock = reinterpret_cast<pthread_mutex_t*>(&global[at]);
      const auto& data = lock->__data;
      if (data.__owner == me && data.__count != 0 && data.__kind == PTHREAD_MUTEX_RECURSIVE_NP &&
          data.__lock != 0 && count_ < kMost)
        held_[count_++] = {lock, data.__count};
    }
  }

  /// Empty if it is not to be found.
  static std::span<std::byte> rtldGlobal() noexcept {
    void* const global = ::dlvsym(RTLD_DEFAULT, "_rtld_global", "GLIBC_PRIVATE");
    Dl_info object{};
    ElfW(Sym)* symbol = nullptr;
    if (!global || !::dladdr1(global, &object, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) ||
        !symbol)
      return {};
    return {static_cast<std::byte*>(global), symbol->st_size};
  }

  std::array<Held, kMost> held_{};
  std::size_t count_ = 0;
};

}  // namespace

void* openObject(const char* file, int flags) {
  // glibc declares that it does not throw: called as it is, the compiler would drop the handler.
  void* (*const volatile open)(const char*, int) = ::dlopen;
  const HeldLocks before;
  try {
    return open(file, flags);
  } catch (...) {
    HeldLocks().giveBack(before);
    throw;
  }
}

}  // namespace multipy::loader
