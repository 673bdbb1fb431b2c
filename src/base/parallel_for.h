// The same work for 0 ... n-1, on as many threads as there are cores.
#pragma once

#include <cstddef>
#include <functional>

namespace multipy::base {

/// Returns when all is done. If some throw, the first to do so is rethrown then;
/// what has not begun by then is not begun. Where no thread is to be had, or no memory for
/// one, the calling thread does what others would have done: it needs neither.
void parallelFor(std::size_t n, const std::function<void(std::size_t)>& work);

}  // namespace multipy::base
