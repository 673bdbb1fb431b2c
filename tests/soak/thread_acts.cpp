// Threads, executors and tasks that Python code starts.
#include "acts.h"
#include "checks.h"

namespace multipy::soak {
namespace {

std::int64_t sumOfSquares(std::int64_t below) { return (below - 1) * below * (2 * below - 1) / 6; }

void throughAQueue(World& world, Random& random) {
  const std::int64_t items = random.number(1, 60);
  expectEqual(
      call(world.session(random), "soak_threads", "through_a_queue", random.number(1, 4), items)
          .toInt(),
      sumOfSquares(items), "the sum that threads made");
}

void byAPool(World& world, Random& random) {
  const std::int64_t items = random.number(1, 60);
  expectEqual(
      call(world.session(random), "soak_threads", "by_a_pool", random.number(1, 4), items).toInt(),
      sumOfSquares(items), "the sum that a pool made");
}

void byAsyncio(World& world, Random& random) {
  const std::int64_t items = random.number(1, 20);
  expectEqual(call(world.session(random), "soak_threads", "by_asyncio", items).toInt(),
              sumOfSquares(items) + items * (items - 1) / 2, "the sum that tasks made");
}

std::vector<std::int64_t> numbersBelow(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

void contexts(World& world, Random& random) {
  expectEqual(call(world.session(random), "soak_threads", "contexts", 5).toIntVector(),
              numbersBelow(5), "what contexts saw");
}

void threadLocals(World& world, Random& random) {
  expectEqual(call(world.session(random), "soak_threads", "thread_locals", 4).toIntVector(),
              numbersBelow(4), "what threads had of their own");
}

void withTorch(World& world, Random& random) {
  expectEqual(call(world.session(random), "soak_threads", "with_torch", 4).toInt(), 64 * 6,
              "the sum that torch made in threads");
}

}  // namespace

Acts threadActs() {
  return {
      {"threads.through_a_queue", 3, throughAQueue}, {"threads.by_a_pool", 3, byAPool},
      {"threads.by_asyncio", 2, byAsyncio},          {"threads.contexts", 5, contexts},
      {"threads.thread_locals", 3, threadLocals},    {"threads.with_torch", 3, withTorch},
  };
}

}  // namespace multipy::soak
