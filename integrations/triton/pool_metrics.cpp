#include "integrations/triton/pool_metrics.h"

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "integrations/triton/errors.h"
#include "integrations/triton/metrics.h"

namespace multipy::triton {
namespace {

/// What the page says of a metric before its samples.
struct Family {
  std::string name, help, type;
};

/// A line of the page.
struct Sample {
  std::string name;
  Metric::Labels labels;
  double value = 0;
};

/// The word at the beginning, which is taken away together with what ends it.
std::string takeWord(std::string_view& text, char end) {
  const std::size_t size = text.find(end);
  const std::string word(text.substr(0, size));
  text.remove_prefix(size == text.npos ? text.size() : size + 1);
  return word;
}

/// What stands between the quotes, the first of which has been taken away.
std::string takeQuoted(std::string_view& text) {
  std::string out;
  while (!text.empty() && text.front() != '"') {
    if (text.front() == '\\' && text.size() > 1) {
      text.remove_prefix(1);
      out += text.front() == 'n' ? '\n' : text.front();
    } else {
      out += text.front();
    }
    text.remove_prefix(1);
  }
  if (!text.empty()) text.remove_prefix(1);
  return out;
}

Sample sampleOf(std::string_view line) {
  Sample sample;
  sample.name = takeWord(line, '{');
  while (!line.empty() && line.front() != '}') {
    std::string key = takeWord(line, '=');
    line.remove_prefix(1);
    sample.labels.emplace_back(std::move(key), takeQuoted(line));
    if (!line.empty() && line.front() == ',') line.remove_prefix(1);
  }
  line.remove_prefix(line.size() < 2 ? line.size() : 2);
  std::from_chars(line.data(), line.data() + line.size(), sample.value);
  return sample;
}

/// Calls `use(family, sample)` for each line of the page.
template <typename Use>
void readPage(std::string_view page, const Use& use) {
  Family family;
  while (!page.empty()) {
    std::string line = takeWord(page, '\n');
    std::string_view rest = line;
    if (line.rfind("# HELP ", 0) == 0) {
      rest.remove_prefix(7);
      family.name = takeWord(rest, ' ');
      family.help = rest;
    } else if (line.rfind("# TYPE ", 0) == 0) {
      rest.remove_prefix(7 + family.name.size() + 1);
      family.type = rest;
    } else {
      use(family, sampleOf(rest));
    }
  }
}

/// The one of this name: the server knows one of each, and ends it with the last of its metrics.
std::shared_ptr<MetricFamily> familyNamed(TRITONSERVER_MetricKind kind, const std::string& name,
                                          const std::string& help) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<MetricFamily>> all;
  const std::lock_guard lock(mutex);
  std::weak_ptr<MetricFamily>& known = all[name];
  if (auto family = known.lock()) return family;
  auto family = std::make_shared<MetricFamily>(kind, name, help);
  known = family;
  return family;
}

}  // namespace

/// The server's metrics of one pool. Used under the Reader's mutex.
class ShownPool::Metrics {
 public:
  Metrics(PoolLabels labels, std::function<runtime::PoolStats()> stats)
      : labels_(std::move(labels)), stats_(std::move(stats)) {}

  void update() {
    std::set<std::string> seen;
    readPage(runtime::prometheusText(stats_(), labels_.pool),
             [&](const Family& family, const Sample& sample) {
               const bool sums = family.type == "histogram";
               if (sums && sample.name.ends_with("_bucket")) return;
               const auto kind = family.type == "gauge" ? TRITONSERVER_METRIC_KIND_GAUGE
                                                        : TRITONSERVER_METRIC_KIND_COUNTER;
               seen.insert(show(kind, family.help, sample));
             });
    // (Interpreters go, and what is said of each goes with them.)
    std::erase_if(shown_, [&](const auto& each) { return !seen.contains(each.first); });
  }

 private:
  struct Shown {
    std::unique_ptr<Metric> metric;
    double value = 0;
  };

  std::string show(TRITONSERVER_MetricKind kind, const std::string& help, const Sample& sample) {
    std::string key = sample.name;
    for (const auto& [name, value] : sample.labels) key += '\0' + name + '\0' + value;
    Shown& shown = shown_[key];
    if (shown.metric == nullptr) {
      Metric::Labels labels{{"model", labels_.model}, {"version", labels_.version}};
      labels.insert(labels.end(), sample.labels.begin(), sample.labels.end());
      shown.metric = std::make_unique<Metric>(familyNamed(kind, sample.name, help), labels,
                                              std::vector<double>());
      shown.value = 0;
    }
    if (kind == TRITONSERVER_METRIC_KIND_GAUGE)
      shown.metric->set(sample.value);
    else if (sample.value > shown.value)
      shown.metric->increment(sample.value - shown.value);
    shown.value = sample.value;
    return key;
  }

  const PoolLabels labels_;
  const std::function<runtime::PoolStats()> stats_;
  std::map<std::string, Shown> shown_;
};

/// The thread. It ends with the last pool.
class ShownPool::Reader {
 public:
  static std::shared_ptr<Reader> ofAll() {
    static std::mutex mutex;
    static std::weak_ptr<Reader> only;
    const std::lock_guard lock(mutex);
    if (auto reader = only.lock()) return reader;
    auto reader = std::make_shared<Reader>();
    only = reader;
    return reader;
  }

  Reader() : thread_([this](const std::stop_token& end) { run(end); }) {}

  void add(Metrics* metrics) {
    const std::lock_guard lock(mutex_);
    all_.insert(metrics);
    update(*metrics);
  }

  void remove(Metrics* metrics) {
    const std::lock_guard lock(mutex_);
    all_.erase(metrics);
  }

 private:
  void run(const std::stop_token& end) {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    while (!end.stop_requested()) {
      for (Metrics* const each : all_) update(*each);
      changed_.wait_for(lock, end, 1s, [] { return false; });
    }
  }

  void update(Metrics& metrics) noexcept {
    try {
      metrics.update();
    } catch (...) {
      // Once, and not each second.
      if (!std::exchange(told_, true))
        logIfError(currentError().release(), "show the figures of a model's interpreters");
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<Metrics*> all_;
  bool told_ = false;
  std::jthread thread_;  // the last member: it uses the others
};

ShownPool::ShownPool(PoolLabels labels, std::function<runtime::PoolStats()> stats)
    : reader_(Reader::ofAll()),
      metrics_(std::make_unique<Metrics>(std::move(labels), std::move(stats))) {
  reader_->add(metrics_.get());
}

ShownPool::~ShownPool() { reader_->remove(metrics_.get()); }

}  // namespace multipy::triton
