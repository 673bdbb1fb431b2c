#include "call.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <string>

#include "../checks.h"
#include "pool.h"

namespace multipy::soak::pool {
namespace {

using namespace std::chrono_literals;
using runtime::CallOptions;

// The loops have a core each as long as they last, so there are few of them at once. One that holds
// on longer than the pool's grace condemns its interpreter.
constexpr std::array kKinds{
    Kind{.name = "compute", .weight = 500},
    Kind{.name = "nap", .weight = 100, .mostSeconds = 0.05},
    Kind{.name = "count", .weight = 60, .mostSeconds = 0.02, .atOnce = 4},
    Kind{.name = "fail", .weight = 60, .hasAnswer = false},
    Kind{.name = "give_in", .weight = 30, .ends = false},
    Kind{.name = "hold_on", .weight = 2, .mostSeconds = 3, .atOnce = 1},
    Kind{.name = "loop", .weight = 20, .ends = false, .hasAnswer = false, .atOnce = 2},
    Kind{.name = "torch_loop", .weight = 20, .ends = false, .hasAnswer = false, .atOnce = 2},
    Kind{.name = "sleep", .weight = 40, .ends = false, .hasAnswer = false},
    Kind{.name = "lock", .weight = 20, .ends = false, .hasAnswer = false},
    Kind{.name = "get", .weight = 20, .ends = false, .hasAnswer = false},
    Kind{.name = "receive", .weight = 20, .ends = false, .hasAnswer = false},
};
constexpr std::int64_t kNumbers = 8;  // in a call's tensor

std::array<std::atomic<int>, kKinds.size()> inUse{};

std::size_t chosenKind(Random& random, Ending ending) {
  static constexpr int kAll = [] {
    int all = 0;
    for (const Kind& kind : kKinds) all += kind.weight;
    return all;
  }();
  for (;;) {
    std::int64_t left = random.number(0, kAll - 1);
    std::size_t i = 0;
    while ((left -= kKinds[i].weight) >= 0) ++i;
    const Kind& kind = kKinds[i];
    const bool fits = ending == Ending::Any || kind.ends == (ending == Ending::ByItself);
    if (fits && (kind.atOnce == 0 || inUse[i] < kind.atOnce)) return i;
  }
}

std::chrono::microseconds upTo(Random& random, std::chrono::microseconds most) {
  return std::chrono::microseconds(random.number(0, most.count()));
}

void checkAnswer(const Pool& pool, const Call& call, const at::IValue& value) {
  expect(call.kind->hasAnswer, std::string("a call of ") + call.kind->name + " has no answer");
  expect(value.isTuple() && value.toTupleRef().elements().size() == 3, "an answer of three");
  const auto& parts = value.toTupleRef().elements();
  expectEqual(parts[0].toInt(), call.id, "the id in the answer");
  const std::int64_t version = parts[1].toInt();
  expect(pool.versions.mayAnswer(version, call.made),
         "version " + std::to_string(version) + " may answer");
  expectSame(parts[2].toTensor(), call.x * static_cast<double>(version) + call.id % 1000,
             "the answer");
}

}  // namespace

KindInUse::KindInUse(std::size_t kind) : kind_(kind) { ++inUse[kind_]; }
KindInUse::~KindInUse() {
  if (kind_ != kNone) --inUse[kind_];
}

std::vector<at::IValue> Call::arguments() const { return {kind->name, id, x, seconds}; }

// --- planning

CallOptions limits(Pool& pool, Random& random, std::optional<std::stop_source>& stop,
                   bool mustEnd) {
  CallOptions options;
  const bool byStop = random.chance(40);
  const bool byDeadline = (mustEnd && !byStop) || random.chance(60);
  if (byDeadline) {
    // Some pass in line, or before that.
    const auto patience = mustEnd || random.chance(50) ? upTo(random, 200ms) : 1min;
    options.deadline = CallOptions::in(random.chance(20) ? patience / 100 : patience);
  }
  if (byStop) {
    stop.emplace();
    options.stop = stop->get_token();
    if (mustEnd || random.chance(80))
      pool.later.in(upTo(random, 200ms), [source = *stop]() mutable { source.request_stop(); });
  }
  options.priority = static_cast<runtime::CallPriority>(random.number(0, 2));
  options.alone = random.chance(10);
  options.interrupt = mustEnd || random.chance(80);
  return options;
}

Call plan(Pool& pool, Random& random, Maker maker, Ending ending) {
  const std::size_t kind = chosenKind(random, ending);
  Call call;
  call.kind = &kKinds[kind];
  call.inUse.emplace(kind);
  call.x = random.tensor({kNumbers});
  call.seconds = call.kind->mostSeconds * static_cast<double>(random.number(0, 100)) / 100;
  if (ending == Ending::Any && (!call.kind->ends || random.chance(60)))
    call.options = limits(pool, random, call.stop, !call.kind->ends);
  call.made = pool.versions.now();
  call.id = pool.ledger.open(call.kind->name, maker);
  return call;
}

// --- judging

std::optional<End> endOf(const std::exception& error, const std::optional<CallOptions>& options,
                         const std::optional<std::stop_source>& stop) {
  if (!options) return std::nullopt;
  if (const auto* late = dynamic_cast<const runtime::DeadlineExceededError*>(&error)) {
    if (!options->deadline || CallOptions::Clock::now() < *options->deadline) return std::nullopt;
    if (late->hasBegun() && !options->interrupt) return std::nullopt;
    return late->hasBegun() ? End::DeadlineRunning : End::DeadlineInLine;
  }
  if (const auto* cancelled = dynamic_cast<const runtime::CancelledError*>(&error)) {
    if (!stop || !stop->stop_requested()) return std::nullopt;
    if (cancelled->hasBegun() && !options->interrupt) return std::nullopt;
    return cancelled->hasBegun() ? End::CancelledRunning : End::CancelledInLine;
  }
  if (dynamic_cast<const runtime::QueueFullError*>(&error) &&
      options->priority == runtime::CallPriority::Low)
    return End::QueueFull;
  return std::nullopt;
}

void judge(Pool& pool, const Call& call, const runtime::CallOutcome& outcome) {
  const std::string which = "call " + std::to_string(call.id) + " of " + call.kind->name;
  End end = outcome.failed() ? End::Raised : End::Value;
  try {
    checkAnswer(pool, call, outcome.get());
  } catch (const WrongAnswer& wrong) {
    pool.faults.note("wrong answer", which + ": " + wrong.what());
  } catch (const runtime::PythonException& raised) {
    const bool isItsOwn = std::string_view(call.kind->name) == "fail" &&
                          raised.type() == "ValueError" &&
                          raised.message() == std::to_string(call.id);
    if (!isItsOwn)
      pool.faults.note("PythonException " + raised.type(), which + ": " + raised.what());
  } catch (const std::exception& error) {
    if (const auto found = endOf(error, call.options, call.stop))
      end = *found;
    else
      pool.faults.note("error that nothing led to", which + ": " + error.what());
  }
  pool.ledger.close(call.id, end);
}

}  // namespace multipy::soak::pool
