#include "commands.h"

#include <multipy/runtime/deploy.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <stdexcept>
#include <utility>

#include "measure.h"

namespace multipy::benchmark {

struct Model {
  runtime::ReplicatedObj object;
  Input input;
};

struct ScriptedModel {
  torch::jit::Module module;
  Input input;
};

namespace {

/// Nanoseconds of one call, over as many as fit into `seconds`, on a thread of
/// its own. The clock is asked every thousand calls.
double nanosecondsPerCall(double seconds, const std::function<void()>& thousandCalls) {
  double nanoseconds = 0;
  together(1, [&](int) {
    thousandCalls();  // warm
    const Stopwatch stopwatch;
    long calls = 0;
    do {
      thousandCalls();
      calls += 1000;
    } while (stopwatch.seconds() < seconds);
    nanoseconds = stopwatch.seconds() * 1e9 / static_cast<double>(calls);
  });
  return nanoseconds;
}

}  // namespace

Commands::Commands(std::string loops) : loops_(std::move(loops)) {}
Commands::~Commands() = default;

Model& Commands::model(const std::string& name) {
  const auto found = models_.find(name);
  if (found == models_.end()) throw std::runtime_error("no model is loaded as " + name);
  return *found->second;
}

double Commands::newManager(int interpreters) {
  models_.clear();
  manager_.reset();
  const Stopwatch stopwatch;
  manager_ = std::make_unique<runtime::InterpreterManager>(interpreters);
  manager_->registerModuleSource("python_loops", loops_);
  return stopwatch.seconds();
}

double Commands::load(const std::string& name, const std::string& package, const std::string& input,
                      bool everywhere) {
  if (!manager_) throw std::runtime_error("load before manager");
  const Stopwatch stopwatch;
  auto object = manager_->loadPackage(package).loadPickle("model", "model.pkl");
  models_[name] = std::make_unique<Model>(Model{std::move(object), Input(input)});
  if (everywhere)
    together(static_cast<int>(manager_->allInstances().size()), [&](int i) { bring(name, i); });
  return stopwatch.seconds();
}

double Commands::bring(const std::string& name, int interpreter) {
  const Stopwatch stopwatch;
  const Model& model = this->model(name);
  auto session = model.object.acquireSession(&manager_->allInstances()[interpreter]);
  session.self(model.input.arguments(0, 0)).toIValue();
  return stopwatch.seconds();
}

double Commands::measureThroughput(const std::string& name, int interpreters, int threads,
                                   double seconds) {
  const Model& model = this->model(name);
  manager_->debugLimitInterpreters(interpreters);
  const double rate = throughput(threads, seconds, [&](int thread, long number) {
    model.object(model.input.arguments(thread, number));
  });
  manager_->debugLimitInterpreters(manager_->allInstances().size());
  return rate;
}

double Commands::call(const std::string& name, double seconds) {
  const Model& model = this->model(name);
  const auto& arguments = model.input.arguments(0, 0);
  return nanosecondsPerCall(seconds, [&] {
    for (int i = 0; i < 1000; ++i) model.object(arguments);
  });
}

double Commands::callInSession(const std::string& name, double seconds) {
  const Model& model = this->model(name);
  const auto& arguments = model.input.arguments(0, 0);
  auto session = model.object.acquireSession();
  return nanosecondsPerCall(seconds, [&] {
    for (int i = 0; i < 1000; ++i) session.self(arguments).toIValue();
  });
}

double Commands::callInside(const std::string& name, double seconds) {
  const Model& model = this->model(name);
  double nanoseconds = 0;
  together(1, [&](int) {
    auto session = model.object.acquireSession();
    auto loop = session.global("python_loops", "nanoseconds_per_call");
    const std::vector<runtime::Obj> arguments = {session.self,
                                                 session.fromIValue(model.input.arguments(0, 0)[0]),
                                                 session.fromIValue(seconds)};
    nanoseconds = loop(arguments).toIValue().toDouble();
  });
  return nanoseconds;
}

double Commands::loadScript(const std::string& name, const std::string& file,
                            const std::string& input) {
  const Stopwatch stopwatch;
  scripts_[name] =
      std::make_unique<ScriptedModel>(ScriptedModel{torch::jit::load(file), Input(input)});
  return stopwatch.seconds();
}

double Commands::scriptThroughput(const std::string& name, int threads, double seconds) {
  const auto found = scripts_.find(name);
  if (found == scripts_.end()) throw std::runtime_error("no script is loaded as " + name);
  ScriptedModel& script = *found->second;
  return throughput(threads, seconds, [&](int thread, long number) {
    script.module.forward(script.input.arguments(thread, number));
  });
}

double Commands::extra() {
  const Stopwatch stopwatch;
  extras_.emplace_back(std::make_shared<runtime::NoopEnvironment>());
  auto session = extras_.back().acquireSession();
  session.global("builtins", "abs")({-1}).toIValue();
  return stopwatch.seconds();
}

double Commands::extraTorch() {
  if (extras_.empty()) throw std::runtime_error("extra_torch before extra");
  const Stopwatch stopwatch;
  auto session = extras_.back().acquireSession();
  session.global("torch", "ones")({8}).attr("sum")({}).toIValue();
  return stopwatch.seconds();
}

double Commands::collect() {
  if (extras_.empty()) throw std::runtime_error("collect before extra");
  const Stopwatch stopwatch;
  auto session = extras_.back().acquireSession();
  session.global("gc", "collect")({}).toIValue();
  return stopwatch.seconds();
}

double Commands::run(const std::vector<std::string>& words) {
  const auto word = [&](std::size_t i) -> const std::string& { return words.at(i); };
  const auto whole = [&](std::size_t i) { return std::stoi(words.at(i)); };
  const auto number = [&](std::size_t i) { return std::stod(words.at(i)); };
  const std::string& command = word(0);
  if (command == "manager") return newManager(whole(1));
  if (command == "load") return load(word(1), word(2), word(3), true);
  if (command == "lazily") return load(word(1), word(2), word(3), false);
  if (command == "bring") return bring(word(1), whole(2));
  if (command == "throughput") return measureThroughput(word(1), whole(2), whole(3), number(4));
  if (command == "call") return call(word(1), number(2));
  if (command == "call_session") return callInSession(word(1), number(2));
  if (command == "call_inside") return callInside(word(1), number(2));
  if (command == "torchscript") return loadScript(word(1), word(2), word(3));
  if (command == "torchscript_throughput") return scriptThroughput(word(1), whole(2), number(3));
  if (command == "extra") return extra();
  if (command == "extra_torch") return extraTorch();
  if (command == "collect") return collect();
  throw std::runtime_error("unknown command: " + command);
}

}  // namespace multipy::benchmark
