// Keys of thread-specific data end with this library.
//
// CPython has carried mimalloc since 3.13. A build with a GIL does not use it, but
// it initialises itself when it is loaded: it makes a key whose destructor runs
// when a thread ends, and never deletes the key. A thread that has loaded an
// interpreter and ends after that one was unloaded would run code that is gone,
// and each interpreter would use up one of the process's 1,024 keys. So keys with
// a destructor are deleted when this library goes. Linked with
// --wrap=pthread_key_create.
#include <pthread.h>

#include <mutex>
#include <vector>

namespace {

class Keys {
 public:
  ~Keys() {
    for (const pthread_key_t key : keys_) pthread_key_delete(key);
  }
  void add(pthread_key_t key) {
    const std::lock_guard lock(mutex_);
    keys_.push_back(key);
  }

 private:
  std::mutex mutex_;
  std::vector<pthread_key_t> keys_;  // guarded by mutex_
};

}  // namespace

extern "C" int __real_pthread_key_create(pthread_key_t*, void (*)(void*));

extern "C" int __wrap_pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) {
  // Destroyed when the library is unloaded or the process exits.
  static Keys keys;
  const int error = __real_pthread_key_create(key, destructor);
  if (error == 0 && destructor) keys.add(*key);
  return error;
}
