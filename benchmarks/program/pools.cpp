#include "pools.h"

#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_options.h>
#include <multipy/runtime/noop_environment.h>
#include <multipy/runtime/package.h>
#include <multipy/runtime/replicated_obj.h>

#include <functional>
#include <stdexcept>
#include <utility>

#include "input.h"
#include "measure.h"

namespace multipy::benchmark {
namespace {

// Of its own, as nanosecondsEach() has one.
double onAThread(const std::function<double()>& measure) {
  double result = 0;
  together(1, [&](int) { result = measure(); });
  return result;
}

}  // namespace

struct Pool::Model : Target {
  Model(runtime::ReplicatedObj o, const std::string& inputKind)
      : object(std::move(o)), input(inputKind) {}

  void call(int thread, long number) override { object(input.arguments(thread, number)); }

  runtime::ReplicatedObj object;
  Input input;
};

Pool::Pool(int interpreters, const std::string& loops)
    : manager_(std::make_unique<runtime::InterpreterManager>(interpreters)) {
  manager_->registerModuleSource("python_loops", loops);
}

Pool::~Pool() = default;

Pool::Model& Pool::model(const std::string& name) {
  const auto found = models_.find(name);
  if (found == models_.end()) throw std::runtime_error("no model is loaded as " + name);
  return *found->second;
}

Target& Pool::target(const std::string& name) { return model(name); }

void Pool::importTorch() {
  const auto interpreters = manager_->allInstances();
  together(static_cast<int>(interpreters.size()), [&](int i) {
    auto session = interpreters[i].acquireSession();
    session.global("torch", "ones")({8}).attr("sum")({}).toIValue();
  });
}

void Pool::load(const std::string& name, const std::string& package, const std::string& input) {
  auto object = manager_->loadPackage(package).loadPickle("model", "model.pkl");
  models_[name] = std::make_unique<Model>(std::move(object), input);
}

void Pool::bring(const std::string& name, int interpreter) {
  const Model& model = this->model(name);
  auto session = model.object.acquireSession(&manager_->allInstances()[interpreter]);
  session.self(model.input.arguments(0, 0)).toIValue();
}

void Pool::bringEverywhere(const std::string& name) {
  together(static_cast<int>(manager_->allInstances().size()), [&](int i) { bring(name, i); });
}

void Pool::limit(int interpreters) { manager_->debugLimitInterpreters(interpreters); }

double Pool::call(const std::string& name, double seconds) {
  const Model& model = this->model(name);
  const auto& arguments = model.input.arguments(0, 0);
  return nanosecondsEach(seconds, [&] {
    for (int i = 0; i < 1000; ++i) model.object(arguments);
  });
}

double Pool::callInSession(const std::string& name, double seconds) {
  const Model& model = this->model(name);
  const auto& arguments = model.input.arguments(0, 0);
  auto session = model.object.acquireSession();
  return nanosecondsEach(seconds, [&] {
    for (int i = 0; i < 1000; ++i) session.self(arguments).toIValue();
  });
}

double Pool::callInside(const std::string& name, double seconds) {
  const Model& model = this->model(name);
  return onAThread([&] {
    auto session = model.object.acquireSession();
    auto loop = session.global("python_loops", "nanoseconds_per_call");
    const std::vector<runtime::Obj> arguments = {session.self,
                                                 session.fromIValue(model.input.arguments(0, 0)[0]),
                                                 session.fromIValue(seconds)};
    return loop(arguments).toIValue().toDouble();
  });
}

double Pool::pyperformance(const std::string& folder, const std::string& name, double seconds) {
  return onAThread([&] {
    auto session = manager_->acquireOne();
    auto run = session.global("python_loops", "pyperformance_nanoseconds");
    return run({folder, name, seconds}).toIValue().toDouble();
  });
}

double Pool::session(int threads, double seconds, bool entering) {
  return nanosecondsEach(threads, seconds, [&] {
    for (int i = 0; i < 1000; ++i) {
      auto session = manager_->acquireOne();
      if (entering) auto inside = session.enter();
    }
  });
}

Extras::Extras() = default;
Extras::~Extras() = default;

runtime::Interpreter& Extras::last() {
  if (interpreters_.empty()) throw std::runtime_error("no interpreter has been started");
  return interpreters_.back();
}

double Extras::start(bool slimTorch) {
  runtime::InterpreterOptions options;
  options.slimTorch = slimTorch;
  const Stopwatch stopwatch;
  interpreters_.emplace_back(std::make_shared<runtime::NoopEnvironment>(), options);
  auto session = last().acquireSession();
  session.global("builtins", "abs")({-1}).toIValue();
  return stopwatch.seconds();
}

double Extras::importTorch() {
  const Stopwatch stopwatch;
  auto session = last().acquireSession();
  session.global("torch", "ones")({8}).attr("sum")({}).toIValue();
  return stopwatch.seconds();
}

double Extras::collect() {
  const Stopwatch stopwatch;
  auto session = last().acquireSession();
  session.global("gc", "collect")({}).toIValue();
  return stopwatch.seconds();
}

double Extras::call(const std::string& folder, const std::string& module,
                    const std::string& function, const std::string& argument) {
  const Stopwatch stopwatch;
  auto session = last().acquireSession();
  session.global("sys", "path").attr("append")({folder});
  session.global(module.c_str(), function.c_str())({argument});
  return stopwatch.seconds();
}

}  // namespace multipy::benchmark
