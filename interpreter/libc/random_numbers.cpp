// rand(), random(), drand48() and their like, for private libraries.
//
// Their state is one of the process: a library that calls srand() and counts on the numbers that
// follow would get, of N interpreters that do so, a part of one sequence. Here each interpreter has
// its own, which begins as a process's does.
//
// Threads: as libc's, from any (the drand48 family, which libc does not lock either, is locked
// here).
#include <cstdlib>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/exported.h"

namespace {

using multipy::base::Lock;

/// What random_r(3) and its like work with.
class Numbers {
 public:
  Numbers() { ::initstate_r(1, first_, sizeof first_, &state_); }

  int next() {
    const Lock lock(mutex_);
    int number = 0;
    ::random_r(&state_, &number);
    return number;
  }
  void seed(unsigned seed) {
    const Lock lock(mutex_);
    ::srandom_r(seed, &state_);
  }
  /// Null where libc refuses it, with errno.
  char* use(unsigned seed, char* memory, std::size_t size) {
    const Lock lock(mutex_);
    char* const before = current_;
    if (::initstate_r(seed, memory, size, &state_) != 0) return nullptr;
    current_ = memory;
    return before;
  }
  char* use(char* memory) {
    const Lock lock(mutex_);
    char* const before = current_;
    if (::setstate_r(memory, &state_) != 0) return nullptr;
    current_ = memory;
    return before;
  }

 private:
  multipy::base::ForkMutex mutex_;
  char first_[128];  // as many as random() begins with
  char* current_ MULTIPY_GUARDED_BY(mutex_) = first_;
  random_data state_ MULTIPY_GUARDED_BY(mutex_) = {};
};

class Numbers48 {
 public:
  /// `use(state)` under the lock.
  template <class Use>
  auto with(Use&& use) {
    const Lock lock(mutex_);
    return use(&state_);
  }

 private:
  multipy::base::ForkMutex mutex_;
  drand48_data state_ MULTIPY_GUARDED_BY(mutex_) = {};
};

Numbers& numbers() { return multipy::base::neverDestroyed<Numbers>(); }
Numbers48& numbers48() { return multipy::base::neverDestroyed<Numbers48>(); }

template <class Number, class Draw>
Number draw48(Draw&& draw) {
  return numbers48().with([&](drand48_data* state) {
    Number number = 0;
    draw(state, &number);
    return number;
  });
}

}  // namespace

extern "C" MULTIPY_EXPORT int multipy_rand() { return numbers().next(); }
extern "C" MULTIPY_EXPORT void multipy_srand(unsigned seed) { numbers().seed(seed); }
extern "C" MULTIPY_EXPORT long multipy_random() { return numbers().next(); }
extern "C" MULTIPY_EXPORT void multipy_srandom(unsigned seed) { numbers().seed(seed); }
extern "C" MULTIPY_EXPORT char* multipy_initstate(unsigned seed, char* memory, std::size_t size) {
  return numbers().use(seed, memory, size);
}
extern "C" MULTIPY_EXPORT char* multipy_setstate(char* memory) { return numbers().use(memory); }

extern "C" MULTIPY_EXPORT double multipy_drand48() { return draw48<double>(::drand48_r); }
extern "C" MULTIPY_EXPORT long multipy_lrand48() { return draw48<long>(::lrand48_r); }
extern "C" MULTIPY_EXPORT long multipy_mrand48() { return draw48<long>(::mrand48_r); }
extern "C" MULTIPY_EXPORT double multipy_erand48(unsigned short* own) {
  return draw48<double>([own](auto... out) { ::erand48_r(own, out...); });
}
extern "C" MULTIPY_EXPORT long multipy_nrand48(unsigned short* own) {
  return draw48<long>([own](auto... out) { ::nrand48_r(own, out...); });
}
extern "C" MULTIPY_EXPORT long multipy_jrand48(unsigned short* own) {
  return draw48<long>([own](auto... out) { ::jrand48_r(own, out...); });
}
extern "C" MULTIPY_EXPORT void multipy_srand48(long seed) {
  numbers48().with([seed](drand48_data* state) { ::srand48_r(seed, state); });
}
extern "C" MULTIPY_EXPORT unsigned short* multipy_seed48(unsigned short* seed) {
  return numbers48().with([seed](drand48_data* state) {
    ::seed48_r(seed, state);
    return state->__old_x;  // what libc's own gives, too
  });
}
extern "C" MULTIPY_EXPORT void multipy_lcong48(unsigned short* parameters) {
  numbers48().with([parameters](drand48_data* state) { ::lcong48_r(parameters, state); });
}
