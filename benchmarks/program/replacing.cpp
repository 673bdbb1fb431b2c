// What it costs the calls that interpreters are replaced meanwhile.
//
//   multipy_replacing [seconds of each interval] [interpreters] [seconds between replacements]
//
// Threads that call again as soon as they were answered keep all interpreters busy. Intervals with
// and without replacements take turns, five of each, so that what else the machine does meets both.
// In the former, one interpreter after the other is replaced by a new one that has imported torch
// and called the model. Prints tables in Markdown.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/replicated_obj.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace multipy::runtime;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int kRepeats = 5;

constexpr const char* kModule = R"(
import torch

class Model:
    def __init__(self):
        layers = []
        for _ in range(8): layers += [torch.nn.Linear(64, 64), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers).eval().requires_grad_(False)

    def __call__(self, x):
        return self.layers(x)
)";

struct Interval {
  double perSecond = 0;
  std::vector<double> times;  // of calls, milliseconds, sorted
  int replaced = 0;

  double at(double part) const {
    const auto index = static_cast<std::size_t>(part * static_cast<double>(times.size()));
    return times.empty() ? 0 : times[std::min(index, times.size() - 1)];
  }
};

/// Calls from that many threads until the end.
Interval load(const ReplicatedObj& model, std::size_t threads, Clock::duration length,
              const std::atomic<int>& replaced) {
  const auto start = Clock::now(), end = start + length;
  const int before = replaced;
  std::vector<std::vector<double>> times(threads);
  {
    std::vector<std::jthread> callers;
    for (std::vector<double>& own : times)
      callers.emplace_back([&own, &model, end] {
        at::set_num_threads(1);
        const at::Tensor x = at::ones({1, 64});
        for (auto now = Clock::now(); now < end;) {
          model({x});
          const auto then = std::exchange(now, Clock::now());
          own.push_back(Milliseconds(now - then).count());
        }
      });
  }
  Interval interval{.replaced = replaced - before};
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (const auto& own : times) interval.times.insert(interval.times.end(), own.begin(), own.end());
  std::sort(interval.times.begin(), interval.times.end());
  interval.perSecond = static_cast<double>(interval.times.size()) / seconds;
  return interval;
}

class Pool {
 public:
  explicit Pool(std::size_t n) : manager_(n) {
    manager_.registerModuleSource("replacing", kModule);
    auto session = manager_.acquireOne();
    model = manager_.createMovable(session.global("replacing", "Model")({}), &session);
    manager_.setWarmUp([this](const Interpreter& interpreter) {
      model.acquireSession(&interpreter).self({at::ones({1, 64})});
    });
  }
  /// One after the other, until a stop is requested; the next one that much later, or when the one
  /// before has come about.
  void replace(const std::stop_token& stop, Clock::duration every, std::atomic<int>& replaced) {
    for (std::size_t i = 0; !stop.stop_requested(); ++i) {
      const auto next = Clock::now() + every;
      const auto all = manager_.allInstances();
      manager_.replace(all[i % all.size()].slot());
      ++replaced;
      while (!stop.stop_requested() && Clock::now() < next) std::this_thread::sleep_for(10ms);
    }
  }
  /// Until those that were replaced have gone.
  void rest() const {
    while (manager_.stats().interpreters.size() != manager_.allInstances().size())
      std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(500ms);  // while they are shut down
  }

 private:
  InterpreterManager manager_;

 public:
  ReplicatedObj model;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The median over the repeats, with the least and the greatest.
template <class Figure>
std::string over(const std::vector<Interval>& intervals, const Figure& figure,
                 const char* format = "%.2f (%.2f–%.2f)") {
  std::vector<double> values;
  for (const Interval& each : intervals) values.push_back(figure(each));
  char text[100];
  std::snprintf(text, sizeof text, format, median(values), *std::ranges::min_element(values),
                *std::ranges::max_element(values));
  return text;
}

void row(const char* what, const std::vector<Interval>& intervals) {
  int replaced = 0;
  for (const Interval& each : intervals) replaced += each.replaced;
  std::printf("| %s | %d | %s | %s | %s | %s |\n", what, replaced,
              over(
                  intervals, [](const Interval& i) { return i.perSecond; }, "%.0f (%.0f–%.0f)")
                  .c_str(),
              over(intervals, [](const Interval& i) { return i.at(0.5); }).c_str(),
              over(intervals, [](const Interval& i) { return i.at(0.99); }).c_str(),
              over(intervals, [](const Interval& i) { return i.at(1); }).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const auto seconds = [&](int which, double otherwise) {
    return std::chrono::milliseconds(
        static_cast<int>(1000 * (argc > which ? std::atof(argv[which]) : otherwise)));
  };
  const auto length = seconds(1, 10), every = seconds(3, 1);
  const std::size_t n = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 2;
  Pool pool(n);
  std::atomic<int> replaced = 0;
  load(pool.model, n, 1s, replaced);  // what is done once is not measured
  std::vector<Interval> without, with;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    pool.rest();
    without.push_back(load(pool.model, n, length, replaced));
    {
      std::jthread replacer(
          [&](const std::stop_token& stop) { pool.replace(stop, every, replaced); });
      with.push_back(load(pool.model, n, length, replaced));
    }
  }
  std::printf(
      "%zu interpreters, %zu threads, %d intervals of %lld ms each; the median "
      "(least–greatest)\n\n",
      n, n, kRepeats, static_cast<long long>(length.count()));
  std::printf(
      "| | replaced | calls/s | p50 ms | p99 ms | longest ms |\n|---|---:|---:|---:|---:|---:|\n");
  row("nothing replaced", without);
  row("one replaced after the other", with);
  const auto ratio = [&](const auto& figure) {
    std::vector<double> values;
    for (std::size_t i = 0; i < with.size(); ++i)
      values.push_back(figure(with[i]) / figure(without[i]));
    return median(values);
  };
  std::printf("| with over without, of each pair | | %.2f | %.2f | %.2f | %.2f |\n",
              ratio([](const Interval& i) { return i.perSecond; }),
              ratio([](const Interval& i) { return i.at(0.5); }),
              ratio([](const Interval& i) { return i.at(0.99); }),
              ratio([](const Interval& i) { return i.at(1); }));
  return 0;
}
