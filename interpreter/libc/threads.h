#pragma once

#include <cstddef>

namespace multipy {

/// How many of the threads that Python started still exist. A thread counts until
/// the kernel has removed it, since it runs code of this library to the last.
std::size_t liveThreads();

/// The same of those that private libraries started.
std::size_t libraryThreads();

/// Is the calling thread one of either?
bool startedHere() noexcept;

}  // namespace multipy
