// For loops that wait for another core.
#pragma once

namespace multipy::base {

/// Tells the processor that this loop only waits.
inline void cpuPause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace multipy::base
