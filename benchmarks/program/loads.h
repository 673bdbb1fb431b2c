// The loads under which a target is measured.
//
// Closed: each client thread asks again as soon as it has been answered; the
// figure is the rate. Open: requests arrive when they arrive, whether or not
// earlier ones have been answered, as users do; the figures are the times.
//
// In an open load the arrivals are drawn beforehand, and a stream's client threads
// take them in order: a free thread takes the next one and sleeps until it arrives
// or, if it has arrived already, begins at once. This is a first-come-first-served
// queue with as many servers as threads, exactly, and with nothing in it that would
// itself be slow: no dispatcher, no lock. rivals/python_loops.py does the same in
// Python for the rivals that are driven from there.
#pragma once

#include <functional>
#include <vector>

#include "targets.h"

namespace multipy::benchmark {

/// Calls per second of `threads` threads together that call for `seconds`.
/// Each has made some calls, untimed, before the clock starts. An exception of
/// a call ends the measurement and is thrown here.
double throughput(Target& target, int threads, double seconds);

/// Arrival times over `seconds`, from 0 on: groups of `burst` that arrive together,
/// with exponentially distributed pauses between them, `rate` requests a second in the mean.
std::vector<double> arrivals(double rate, double seconds, int burst, unsigned seed);

struct Stream {
  Target& target;
  int threads;
  std::vector<double> arrivals;
};

/// Microseconds of each request, in no order that means anything.
struct Times {
  std::vector<double> queueing;  // from its arrival until a thread began with it
  std::vector<double> compute;   // from then to the answer
  std::vector<double> latency;   // both
};

/// Serves all streams at once; one Times for each.
std::vector<Times> serve(const std::vector<Stream>& streams);

/// p50, p95, p99 and p99.9: the least value that such a part does not exceed.
std::vector<double> percentiles(std::vector<double> values);

}  // namespace multipy::benchmark
