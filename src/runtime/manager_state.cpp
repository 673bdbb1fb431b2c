#include "runtime/manager_state.h"

#include <algorithm>
#include <utility>

#include "base/keep_forever.h"
#include "multipy/runtime/Exception.h"
#include "process/fork_guard.h"
#include "process/interpreter_threads.h"
#include "runtime/interpreter/interruption.h"
#include "runtime/interpreter/stack_snapshot.h"
#include "runtime/interpreter/visit.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;

// One manager has as many places as a process may have interpreters.
// As many as Ownership admits.
constexpr std::size_t kPlaces = InterpreterId::program().number();

// How often a stack is taken for errors while calls wait.
constexpr std::chrono::nanoseconds kBetweenStacks = 200ms;

QueueBounds boundsOf(const PoolOptions& options) {
  return {.all = options.mostWaiting, .of = options.mostWaitingOf};
}

using std::chrono::duration_cast;
using std::chrono::milliseconds;

std::string textOf(std::chrono::nanoseconds time) {
  return std::to_string(duration_cast<milliseconds>(time).count()) + " ms";
}

/// Those of `calls` that found an interpreter at once: nothing has been written down of them.
void addUnwaited(DurationHistogram& queueTime, std::uint64_t calls) {
  const std::uint64_t waited = queueTime.total();
  if (calls > waited) queueTime.counts[0] += calls - waited;
}

/// One that the manager has a record of.
class RecordedCall final : public CallToInterrupt {
 public:
  RecordedCall(std::shared_ptr<ManagerState> of, CallId id, EndReason reason)
      : manager_(std::move(of)), id_(id), reason_(reason) {}
  std::optional<InterruptTarget> find() const noexcept override {
    const auto call = manager_->calls.find(id_);
    if (!call) return std::nullopt;
    return InterruptTarget{call->threadState, call->wakeable, call->interrupted != EndReason::None,
                           call->withThreads ? id_ : 0};
  }
  void interrupted() const noexcept override { manager_->calls.markInterrupted(id_, reason_); }

 private:
  const std::shared_ptr<ManagerState> manager_;
  const CallId id_;
  const EndReason reason_;
};

}  // namespace

ManagerState::ManagerState(InterpreterManagerOptions given, InterpreterRecipe prepared,
                           std::size_t n)
    : options(std::move(given)),
      recipe(std::move(prepared)),
      observer(options.observer),
      places(kPlaces),
      users(n, kPlaces),
      queue(users, places, boundsOf(options.pool)),
      calls(kPlaces),
      tallies(kPlaces),
      ending(timer, *this, options.pool.replacement.grace),
      queued(timer, n, options.pool.mostWaiting, options.pool.mostWaitingOf,
             [this] { return queue.waiting(); }),
      keeper(*this, n) {
  queue.whenOneWaits([this] { askForStack(); });
  users.whenDrained([this] { keeper.wake(); });
}

// Calls that are under way are waited for, and may have deadlines: the timer ends last.
void ManagerState::shutDown() noexcept {
  over_ = true;
  if (process::inForkedChild())  // where threads seem to wait for what would be destroyed
    return base::keepForever(shared_from_this());
  {
    const GilReleased outside;  // its threads may be waiting for the GIL that this one has
    keeper.stop();
    keeper.takeWarmUp();
    queue.end();  // before the threads of `queued` are waited for, which may be in line
    queued.stop();
  }
  auto& cores = places.cores;
  const auto end = std::stable_partition(cores.begin(), cores.end(),
                                         [](const auto& core) { return core != nullptr; });
  InterpreterCore::shutDown({cores.begin(), end});
  const GilReleased outside;
  timer.stop();
}

// --- figures

PoolFigures ManagerState::figures(CallId without) {
  PoolFigures figures;
  const InterpreterUsers::Counts counts = users.counts();
  figures.interpreters = counts.open;
  figures.busy = counts.busy;
  figures.waiting = queue.waiting() + queued.inLine();
  const auto call = calls.longest(users.limit(), without);
  if (!call) return figures;
  const auto core = places.coreAt(CallRecords::placeOf(call->id));
  if (!core) return figures;
  RunningCallFigures& longest = figures.longest.emplace(describe(*call, *core));
  const base::Lock lock(stackMutex_);
  if (stack_.of == call->id) longest.stack = stack_.text;
  return figures;
}

RunningCallFigures ManagerState::describe(const CallUnderWay& call,
                                          const InterpreterCore& core) const {
  return {.id = call.id,
          .interpreter = core.slot().number(),
          .model = *call.model,
          .age = duration_cast<milliseconds>(std::max(coarseNow() - call.begun, 0ns)),
          .stack = {}};
}

