#include "targets.h"

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

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

class AotInductorTarget : public Target {
 public:
  AotInductorTarget(const std::string& file, const std::string& input, int runners)
      : model_(file, "model", /*run_single_threaded=*/false, runners), input_(input) {}

  void call(int thread, long number) override {
    model_.run({input_.arguments(thread, number).at(0).toTensor()});
  }

 private:
  torch::inductor::AOTIModelPackageLoader model_;
  Input input_;
};

}  // namespace

std::unique_ptr<Target> torchScriptTarget(const std::string& file, const std::string& input) {
  return std::make_unique<TorchScriptTarget>(file, input);
}

std::unique_ptr<Target> aotInductorTarget(const std::string& file, const std::string& input,
                                          int runners) {
  return std::make_unique<AotInductorTarget>(file, input, runners);
}

}  // namespace multipy::benchmark
