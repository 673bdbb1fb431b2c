#include "failing_calls.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace multipy::testing_support {
namespace {

constinit std::atomic<bool> armed{false};
constinit std::atomic<Failing> armedFor{Failing::Memory};
constinit std::atomic<Times> howOften{Times::Once};
constinit std::atomic<long> firstToFail{0}, calls{0};

constinit std::array<void*, 40> firstFailed{};
constinit int framesOfFirst = 0;

// A dlclose() that gets no memory ends with ld.so's lock held with glibc 2.43 (with 2.41 it does
// not), and whatever needs that next waits for ever: there its calls do not fail. (The loader looks
// for memory first.)
constinit thread_local bool isInDlclose = false;

bool isDlcloseSafe() noexcept {
  int major = 0, minor = 0;
  return std::sscanf(::gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 && minor < 42;
}

bool fails(Failing what) noexcept {
  if (isInDlclose) return false;
  if (!armed.load(std::memory_order_relaxed) || armedFor.load() != what) return false;
  const long number = ++calls;
  const long first = firstToFail.load();
  if (number == first) framesOfFirst = ::backtrace(firstFailed.data(), firstFailed.size());
  return number == first || (number > first && howOften.load() == Times::FromThenOn);
}

}  // namespace

void failFrom(Failing what, long nth, Times times) {
  armedFor = what;
  howOften = times;
  firstToFail = nth;
  calls = 0;
  framesOfFirst = 0;
  armed = true;
}

long stopFailing() {
  armed = false;
  return calls;
}

void writeFirstFailed(int file) { ::backtrace_symbols_fd(firstFailed.data(), framesOfFirst, file); }

}  // namespace multipy::testing_support

using multipy::testing_support::Failing;
using multipy::testing_support::fails;
using multipy::testing_support::isDlcloseSafe;
using multipy::testing_support::isInDlclose;

// By glibc's own names for them: to look one up by dlsym() would take memory.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

static void* noMemory() {
  errno = ENOMEM;
  return nullptr;
}

void* malloc(std::size_t size) { return fails(Failing::Memory) ? noMemory() : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails(Failing::Memory) ? noMemory() : __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  return fails(Failing::Memory) ? noMemory() : __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return fails(Failing::Memory) ? noMemory() : __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (fails(Failing::Memory)) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

void* mmap(void* address, std::size_t size, int protection, int flags, int file, off_t offset) {
  if (fails(Failing::Pages)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(
      ::syscall(SYS_mmap, address, size, protection, flags, file, offset));
}

int mprotect(void* address, std::size_t size, int protection) {
  if (protection != PROT_NONE && fails(Failing::Pages)) {  // to give pages back needs none
    errno = ENOMEM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_mprotect, address, size, protection));
}

int dlclose(void* handle) {
  static const auto next = reinterpret_cast<decltype(&dlclose)>(::dlsym(RTLD_NEXT, "dlclose"));
  static const bool safe = isDlcloseSafe();
  isInDlclose = !safe;
  const int result = next(handle);
  isInDlclose = false;
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return fails(Failing::Threads) ? EAGAIN : next(thread, attributes, run, argument);
}

}  // extern "C"
