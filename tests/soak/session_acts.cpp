// Sessions that are kept, nested, handed to other threads, and ended before their objects.
#include "acts.h"
#include "checks.h"
#include "multipy/runtime/stacks.h"

namespace multipy::soak {
namespace {

using runtime::HandleError;
using runtime::InterpreterSession;
using runtime::Obj;

// What another thread has left is used here, and dropped.
void kept(World& world, Random& random) {
  auto session = world.session(random);
  const std::int64_t start = random.number(0, 1000);
  Obj counter = session.global("soak_values", "Counter")({start});
  auto old = world.sessions.exchange(random.next(),
                                     KeptSession{std::move(session), std::move(counter), start});
  if (old)
    expectEqual(old->counter({1}).toIValue().toInt(), old->start + 1, "a kept object's answer");
}

void endedBeforeItsObject(World& world, Random& random) {
  Obj object;
  {
    const auto session = world.session(random);
    object = session.global("soak_values", "Counter")({1});
  }
  auto old = world.objects.exchange(random.next(), std::move(object));
  if (old) expectError<HandleError>("an object whose session has ended", [&] { (*old)({1}); });
}

// A generator goes from thread to thread: each takes a few of its numbers.
void generator(World& world, Random& random) {
  const std::size_t place = random.next();
  auto kept = world.generators.take(place);
  if (!kept || kept->next > 990) {
    auto session = world.session(random);
    Obj squares = session.global("soak_values", "squares")({1000});
    kept.emplace(KeptGenerator{std::move(session), std::move(squares)});
  }
  const Obj next = kept->generator.attr("__next__");
  for (int i = 0; i < 5; ++i, ++kept->next)
    expectEqual(next(at::ArrayRef<at::IValue>()).toIValue().toInt(), kept->next * kept->next,
                "a generator's next number");
  world.generators.exchange(place, std::move(kept));
}

void generatorToItsEnd(World& world, Random& random) {
  const auto session = world.session(random);
  const Obj next = session.global("soak_values", "squares")({2}).attr("__next__");
  const at::ArrayRef<at::IValue> nothing;
  expectEqual(next(nothing).toIValue().toInt(), 0, "the first number");
  expectEqual(next(nothing).toIValue().toInt(), 1, "the second number");
  expectRaised("StopIteration", [&] { next(nothing); });
}

void crosswise(World& world, Random& random) {
  const auto first = world.session(random), second = world.session(random);
  const Obj addFirst = first.global("soak_values", "add"),
            addSecond = second.global("soak_values", "add");
  const auto inside = first.enter();
  std::int64_t sum = random.number(0, 1000);
  const std::int64_t start = sum;
  for (int i = 0; i < 3; ++i) {
    sum = addFirst({sum, 1}).toIValue().toInt();
    const auto insideSecond = second.enter();
    sum = addSecond({sum, 1}).toIValue().toInt();
  }
  expectEqual(sum, start + 6, "the sum made by two interpreters in turns");
}

void moved(World& world, Random& random) {
  auto session = world.session(random);
  const Obj add = session.global("soak_values", "add");
  InterpreterSession other = std::move(session);
  expect(other.isOwner(add), "a session that was moved owns its objects");
  expectEqual(add({1, 2}).toIValue().toInt(), 3, "the sum");
  other = world.session(random);
  expectError<HandleError>("an object whose session was assigned to", [&] { add({1, 2}); });
}

void stacks(World& world, Random& random) {
  const auto session = world.session(random);
  runtime::StackDumpOptions options;
  options.snapshots = false;
  const auto stacks = runtime::dumpStacks(options);
  expect(stacks.size() >= world.manager().allInstances().size(), "all interpreters are listed");
  expect(!runtime::toText(stacks).empty(), "stacks have a text");
}

}  // namespace

Acts sessionActs() {
  return {
      {"sessions.kept", 15, kept},
      {"sessions.ended_before_its_object", 10, endedBeforeItsObject},
      {"sessions.generator", 10, generator},
      {"sessions.generator_to_its_end", 3, generatorToItsEnd},
      {"sessions.crosswise", 10, crosswise},
      {"sessions.moved", 5, moved},
      {"sessions.stacks", 1, stacks, 1},
  };
}

}  // namespace multipy::soak
