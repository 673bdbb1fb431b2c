// Objects that are made in one interpreter and used in all.
#include <ATen/Functions.h>

#include "acts.h"
#include "checks.h"

namespace multipy::soak {
namespace {

using runtime::ReplicatedObj;

void madeUsedAndDropped(World& world, Random& random) {
  const std::int64_t start = random.number(0, 1000);
  ReplicatedObj counter;
  {
    auto session = world.session(random);
    counter = session.createMovable(session.global("soak_values", "Counter")({start}));
  }
  for (int i = 0; i < 4; ++i) expectEqual(counter({i}).toInt(), start + i, "a movable's answer");
  const auto elsewhere = counter.acquireSession(&world.interpreter(random));
  expectEqual(elsewhere.self({9}).toIValue().toInt(), start + 9, "a movable's answer");
}

// The memory of its tensors is the same in all interpreters.
void tensors(World& world, Random& random) {
  const at::Tensor x = random.tensor({100, 100});
  ReplicatedObj movable;
  {
    auto session = world.session(random);
    movable = world.manager().createMovable(session.fromIValue(x), &session);
  }
  for (int i = 0; i < 2; ++i) {
    const auto session = movable.acquireSession(&world.interpreter(random));
    const at::Tensor there = session.self.toIValue().toTensor();
    expectSame(there, x, "a movable tensor");
    expectEqual(there.data_ptr(), x.data_ptr(), "the address of a movable tensor");
  }
}

void unloaded(World& world, Random& random) {
  ReplicatedObj model = world.model();
  model.unload(random.chance(80) ? &world.interpreter(random) : nullptr);
  const at::Tensor x = random.tensor({1, 32});
  expectClose(model({x}).toTensor(), modelAnswer(x), "the answer of a model that was unloaded");
}

void intoASession(World& world, Random& random) {
  auto session = world.session(random);
  const at::Tensor x = random.tensor({1, 32});
  const auto model =
      random.chance(50) ? session.fromMovable(world.model()) : world.model().toObj(&session);
  expectClose(model({x}).toIValue().toTensor(), modelAnswer(x),
              "the answer of the model in a session");
}

void notPicklable(World& world, Random& random) {
  auto session = world.session(random);
  const auto generator = session.global("soak_values", "squares")({3});
  expectRaised("TypeError", [&] { session.createMovable(generator); });
}

}  // namespace

Acts movableActs() {
  return {
      {"movables.made_used_and_dropped", 10, madeUsedAndDropped},
      {"movables.tensors", 5, tensors},
      {"movables.unloaded", 2, unloaded},
      {"movables.into_a_session", 5, intoASession},
      {"movables.not_picklable", 3, notPicklable},
  };
}

}  // namespace multipy::soak