// How many calls were made is read before how long they waited: so none seems to have found an
// interpreter at once that did not. Who is in a place is read before its calls: those of one that
// comes meanwhile are the earlier one's then, and none is subtracted that has not been counted. If
// an interpreter leaves its place meanwhile, all is read again: what is counted in the place is not
// its own any more.
PoolStats ManagerState::stats() {
  struct InPlace {
    std::optional<PoolKeeper::Tenant> tenant;
    std::shared_ptr<InterpreterCore> core;
    std::uint64_t made = 0;
  };
  PoolStats stats;
  std::vector<InPlace> inPlaces(users.limit());
  std::uint64_t made = 0, startedOver = 0;
  CallTallies::All counted;
  do {
    startedOver = tallies.startedOver();
    made = 0;
    for (std::size_t i = 0; i < inPlaces.size(); ++i) {
      const int place = static_cast<int>(i);
      inPlaces[i] = {keeper.tenant(place), places.coreAt(place), 0};
      made += inPlaces[i].made = calls.made(place);
    }
    counted = tallies.read(inPlaces.size());
  } while (counted.startedOver != startedOver);
  CallTallies::Figures all = std::move(counted.earlier);
  stats.errorsOfRetired = all.errors;
  for (std::size_t i = 0; i < inPlaces.size(); ++i) {
    const int place = static_cast<int>(i);
    const auto& [tenant, core, madeHere] = inPlaces[i];
    CallTallies::Figures& figures = counted.now[i];
    all += figures;
    if (!core || !tenant) {
      stats.callsOfRetired += madeHere;
      for (const auto& [type, count] : figures.errors) stats.errorsOfRetired[type] += count;
      continue;
    }
    stats.callsOfRetired += tenant->callsBefore;
    InterpreterStats& each = stats.interpreters.emplace_back();
    each.interpreter = core->slot().number();
    each.index = tenant->seat;
    each.state = tenant->state;
    each.replacements = tenant->replaced;
    each.age = duration_cast<milliseconds>(tenant->age);
    if (const Visit visit(*core); visit) each.heapBytes = core->api().heapBytes();
    each.users = users.users(place);
    each.whyBroken = core->whyBroken();
    each.calls = madeHere - tenant->callsBefore;
    each.errors = std::move(figures.errors);
    each.interrupts = figures.interrupts;
    each.queueTime = figures.queueTime;
    each.gilWait = figures.gilWait;
    each.runTime = figures.runTime;
    addUnwaited(each.queueTime, each.calls);
    for (const CallUnderWay& call : calls.underWay(place))
      each.running.push_back(describe(call, *core));
  }
  const PoolKeeper::Counts replaced = keeper.counts();
  stats.replacements = replaced.replaced;
  stats.failedReplacements = replaced.failed;
  stats.grown = replaced.grown;
  stats.shrunk = replaced.shrunk;
  stats.waiting = queue.waitingByPriority();
  const auto queuedNow = queued.inLineByPriority();
  for (std::size_t i = 0; i < kCallPriorities; ++i) stats.waiting[i] += queuedNow[i];
  stats.ended = tallies.ended();
  stats.interrupts = all.interrupts;
  stats.runTime = all.runTime;
  stats.gilWait = all.gilWait;
  stats.queueTime = all.queueTime;
  stats.queueTime.counts[0] += notWaited(made, stats.queueTime.total());
  return stats;
}

// The two are not read at one moment, and a counter must not fall.
std::uint64_t ManagerState::notWaited(std::uint64_t made, std::uint64_t waited) noexcept {
  const std::uint64_t now = made > waited ? made - waited : 0;
  std::uint64_t before = notWaited_.load();
  while (before < now && !notWaited_.compare_exchange_weak(before, now)) {
  }
  return std::max(before, now);
}

PoolHealth ManagerState::health() {
  PoolHealth health;
  std::size_t n = 0, broken = 0;
  for (int place = 0; place < static_cast<int>(users.limit()); ++place) {
    const auto core = places.coreAt(place);
    if (!core || users.isClosed(place)) continue;
    ++n;
    if (const std::string why = core->whyBroken(); !why.empty()) {
      ++broken;
      health.reasons.push_back("interpreter " + std::to_string(core->slot().number()) +
                               " is broken: " + why);
    }
  }
  const PoolKeeper::Counts replaced = keeper.counts();
  if (replaced.condemned > 0)
    health.reasons.push_back(std::to_string(replaced.condemned) +
                             " interpreters have a call that does not end");
  if (!replaced.whyFailed.empty())
    health.reasons.push_back("an interpreter could not be replaced: " + replaced.whyFailed);
  const std::size_t waiting = queue.waiting() + queued.inLine();
  if (waiting >= options.pool.mostWaiting && waiting > 0)
    health.reasons.push_back("the line is full: " + std::to_string(waiting) + " calls wait");
  // An idle pool may have none: it starts one when there is something to do.
  const bool canCall = broken < n || (keeper.seats() == 0 && replaced.whyFailed.empty());
  health.ready = canCall && waiting < std::max<std::size_t>(options.pool.mostWaiting, 1);
  return health;
}

