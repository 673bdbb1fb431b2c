#include "interpreter/libc/thread_keys.h"

#include <pthread.h>

#include <cerrno>
#include <exception>
#include <set>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/exported.h"

extern "C" int __real_pthread_key_create(pthread_key_t*, void (*)(void*));
extern "C" int __real_pthread_key_delete(pthread_key_t);

namespace multipy {
namespace {

class ThreadKeys {
 public:
  int create(pthread_key_t* key, void (*destructor)(void*)) {
    const base::Lock lock(mutex_);
    if (const int error = __real_pthread_key_create(key, destructor)) return error;
    try {
      keys_.insert(*key);
    } catch (const std::exception&) {
      __real_pthread_key_delete(*key);
      return ENOMEM;
    }
    return 0;
  }

  /// A key that was deleted already may be someone else's by now.
  int remove(pthread_key_t key) {
    const base::Lock lock(mutex_);
    return keys_.erase(key) == 1 ? __real_pthread_key_delete(key) : EINVAL;
  }

  void removeAll() {
    const base::Lock lock(mutex_);
    for (const pthread_key_t key : keys_) __real_pthread_key_delete(key);
    keys_.clear();
  }

 private:
  base::ForkMutex mutex_;
  std::set<pthread_key_t> keys_ MULTIPY_GUARDED_BY(mutex_);
};

ThreadKeys& threadKeys() { return base::neverDestroyed<ThreadKeys>(); }

}  // namespace

void deleteThreadKeys() { threadKeys().removeAll(); }

}  // namespace multipy

extern "C" {

int __wrap_pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  return multipy::threadKeys().create(key, destructor);
}

int __wrap_pthread_key_delete(pthread_key_t key) { return multipy::threadKeys().remove(key); }

// Private copies of libraries call these in place of the ones without "multipy_".
MULTIPY_EXPORT int multipy_pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  return multipy::threadKeys().create(key, destructor);
}

MULTIPY_EXPORT int multipy_pthread_key_delete(pthread_key_t key) {
  return multipy::threadKeys().remove(key);
}

}  // extern "C"
