#include "interpreter/fork_handlers.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <mutex>
#include <vector>

#include "interpreter/host_connection.h"
#include "interpreter/never_destroyed.h"

namespace multipy {
namespace {

using Handler = void (*)();

struct ForkHandlers {
  Handler prepare, inParent, inChild;
  const void* library;
};

// Locked while a fork of this interpreter is under way, so that the child finds it
// unlocked whatever other threads did; recursive, since a handler may register another.
struct Registered {
  std::recursive_mutex mutex;
  std::vector<ForkHandlers> handlers;  // guarded by mutex
  bool toldProcess = false;            // guarded by mutex
};

Registered& registered() { return neverDestroyed<Registered>(); }

bool isOurFork() { return host()->current() == host()->slot; }

void prepare() {
  if (!isOurFork()) return;
  Registered& all = registered();
  all.mutex.lock();
  for (std::size_t left = all.handlers.size(); left > 0;)
    if (const Handler handler = all.handlers[--left].prepare) handler();
}

void finish(Handler ForkHandlers::*which) {
  if (!isOurFork()) return;
  Registered& all = registered();
  for (std::size_t i = 0; i < all.handlers.size(); ++i)
    if (const Handler handler = all.handlers[i].*which) handler();
  all.mutex.unlock();
}

void inParent() { finish(&ForkHandlers::inParent); }
void inChild() { finish(&ForkHandlers::inChild); }

}  // namespace

void forgetForkHandlers(const void* library) {
  Registered& all = registered();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.handlers, [&](const ForkHandlers& each) { return each.library == library; });
}

}  // namespace multipy

// What pthread_atfork() calls, which is linked into each library. Private copies call
// this one in place of the one without "multipy_".
extern "C" __attribute__((visibility("default"))) int multipy___register_atfork(
    void (*prepare)(), void (*inParent)(), void (*inChild)(), void* library) try {
  multipy::Registered& all = multipy::registered();
  const std::lock_guard lock(all.mutex);
  all.handlers.push_back({prepare, inParent, inChild, library});
  if (all.toldProcess) return 0;
  // Taken back by libc when libinterpreter.so is unloaded.
  const int error = pthread_atfork(multipy::prepare, multipy::inParent, multipy::inChild);
  all.toldProcess = error == 0;
  if (error) all.handlers.pop_back();
  return error;
} catch (const std::exception&) {
  return ENOMEM;
}
