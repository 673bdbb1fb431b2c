// main.cpp as one would have written it for torch::deploy: that library's header
// and names are provided too, so that its programs compile unchanged.
#include <torch/deploy.h>
#include <torch/script.h>

#include <iostream>
#include <vector>

int main(int argc, const char* argv[]) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " PACKAGE TORCHSCRIPT\n";
    return 1;
  }
  try {
    torch::deploy::InterpreterManager manager(4);
    torch::deploy::Package package = manager.loadPackage(argv[1]);
    torch::deploy::ReplicatedObj model = package.loadPickle("model", "model.pkl");

    std::vector<torch::jit::IValue> inputs;
    inputs.push_back(torch::rand({1, 3, 224, 224}));
    at::Tensor output = model(inputs).toTensor();

    at::Tensor expected = torch::jit::load(argv[2]).forward(inputs).toTensor();
    std::cout << "class " << output.argmax().item<int64_t>() << '\n';
    if (!torch::allclose(output, expected, 1e-4, 1e-5)) {
      std::cerr << "02_package_ancestor: the answers differ\n";
      return 1;
    }
  } catch (const std::exception& error) {
    std::cerr << "02_package_ancestor: " << error.what() << '\n';
    return 1;
  }
}
