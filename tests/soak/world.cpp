#include "world.h"

#include <ATen/Functions.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace multipy::soak {
namespace {

using runtime::InterpreterManager;
using runtime::InterpreterManagerOptions;

constexpr std::array kModules{"soak_autograd", "soak_errors",  "soak_library",
                              "soak_tensors",  "soak_threads", "soak_values"};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string() + ", a module of the soak");
  return {std::istreambuf_iterator<char>(file), {}};
}

InterpreterManagerOptions managerOptions(PrintedLines& printed) {
  InterpreterManagerOptions options;
  options.interpreters.output = [&printed](int, runtime::OutputStream stream,
                                           std::string_view line) { printed.add(stream, line); };
  return options;
}

constexpr std::array<std::int64_t, 4> kWidths{32, 64, 64, 10};  // as in make_packages.py

}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)), manager_(options_.interpreters, managerOptions(printed)) {
  registerModules(manager_);
}

void World::registerModules(InterpreterManager& manager) const {
  for (const std::string name : kModules)
    manager.registerModuleSource(name, read(options_.modules / (name + ".py")));
}

runtime::InterpreterSession World::session(Random& random) {
  return random.chance(50) ? manager_.acquireOne() : interpreter(random).acquireSession();
}

const runtime::Interpreter& World::interpreter(Random& random) const {
  const auto instances = manager_.allInstances();
  return instances[random.next() % instances.size()];
}

const runtime::Package& World::package() {
  std::call_once(packageOnce_, [&] { package_ = manager_.loadPackage(packagePath("soak.pt")); });
  return *package_;
}

const runtime::ReplicatedObj& World::model() {
  std::call_once(modelOnce_, [&] { model_ = package().loadPickle("model", "model.pkl"); });
  return model_;
}

at::Tensor modelAnswer(at::Tensor x) {
  for (std::size_t layer = 0; layer + 1 < kWidths.size(); ++layer) {
    const std::int64_t inputs = kWidths[layer], outputs = kWidths[layer + 1];
    const at::Tensor weight =
        at::arange(outputs * inputs).remainder(13).sub(6).div(64).reshape({outputs, inputs});
    const at::Tensor bias = at::arange(outputs).remainder(5).sub(2).div(8);
    x = at::relu(at::linear(x, weight, bias));
  }
  return x;
}

}  // namespace multipy::soak