// An error that is thrown at a deadline must not wait for a GIL, so the stack that it may show is
// asked for when a call begins to wait.
void ManagerState::askForStack() noexcept {
  const std::int64_t now = coarseNow().count();
  std::int64_t before = stackAskedAt_.load(std::memory_order_relaxed);
  if (before != 0 && now - before < kBetweenStacks.count()) return;
  if (!stackAskedAt_.compare_exchange_strong(before, now)) return;
  try {
    const auto call = calls.longest(users.limit());
    const auto core = call ? places.coreAt(CallRecords::placeOf(call->id)) : nullptr;
    if (!core) return;
    process::postHousekeeping(core->slot(), [state = shared_from_this(), core, id = call->id] {
      state->takeStack(*core, id);
    });
  } catch (const std::bad_alloc&) {
    // The error goes without.
  }
}

// On the interpreter's housekeeping thread.
void ManagerState::takeStack(InterpreterCore& core, CallId id) {
  std::vector<ThreadStack> threads;
  std::optional<CallUnderWay> call;
  if (!core.tryBeginOperation()) return;
  {
    const Entered inside(core, Entered::GatePassed{}, Entered::Priority::High);
    call = calls.find(id);
    if (!call) return;
    inside.python().collectStacks(&threads);
  }
  std::string text;
  for (const ThreadStack& thread : threads) {
    if (thread.thread != call->thread) continue;
    for (auto frame = thread.frames.rbegin(); frame != thread.frames.rend(); ++frame)
      text += "  " + toText(*frame) + "\n";
  }
  const base::Lock lock(stackMutex_);
  stack_ = {id, std::move(text)};
}

std::string toText(const PoolFigures& figures) {
  std::string text = std::to_string(figures.interpreters) + " interpreters, " +
                     std::to_string(figures.busy) + " busy, " + std::to_string(figures.waiting) +
                     " calls waiting";
  if (!figures.longest) return text;
  const RunningCallFigures& call = *figures.longest;
  text += "; the longest running call: " + call.model + ", for " + textOf(call.age) +
          " in interpreter " + std::to_string(call.interpreter);
  if (!call.stack.empty()) text += ", at\n" + call.stack;
  return text;
}

// --- errors

void ManagerState::throwRefused(const CallQueue::Admission& refused, const std::string& doing,
                                CallId without) {
  PoolFigures now = figures(without);
  const std::string end = " (" + toText(now) + ")";
  const std::string waited = refused.waited.count() == 0
                                 ? " before it began"
                                 : " after " + textOf(refused.waited) + " in line";
  switch (refused.refused) {
    case CallQueue::Refusal::QueueFull:
      tallies.ended(CallTallies::Ending::QueueFull);
      throw QueueFullError("cannot " + doing +
                               ": as many calls wait as PoolOptions::mostWaiting allows; call less "
                               "often, add interpreters, or raise the bound" +
                               end,
                           std::move(now));
    case CallQueue::Refusal::Ended:
      throw HandleError("cannot " + doing +
                        ": its InterpreterManager has been destroyed before the call began; keep "
                        "that alive until its calls have ended");
    case CallQueue::Refusal::Stopped:
      tallies.ended(CallTallies::Ending::CancelledInLine);
      throw CancelledError("cannot " + doing + ": a stop was requested" + waited + end,
                           std::move(now), false);
    default:
      tallies.ended(CallTallies::Ending::DeadlineInLine);
      throw DeadlineExceededError("cannot " + doing + ": its deadline has passed" + waited + end,
                                  std::move(now), false);
  }
}

void ManagerState::throwEnded(CallId call, EndReason why, const std::string& doing,
                              const std::string& raised) {
  PoolFigures now = figures(call);
  tallies.ended(why == EndReason::Deadline ? CallTallies::Ending::DeadlineRunning
                                           : CallTallies::Ending::CancelledRunning);
  const std::string end =
      "; it had begun and was interrupted (" + toText(now) + "). It ended with " + raised;
  if (why == EndReason::Deadline)
    throw DeadlineExceededError("cannot " + doing + ": its deadline has passed" + end,
                                std::move(now), true);
  throw CancelledError(
      "cannot " + doing +
          (why == EndReason::Stopped ? ": a stop was requested" : ": it was interrupted by hand") +
          end,
      std::move(now), true);
}

// --- interrupts

bool ManagerState::interruptByHand(CallId id) {
  const bool couldBe = CallRecords::placeOf(id) < static_cast<int>(kPlaces);
  if (!couldBe || !calls.isUnderWay(id)) return false;
  ending.endAt(CallOptions::Clock::now(), id, EndReason::ByHand);
  return true;
}

void ManagerState::interrupt(CallId id, EndReason reason) noexcept {
  try {
    const auto core = places.coreAt(CallRecords::placeOf(id));
    if (!core) return;
    interruptSoon(core, std::make_shared<RecordedCall>(shared_from_this(), id, reason));
  } catch (const std::bad_alloc&) {
    // It is asked for again soon.
  }
}

// --- reservations

Reservation::Reservation(ManagerState& manager, const CallOptions* options) : manager_(nullptr) {
  const CallQueue::Admission admission = manager.queue.joinForSession(options);
  if (admission.refused != CallQueue::Refusal::None)
    manager.throwRefused(admission, "acquire a session");
  manager_ = &manager;
  where_ = static_cast<std::size_t>(admission.where);
}

}  // namespace multipy::runtime
