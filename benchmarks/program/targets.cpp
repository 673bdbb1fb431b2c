#include "targets.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)  // from torch 2.5 on
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#define MULTIPY_BENCHMARK_HAS_AOTI_PACKAGES 1
#endif

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "input.h"

namespace multipy::benchmark {
namespace {

class TorchScriptTarget : public Target {
 public:
  TorchScriptTarget(const std::string& file, const std::string& input)
      : module_(torch::jit::load(file)), input_(input) {}

  void call(int thread, long number) override { module_.forward(input_.arguments(thread, number)); }

 private:
  torch::jit::Module module_;
  Input input_;
};

#ifdef MULTIPY_BENCHMARK_HAS_AOTI_PACKAGES
/// A package in which so many calls can run at once. Up to 2.6, torch gives a package one
/// runner: there it is opened once for each, constants and all.
template <typename Package>
std::vector<std::unique_ptr<Package>> openPackage(const std::string& file, int runners) {
  std::vector<std::unique_ptr<Package>> opened;
  if constexpr (std::is_constructible_v<Package, const std::string&, const char*, bool, int>) {
    opened.push_back(
        std::make_unique<Package>(file, "model", /*run_single_threaded=*/false, runners));
  } else {
    for (int i = 0; i < runners; ++i) opened.push_back(std::make_unique<Package>(file));
  }
  return opened;
}

class AotInductorTarget : public Target {
 public:
  AotInductorTarget(const std::string& file, const std::string& input, int runners)
      : opened_(openPackage<torch::inductor::AOTIModelPackageLoader>(file, runners)),
        input_(input) {}

  void call(int thread, long number) override {
    auto& package = *opened_[static_cast<std::size_t>(thread) % opened_.size()];
    package.run({input_.arguments(thread, number).at(0).toTensor()});
  }

 private:
  std::vector<std::unique_ptr<torch::inductor::AOTIModelPackageLoader>> opened_;
  Input input_;
};
#endif

}  // namespace

std::unique_ptr<Target> torchScriptTarget(const std::string& file, const std::string& input) {
  return std::make_unique<TorchScriptTarget>(file, input);
}

std::unique_ptr<Target> aotInductorTarget(const std::string& file, const std::string& input,
                                          int runners) {
#ifdef MULTIPY_BENCHMARK_HAS_AOTI_PACKAGES
  return std::make_unique<AotInductorTarget>(file, input, runners);
#else
  throw std::runtime_error("cannot open " + file + " with " + input + " for " +
                           std::to_string(runners) +
                           " runners: this torch has no AOTIModelPackageLoader; torch 2.5 has");
#endif
}

}  // namespace multipy::benchmark
