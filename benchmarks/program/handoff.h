// What sessions and crossings are compared with.
#pragma once

namespace multipy::benchmark {

/// Nanoseconds for one of `threads` threads to take one of `places` (waiting if all
/// are taken) and to give it back: a free list under a mutex, and a futex on which
/// those wait who found none. The least that a pool can do whose places are exclusive.
double handoff(int threads, int places, double seconds);

/// Nanoseconds of x.detach() in C++: a fresh TensorImpl over the same bytes.
double detach(double seconds);

}  // namespace multipy::benchmark
