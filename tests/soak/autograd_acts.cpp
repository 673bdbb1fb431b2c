// Gradients in Python, and in C++ through Python's graphs.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "acts.h"
#include "checks.h"

namespace multipy::soak {
namespace {

void inPython(World& world, Random& random) {
  const at::Tensor x = random.tensor({4, 4});
  expectClose(call(world.session(random), "soak_autograd", "gradient_of_cube", x).toTensor(),
              x * x * 3, "the gradient of x³");
}

void hooks(World& world, Random& random) {
  const at::Tensor x = random.tensor({4, 4});
  const std::int64_t factor = random.number(1, 5);
  expectClose(call(world.session(random), "soak_autograd", "hooked_gradient", x, factor).toTensor(),
              x * 2 * factor, "the gradient that a hook has changed");
}

// C++ differentiates: the weights' gradients come to be in Python. sum((2x)³) by 2: 3 (2x)² x.
void graphInCpp(World& world, Random& random) {
  const auto session = world.session(random);
  const at::Tensor x = random.tensor({4, 4});
  const at::IValue answer = call(session, "soak_autograd", "loss_with_graph", x);
  const at::Tensor loss = answer.toListRef()[0].toTensor();
  expect(loss.requires_grad(), "the loss requires a gradient");
  const bool differentiated = random.chance(80);  // else the graph is dropped as it is
  if (differentiated) loss.backward();
  const at::IValue gradient =
      call(session, "soak_autograd", "gradient_of_weight", answer.toListRef()[1].toInt());
  expectEqual(gradient.isTensor(), differentiated, "whether there is a gradient");
  if (differentiated) expectClose(gradient.toTensor(), x * x * x * 12, "the weights' gradient");
}

// A graph of the shared model, dropped by C++ on whatever thread.
void graphOfTheModel(World& world, Random& random) {
  const at::Tensor x = random.tensor({2, 32});
  const auto session = world.model().acquireSession();
  const at::Tensor loss = session.self.attr("loss")({x}).toIValue().toTensor();
  expect(loss.requires_grad(), "the loss requires a gradient");
  expectClose(loss.detach(), modelAnswer(x).sum(), "the loss");
}

void graphOfCpp(World& world, Random& random) {
  const at::Tensor x = random.tensor({3}).requires_grad_() * 2;
  const auto error = expectError<runtime::ConversionError>(
      "a tensor with C++'s graph", [&] { call(world.session(random), "soak_values", "echo", x); });
  expectContains(error.what(), "detach", "the error");
}

void training(World& world, Random& random) {
  const at::Tensor x = random.tensor({16, 4}), y = random.tensor({16});
  constexpr int kSteps = 5;
  constexpr double kRate = 0.1;
  at::Tensor weight = at::zeros({4});
  for (int step = 0; step < kSteps; ++step)
    weight = weight - x.t().matmul(x.matmul(weight) - y) * (2 * kRate / 16);
  expectClose(
      call(world.session(random), "soak_autograd", "trained", x, y, kSteps, kRate).toTensor(),
      weight.reshape({1, 4}), "the trained weights");
}

void transforms(World& world, Random& random) {
  const at::Tensor x = random.tensor({3, 4});
  expectClose(call(world.session(random), "soak_autograd", "transformed", x).toTensor(), x * x * 3,
              "the gradient by vmap");
}

}  // namespace

Acts autogradActs() {
  return {
      {"autograd.in_python", 10, inPython},
      {"autograd.hooks", 5, hooks},
      {"autograd.graph_in_cpp", 10, graphInCpp},
      {"autograd.graph_of_the_model", 10, graphOfTheModel},
      {"autograd.graph_of_cpp", 3, graphOfCpp},
      {"autograd.training", 3, training},
      {"autograd.transforms", 3, transforms},
  };
}

}  // namespace multipy::soak
