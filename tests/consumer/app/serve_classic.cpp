// A program written for torch::deploy: the same header, the same names.
#include <torch/deploy.h>

#include <iostream>

int main() {
  torch::deploy::InterpreterManager manager(1);
  auto session = manager.acquireOne();
  const auto ones =
      session.global("torch", "ones")({c10::IValue(static_cast<int64_t>(3))}).toIValue().toTensor();
  if (ones.numel() != 3 || ones.sum().item<double>() != 3.0) {
    std::cerr << "expected three ones, got " << ones.numel() << " elements\n";
    return 1;
  }
  std::cout << "three ones\n";
}
