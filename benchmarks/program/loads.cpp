#include "loads.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>

#include "measure.h"

namespace multipy::benchmark {
namespace {

constexpr int kWarmUpCalls = 3;
constexpr double kLead = 0.01;  // seconds between the start of an open load and its time 0

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void sleepUntil(double when) {
  timespec time;
  time.tv_sec = static_cast<time_t>(when);
  time.tv_nsec = static_cast<long>((when - static_cast<double>(time.tv_sec)) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

/// One stream while it is being served.
struct Serving {
  const Stream& stream;
  std::atomic<std::size_t> next{0};
  std::vector<double> begun, ended;

  explicit Serving(const Stream& s)
      : stream(s), begun(s.arrivals.size()), ended(s.arrivals.size()) {}

  void run(int thread, double zero) {
    for (std::size_t i; (i = next++) < stream.arrivals.size();) {
      sleepUntil(zero + stream.arrivals[i]);
      begun[i] = now() - zero;
      stream.target.call(thread, static_cast<long>(i) + kWarmUpCalls);
      ended[i] = now() - zero;
    }
  }

  Times times() const {
    Times result;
    for (std::size_t i = 0; i < begun.size(); ++i) {
      result.queueing.push_back((begun[i] - stream.arrivals[i]) * 1e6);
      result.compute.push_back((ended[i] - begun[i]) * 1e6);
      result.latency.push_back((ended[i] - stream.arrivals[i]) * 1e6);
    }
    return result;
  }
};

}  // namespace

double throughput(Target& target, int threads, double seconds) {
  std::barrier<> warm(threads + 1);
  std::atomic<bool> stop = false;
  std::vector<double> rates(threads);
  const auto timekeeper = [&] {
    warm.arrive_and_wait();
    for (const Stopwatch stopwatch; !stop && stopwatch.seconds() < seconds;)
      sleepUntil(now() + std::min(seconds, 0.05));
    stop = true;
  };
  const auto caller = [&](int thread) {
    long number = 0;
    std::exception_ptr failure;
    try {
      while (number < kWarmUpCalls) target.call(thread, number++);
    } catch (...) {
      failure = std::current_exception();
      stop = true;
    }
    warm.arrive_and_wait();
    if (failure) std::rethrow_exception(failure);
    // Each thread's own time, to the end of its last call: the same for slow models, of
    // which a call more or less would be a tenth of the result. All stop together: one
    // that went on alone would have the workers to itself.
    long done = 0;
    const Stopwatch stopwatch;
    try {
      for (; done == 0 || !stop.load(std::memory_order_relaxed); ++done)
        target.call(thread, number++);
    } catch (...) {
      stop = true;
      throw;
    }
    rates[thread] = static_cast<double>(done) / stopwatch.seconds();
  };
  together(threads + 1, [&](int thread) { thread < threads ? caller(thread) : timekeeper(); });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

std::vector<double> arrivals(double rate, double seconds, int burst, unsigned seed) {
  if (rate <= 0 || burst < 1) throw std::runtime_error("an open load needs a rate and a burst");
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> pause(rate / burst);
  std::vector<double> times;
  for (double time = pause(random); time < seconds; time += pause(random))
    times.insert(times.end(), burst, time);
  if (times.empty()) times.assign(burst, 0.0);  // a load so short that nothing was drawn
  return times;
}

std::vector<Times> serve(const std::vector<Stream>& streams) {
  std::vector<std::unique_ptr<Serving>> all;
  std::vector<std::pair<Serving*, int>> threads;  // of which stream, number in it
  for (const Stream& stream : streams) {
    all.push_back(std::make_unique<Serving>(stream));
    for (int i = 0; i < stream.threads; ++i) threads.emplace_back(all.back().get(), i);
  }
  double zero = 0;
  std::barrier warm(static_cast<std::ptrdiff_t>(threads.size()),
                    [&]() noexcept { zero = now() + kLead; });
  together(static_cast<int>(threads.size()), [&](int i) {
    const auto [serving, thread] = threads[i];
    prctl(PR_SET_TIMERSLACK, 1UL);  // else a thread may sleep 50 us too long
    std::exception_ptr failure;
    try {
      for (int call = 0; call < kWarmUpCalls; ++call) serving->stream.target.call(thread, call);
    } catch (...) {
      failure = std::current_exception();
    }
    warm.arrive_and_wait();
    if (failure) std::rethrow_exception(failure);
    serving->run(thread, zero);
  });
  std::vector<Times> result;
  for (const auto& serving : all) result.push_back(serving->times());
  return result;
}

std::vector<double> percentiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> result;
  for (double part : {0.5, 0.95, 0.99, 0.999}) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
    result.push_back(values.at(std::max<std::size_t>(rank, 1) - 1));
  }
  return result;
}

}  // namespace multipy::benchmark
