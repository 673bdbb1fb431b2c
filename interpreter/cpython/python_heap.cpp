#include "interpreter/cpython/python_heap.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <cstdlib>

#include "base/never_destroyed.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/cpython/heap.h"

namespace multipy {
namespace {

// The range; nothing lies in none.
uintptr_t rangeBegin;
std::size_t rangeSize;

// Never destroyed: static destructors of other private libraries may still free.
Heap& heap() { return base::neverDestroyed<Heap>(); }

void* rawMalloc(void*, std::size_t size) { return heap().allocate(size); }
void* rawCalloc(void*, std::size_t count, std::size_t size) {
  return heap().allocateZeroed(count, size);
}

// What does not lie in the range is a shared text (string_pool.h), or a block of malloc()
// from an extension that takes PyMem_RawFree() for free(), which in plain Python it is.
void* rawRealloc(void*, void* block, std::size_t size) {
  if (!block || liesInPythonHeap(block)) return heap().reallocate(block, size);
  return std::realloc(block, size ? size : 1);
}
void rawFree(void*, void* block) {
  if (!block || liesInPythonHeap(block))
    heap().free(block);
  else if (!host()->releaseText(static_cast<const char*>(block)))
    std::free(block);
}
PyMemAllocatorEx rawAllocator() { return {nullptr, rawMalloc, rawCalloc, rawRealloc, rawFree}; }
void* arenaAlloc(void*, std::size_t size) { return heap().allocateArena(size); }
void arenaFree(void*, void* arena, std::size_t size) { heap().freeArena(arena, size); }

}  // namespace

void adoptPythonHeap(void* begin, std::size_t size) {
  rangeBegin = reinterpret_cast<uintptr_t>(begin);
  rangeSize = size;
  heap().adopt(begin, size);
  PyMemAllocatorEx raw = rawAllocator();
  PyMem_SetAllocator(PYMEM_DOMAIN_RAW, &raw);
  PyObjectArenaAllocator arenas{nullptr, arenaAlloc, arenaFree};
  PyObject_SetArenaAllocator(&arenas);
}

bool liesInPythonHeap(const void* block) {
  return reinterpret_cast<uintptr_t>(block) - rangeBegin < rangeSize;
}

std::size_t pythonHeapBytes() {
  const Heap::Usage usage = heap().usage();
  return usage.blockBytes + usage.arenaSpace;
}

void releasePythonHeap() { heap().releaseAll(); }

void lockPythonHeapForFork() MULTIPY_NO_THREAD_SAFETY_ANALYSIS { heap().lockForFork(); }
void unlockPythonHeapAfterFork(bool inChild) MULTIPY_NO_THREAD_SAFETY_ANALYSIS {
  heap().unlockAfterFork(inChild);
}

}  // namespace multipy

#if PY_VERSION_HEX < 0x030E0000

// CPython's own puts malloc() and free() in the place of the raw domain's functions, while it makes
// or frees some things of its own, at the end of an interpreter too. Then a thread that is ending
// frees its state, without the GIL: a block of ours, which free() does not know. So the default is
// what is ours.

extern "C" {

int __real__PzMem_SetDefaultAllocator(PyMemAllocatorDomain, PyMemAllocatorEx*);

int __wrap__PzMem_SetDefaultAllocator(PyMemAllocatorDomain domain, PyMemAllocatorEx* old) {
  using namespace multipy;
  if (domain != PYMEM_DOMAIN_RAW || rangeSize == 0)
    return __real__PzMem_SetDefaultAllocator(domain, old);
  PyMemAllocatorEx now;
  PyMem_GetAllocator(domain, &now);
  if (old) *old = now;
  PyMemAllocatorEx raw = rawAllocator();
  if (now.free != raw.free) PyMem_SetAllocator(domain, &raw);
  return 0;
}

}  // extern "C"

#endif
