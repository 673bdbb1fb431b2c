#include "commands.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "handoff.h"
#include "loads.h"
#include "measure.h"

namespace multipy::benchmark {
namespace {

int whole(const std::string& word) { return std::stoi(word); }
double number(const std::string& word) { return std::stod(word); }

constexpr int kAnyNumber = -1;

}  // namespace

struct Commands::Command {
  int words;  // of the line, the command's own included
  /// One of the two: what is answered with the seconds that it took, or with numbers.
  void (Commands::*timed)(const Words&);
  Numbers (Commands::*measured)(const Words&);
};

Commands::Commands(std::string loops) : loops_(std::move(loops)) {}

const std::map<std::string, Commands::Command>& Commands::all() {
  static const std::map<std::string, Command> commands = {
      {"pool", {3, &Commands::startPool, nullptr}},
      {"drop", {2, &Commands::dropPool, nullptr}},
      {"torch", {2, &Commands::importTorch, nullptr}},
      {"load", {5, &Commands::load, nullptr}},
      {"lazily", {5, &Commands::loadLazily, nullptr}},
      {"bring", {4, &Commands::bring, nullptr}},
      {"torchscript", {4, &Commands::loadTorchScript, nullptr}},
      {"aotinductor", {5, &Commands::loadAotInductor, nullptr}},
      {"ring", {kAnyNumber, &Commands::startRing, nullptr}},
      {"limit", {3, nullptr, &Commands::limit}},
      {"throughput", {4, nullptr, &Commands::throughput}},
      {"open", {7, nullptr, &Commands::open}},
      {"mix", {9, nullptr, &Commands::mix}},
      {"call", {4, nullptr, &Commands::call}},
      {"call_session", {4, nullptr, &Commands::call}},
      {"call_inside", {4, nullptr, &Commands::call}},
      {"pyperformance", {5, nullptr, &Commands::pyperformance}},
      {"session", {4, nullptr, &Commands::session}},
      {"entered", {4, nullptr, &Commands::session}},
      {"handoff", {4, nullptr, &Commands::handoff}},
      {"detach", {2, nullptr, &Commands::detach}},
      {"extra", {1, nullptr, &Commands::extra}},
      {"extra_whole", {1, nullptr, &Commands::extra}},
      {"extra_torch", {1, nullptr, &Commands::extra}},
      {"collect", {1, nullptr, &Commands::extra}},
      {"extra_call", {5, nullptr, &Commands::extra}},
  };
  return commands;
}

Commands::Numbers Commands::run(const Words& words) {
  const auto found = all().find(words.at(0));
  if (found == all().end()) throw std::runtime_error("unknown command: " + words[0]);
  const Command& command = found->second;
  if (command.words != kAnyNumber && static_cast<int>(words.size()) != command.words)
    throw std::runtime_error(words[0] + " wants " + std::to_string(command.words - 1) +
                             " words, not " + std::to_string(words.size() - 1));
  if (command.measured) return (this->*command.measured)(words);
  const Stopwatch stopwatch;
  (this->*command.timed)(words);
  return {stopwatch.seconds()};
}

Pool& Commands::pool(const std::string& name) {
  const auto found = pools_.find(name);
  if (found == pools_.end()) throw std::runtime_error("there is no pool " + name);
  return *found->second;
}

Target& Commands::target(const std::string& name) {
  if (const auto found = compiled_.find(name); found != compiled_.end()) return *found->second;
  const auto slash = name.find('/');
  const std::string strategy = name.substr(0, slash);
  const std::string model = slash == std::string::npos ? "" : name.substr(slash + 1);
  if (strategy == "ring" && ring_) return ring_->target(model);
  return pool(strategy).target(model);
}

void Commands::startPool(const Words& words) {
  pools_.erase(words[1]);
  pools_[words[1]] = std::make_unique<Pool>(whole(words[2]), loops_);
}

void Commands::dropPool(const Words& words) { pools_.erase(words[1]); }

void Commands::importTorch(const Words& words) { pool(words[1]).importTorch(); }

void Commands::load(const Words& words) {
  loadLazily(words);
  pool(words[1]).bringEverywhere(words[2]);
}

void Commands::loadLazily(const Words& words) { pool(words[1]).load(words[2], words[3], words[4]); }

void Commands::bring(const Words& words) { pool(words[1]).bring(words[2], whole(words[3])); }

void Commands::loadTorchScript(const Words& words) {
  compiled_["torchscript/" + words[1]] = torchScriptTarget(words[2], words[3]);
}

void Commands::loadAotInductor(const Words& words) {
  compiled_["aotinductor/" + words[1]] = aotInductorTarget(words[2], words[3], whole(words[4]));
}

void Commands::startRing(const Words& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  if (words.size() < 3 || end == words.end() || (words.end() - end - 1) % 3 != 0)
    throw std::runtime_error("ring wants N WORDS... -- (MODEL PACKAGE INPUT)...");
  std::vector<RingPool::Model> models;
  for (auto word = end + 1; word != words.end(); word += 3)
    models.push_back({word[0], word[1], word[2]});
  ring_.reset();
  ring_ = std::make_unique<RingPool>(whole(words[1]), Words(words.begin() + 2, end), models);
}

Commands::Numbers Commands::limit(const Words& words) {
  if (words[1] == "ring" && ring_)
    ring_->limit(whole(words[2]));
  else
    pool(words[1]).limit(whole(words[2]));
  return {0};
}

Commands::Numbers Commands::throughput(const Words& words) {
  return {benchmark::throughput(target(words[1]), whole(words[2]), number(words[3]))};
}

Commands::Numbers Commands::open(const Words& words) {
  const auto times = serve(
      {Stream{target(words[1]), whole(words[2]),
              arrivals(number(words[3]), number(words[4]), whole(words[5]), whole(words[6]))}});
  Numbers answer;
  for (const auto& values : {times[0].queueing, times[0].compute, times[0].latency}) {
    const auto some = percentiles(values);
    answer.insert(answer.end(), some.begin(), some.end());
  }
  answer.push_back(static_cast<double>(times[0].latency.size()));
  return answer;
}

Commands::Numbers Commands::mix(const Words& words) {
  const double seconds = number(words[7]);
  const int seed = whole(words[8]);
  const auto times = serve(
      {Stream{target(words[1]), whole(words[2]), arrivals(number(words[3]), seconds, 1, seed)},
       Stream{target(words[4]), whole(words[5]),
              arrivals(number(words[6]), seconds, 1, seed + 1)}});
  Numbers answer;
  for (const Times& stream : times) {
    const auto some = percentiles(stream.latency);
    answer.insert(answer.end(), some.begin(), some.end());
  }
  return answer;
}

Commands::Numbers Commands::call(const Words& words) {
  Pool& pool = this->pool(words[1]);
  if (words[0] == "call") return {pool.call(words[2], number(words[3]))};
  if (words[0] == "call_session") return {pool.callInSession(words[2], number(words[3]))};
  return {pool.callInside(words[2], number(words[3]))};
}

Commands::Numbers Commands::pyperformance(const Words& words) {
  return {pool(words[1]).pyperformance(words[2], words[3], number(words[4]))};
}

Commands::Numbers Commands::session(const Words& words) {
  const bool entering = words[0] == "entered";
  return {pool(words[1]).session(whole(words[2]), number(words[3]), entering)};
}

Commands::Numbers Commands::handoff(const Words& words) {
  return {benchmark::handoff(whole(words[1]), whole(words[2]), number(words[3]))};
}

Commands::Numbers Commands::detach(const Words& words) {
  return {benchmark::detach(number(words[1]))};
}

Commands::Numbers Commands::extra(const Words& words) {
  if (words[0] == "extra") return {extras_.start(true)};
  if (words[0] == "extra_whole") return {extras_.start(false)};
  if (words[0] == "extra_torch") return {extras_.importTorch()};
  if (words[0] == "extra_call") return {extras_.call(words[1], words[2], words[3], words[4])};
  return {extras_.collect()};
}

}  // namespace multipy::benchmark
