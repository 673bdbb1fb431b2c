// CPython's memory, taken from this interpreter's Heap.
#pragma once

#include <cstddef>

namespace multipy {

/// Before anything of CPython allocates: the raw domain and pymalloc's arenas
/// come from [begin, begin + size) from now on.
void adoptPythonHeap(void* begin, std::size_t size);

/// Whether `block` lies in that range, also after its release.
bool liesInPythonHeap(const void* block);

/// How many bytes of it CPython has: its blocks, and pymalloc's arenas.
std::size_t pythonHeapBytes();

/// Around a fork; nothing of CPython's memory can be had or given back between the two.
void lockPythonHeapForFork();
void unlockPythonHeapAfterFork(bool inChild);

/// After finalisation: all pages go back to the kernel.
void releasePythonHeap();

}  // namespace multipy
