// A model saved with torch.package, loaded once and called in C++.
//
//   python export.py models && 02_package models/resnet18.pt models/resnet18.torchscript
//
// Exits with 0 if the answer is that of the TorchScript trace of the same model.
#include <multipy/runtime/deploy.h>
#include <torch/script.h>

#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s PACKAGE TORCHSCRIPT\n", argv[0]);
    return 1;
  }
  multipy::runtime::InterpreterManager manager(4);
  multipy::runtime::Package package = manager.loadPackage(argv[1]);
  multipy::runtime::ReplicatedObj model = package.loadPickle("model", "model.pkl");

  // Whether gradients are recorded is a property of the thread: Python code that
  // this thread runs obeys it too. Without it the output would come with its
  // autograd graph, which keeps all activations alive.
  at::NoGradGuard noGradients;
  at::Tensor input = at::rand({1, 3, 224, 224});
  at::Tensor output = model({input}).toTensor();

  at::Tensor expected = torch::jit::load(argv[2]).forward({input}).toTensor();
  const double difference = (output - expected).abs().max().item<double>();
  std::printf("class %ld, largest difference to TorchScript %.1e\n",
              static_cast<long>(output.argmax().item<int64_t>()), difference);
  if (!at::allclose(output, expected, 1e-4, 1e-5)) {
    std::fprintf(stderr, "02_package: the answers differ\n");
    return 1;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "02_package: %s\n", error.what());
  return 1;
}
