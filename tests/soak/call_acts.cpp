// Calls of the model and of functions, by position and by name.
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include "acts.h"
#include "checks.h"

namespace multipy::soak {
namespace {

void model(World& world, Random& random) {
  const at::Tensor x = random.tensor({random.number(1, 4), 32});
  expectClose(world.model()({x}).toTensor(), modelAnswer(x), "the model's answer");
}

void modelOnManyRows(World& world, Random& random) {
  const at::Tensor x = random.tensor({512, 32});
  expectClose(world.model()({x}).toTensor(), modelAnswer(x), "the model's answer");
}

void modelByNames(World& world, Random& random) {
  const at::Tensor x = random.tensor({2, 32});
  const at::Tensor y = modelAnswer(x) * 0.5;
  expectClose(world.model().callKwargs({x}, {{"scale", 0.5}}).toTensor(), y, "the model's answer");
  expectClose(world.model().callKwargs({{"x", x}, {"scale", 0.5}}).toTensor(), y,
              "the model's answer");
}

void modelInASession(World& world, Random& random) {
  const at::Tensor x = random.tensor({2, 32});
  auto session =
      world.model().acquireSession(random.chance(50) ? &world.interpreter(random) : nullptr);
  expect(session.self.hasattr("layers"), "the model has layers");
  expect(!session.self.hasattr("soak"), "the model has no attribute soak");
  expectClose(session.self({x}).toIValue().toTensor(), modelAnswer(x), "the model's answer");
}

void function(World& world, Random& random) {
  const auto session = world.session(random);
  const std::int64_t a = random.number(-1000, 1000), b = random.number(-1000, 1000);
  expectEqual(call(session, "soak_values", "add", a, b).toInt(), a + b, "the sum");
}

void functionByNames(World& world, Random& random) {
  const auto session = world.session(random);
  const std::string text = random.text(3);
  const auto join = session.global("soak_values", "join");
  expectEqual(join.callKwargs({text}, {{"third", "!"}}).toIValue().toStringRef(), text + "-!",
              "the text");
  expectEqual(join.callKwargs({{"first", "a"}, {"second", text}}).toIValue().toStringRef(),
              "a" + text + ".", "the text");
}

// One taking of the GIL for all of it.
void functionsInside(World& world, Random& random) {
  const auto session = world.session(random);
  const auto inside = session.enter();
  const auto add = session.global("soak_values", "add");
  std::int64_t sum = 0, expected = 0;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t number = random.number(0, 1000);
    sum = add({sum, number}).toIValue().toInt();
    expected += number;
  }
  expectEqual(sum, expected, "the sum");
}

// Python objects as arguments, and methods of them.
void objects(World& world, Random& random) {
  const auto session = world.session(random);
  const std::int64_t start = random.number(0, 1000);
  const auto counter = session.global("soak_values", "Counter")({start});
  const auto same = session.global("soak_values", "echo")(at::ArrayRef<runtime::Obj>(counter));
  expectEqual(same.attr("text")(at::ArrayRef<at::IValue>()).toIValue().toStringRef(),
              "counter " + std::to_string(start), "the counter's text");
  expectEqual(same({7}).toIValue().toInt(), start + 7, "the counter's answer");
}

}  // namespace

Acts callActs() {
  return {
      {"calls.model", 40, model},
      {"calls.model_on_many_rows", 5, modelOnManyRows},
      {"calls.model_by_names", 10, modelByNames},
      {"calls.model_in_a_session", 10, modelInASession},
      {"calls.function", 20, function},
      {"calls.function_by_names", 10, functionByNames},
      {"calls.functions_inside", 10, functionsInside},
      {"calls.objects", 10, objects},
  };
}

}  // namespace multipy::soak
