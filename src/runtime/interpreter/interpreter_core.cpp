#include "runtime/interpreter/interpreter_core.h"

#include <malloc.h>

#include <bitset>
#include <chrono>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/keep_forever.h"
#include "base/mutex.h"
#include "base/parallel_for.h"
#include "base/per_interpreter.h"
#include "multipy/runtime/Exception.h"
#include "process/fork_guard.h"
#include "process/ownership.h"
#include "runtime/interpreter/embedded_interpreter.h"
#include "runtime/interpreter/failure.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/object_table.h"
#include "runtime/interpreter/python_options.h"
#include "runtime/interpreter/resident_copy.h"
#include "runtime/interpreter/thread_states.h"
#include "runtime/interpreter/visit.h"
#include "torch_bridge/autograd/engine_router.h"
#include "torch_bridge/autograd/engine_threads.h"
#include "torch_bridge/state/cuda_generators.h"
#include "torch_bridge/state/interpreter_settings.h"
#include "torch_bridge/tensors/future_link.h"
#include "torch_bridge/tensors/graph_link.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::runtime {
namespace {

using process::Ownership;

// The process's live interpreters by slot. Written when one goes live and when
// it goes down, under the lock; read without it by those who are inside.
constinit PerInterpreter<std::atomic<InterpreterCore*>> liveCores{};
constinit base::Mutex liveCoresMutex;

std::vector<std::string> asStrings(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

// How long dropped references may wait for a thread to come by before the
// housekeeping thread takes the GIL for them. Long enough that a loop which makes
// and drops Objs clears them itself, on its next operation.
constexpr std::chrono::milliseconds kClearingPatience{5};

/// Of malloc(), which keeps what interpreters have freed, in an arena for each of the threads that
/// have loaded their modules.
void giveFreeMemoryBack() noexcept {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

[[noreturn]] void throwShutDown(const char* doing) {
  throw HandleError(
      std::string("cannot ") + doing +
      ": the interpreter it needs has been shut down, since its InterpreterManager (or "
      "stand-alone Interpreter) has been destroyed, or since it has been replaced by another one "
      "after the session had ended; keep them alive for as long as you use what was made through "
      "them");
}

}  // namespace

// --- up

std::shared_ptr<InterpreterCore> InterpreterCore::start(const InterpreterRecipe& recipe,
                                                        InterpreterOptions options) {
  process::refuseInForkedChild("start an interpreter");
  const GilReleased outside;  // starting takes long, and needs no other interpreter
  std::shared_ptr<InterpreterCore> core(new InterpreterCore);
  try {
    core->bringUp(recipe, std::move(options));
  } catch (...) {
    core->gate_.close();
    core->takeDown();
    throw;
  }
  return core;
}

void InterpreterCore::bringUp(const InterpreterRecipe& recipe, InterpreterOptions options) {
  bridge::prepareProcess();
  prepareResidentCopy(recipe.cache);

  slot_ = Ownership::instance().admit();
  stage_ = Stage::Slot;
  space_ = std::make_unique<loader::PrivateSpace>(slot_, recipe.policy, recipe.cache,
                                                  &bridge::torchAdapter());
  stage_ = Stage::Space;
  binding_ = std::make_unique<HostBinding>(*space_, recipe.sources, options.output,
                                           [this](std::string why) { setBroken(std::move(why)); });
  api_ = &binding_->attach(space_->loadInterpreter(embeddedInterpreter()));

  process::startInterpreterThreads(slot_);
  stage_ = Stage::Housekeeping;
  process::runOwner(slot_, [&] { initialize(recipe, options); });
  stage_ = Stage::Initialized;

  setLive(true);
  Ownership::instance().setLive(slot_, api().holdsGil);
}

void InterpreterCore::initialize(const InterpreterRecipe& recipe,
                                 const InterpreterOptions& options) {
  const process::AddressRange heap = Ownership::instance().slice(slot_);
  InterpreterConfig config;
  config.executable = recipe.python.executable.string();
  config.extraPaths = recipe.extraPaths;
  config.arguments = options.arguments;
  if (options.environmentVariables) config.variables = asStrings(*options.environmentVariables);
  config.flags = parsePythonOptions(options.pythonOptions);
  config.flags.isolated = options.isolated;
  config.slimTorch = options.slimTorch;
  config.slimImporters = options.slimImporters;
  config.slimModules = options.slimModules;
  config.ownOutput = options.output != nullptr;
  config.heapBegin = heap.begin;
  config.heapSize = heap.size;
  Failure failure;
  if (api().initialize(config, failure)) return;
  if (failure.kind == Failure::Kind::Environment) throwFailure(failure);
  throw EnvironmentError("cannot start Python with " + config.executable + ": " + failure.type +
                         (failure.type.empty() ? "" : ": ") + failure.message +
                         (failure.traceback.empty() ? "" : "\n" + failure.traceback));
}

InterpreterCore* InterpreterCore::inSlot(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return nullptr;
  return liveCores[slot].load(std::memory_order_acquire);
}

std::shared_ptr<InterpreterCore> InterpreterCore::keptInSlot(InterpreterId slot) noexcept {
  const base::Lock lock(liveCoresMutex);
  InterpreterCore* const here = liveCores[slot].load();
  return here ? here->shared_from_this() : nullptr;
}

std::vector<std::shared_ptr<InterpreterCore>> InterpreterCore::live() {
  const base::Lock lock(liveCoresMutex);
  std::vector<std::shared_ptr<InterpreterCore>> cores;
  for (const auto& core : liveCores)
    if (InterpreterCore* here = core.load()) cores.push_back(here->shared_from_this());
  return cores;
}

// Who goes down is kept alive by who takes it down: until it has left the table, its
// shared_from_this() works.
void InterpreterCore::setLive(bool live) noexcept {
  const base::Lock lock(liveCoresMutex);
  liveCores[slot_].store(live ? this : nullptr);
}

std::vector<loader::LoadedLibrary> InterpreterCore::libraries() {
  const Visit visit(*this, "list an interpreter's libraries");
  return space_->loaded();
}

// --- of no use any more

void InterpreterCore::setBroken(std::string why) {
  auto text = std::make_unique<const std::string>(std::move(why));
  const std::string* none = nullptr;
  if (!whyBroken_.compare_exchange_strong(none, text.get())) return;
  text.release();  // NOLINT: whyBroken_ has it
  if (whenBroken_) whenBroken_();
}

std::string InterpreterCore::whyBroken() const {
  const std::string* const why = whyBroken_.load(std::memory_order_acquire);
  return why ? *why : std::string();
}

// --- down

InterpreterCore::~InterpreterCore() { delete whyBroken_.load(); }

void InterpreterCore::shutDown(std::span<const std::shared_ptr<InterpreterCore>> cores) noexcept {
  if (process::inForkedChild()) {
    // Nothing of them may be touched here; their memory is left alone as well.
    for (const auto& core : cores) base::keepForever(core);
    return;
  }
  // No memory is asked for here, nor on the way down: that there is none left may be why.
  std::bitset<InterpreterId::kMost> now;  // by their places in `cores`, which are no more
  for (std::size_t i = 0; i < cores.size(); ++i) {
    InterpreterCore& core = *cores[i];
    if (!core.gate_.close()) continue;
    const bool inside = Entered::inside(core) || Ownership::entered() == core.slot_;
    if (inside)
      core.takeDownInBackground();
    else
      now.set(i);
  }
  // An operation that has to end may be waiting for the GIL that this thread has.
  const GilReleased outside;
  const auto takeDown = [&](std::size_t i) {
    if (now[i]) cores[i]->takeDown();
  };
  base::parallelFor(cores.size(), std::cref(takeDown));
  giveFreeMemoryBack();
}

void InterpreterCore::takeDownInBackground() noexcept {
  try {
    std::thread([self = shared_from_this()] { self->takeDown(); }).detach();
  } catch (const std::exception&) {
    // No thread to be had, or no memory: the interpreter stays, closed to everyone.
    base::keepForever(shared_from_this());
  }
}

void InterpreterCore::takeDown() noexcept {
  gate_.waitUntilEmpty();
  if (stage_ >= Stage::Housekeeping) {
    if (stage_ == Stage::Initialized) {
      bridge::severFutures(slot_);
      bridge::severGraphs(slot_);
      bridge::stopEngine(slot_);
      process::closeDrops(slot_);
      binding_->threadDestructors().close();
      const auto end = [this] { finalize(); };
      process::runOwner(slot_, std::cref(end));
      Ownership::instance().setDead(slot_);
      bridge::pythonHasEnded(slot_);
      setLive(false);
      binding_->output().finish();
    }
    process::stopInterpreterThreads(slot_);
  }
  // A slot whose copies could not all be unloaded is not used again: its next
  // interpreter would be given libraries that have been used.
  const bool unloaded = stage_ < Stage::Space || unload();
  if (stage_ >= Stage::Slot && unloaded) {
    bridge::forgetSettings(slot_);
    bridge::forgetCudaGenerators(slot_);
    Ownership::instance().release(slot_);
  }
  stage_ = Stage::Nothing;
}

bool InterpreterCore::unload() noexcept {
  // finalize() and stopEngine() have waited for them.
  const bool inUse =
      mustStay_ || (api_ && api().liveThreads() > 0) || bridge::engineThreads(slot_) > 0;
  const bool ended = !inUse && endLibraries();
  api_ = nullptr;
  if (ended && space_->unload() == 0) {
    binding_.reset();
    space_.reset();
    return true;
  }
  // A daemon thread of Python's, one of autograd's, or one that a library started, would
  // return into code that is not there any more. What it may run stays, and so does what that may
  // call.
  [[maybe_unused]] auto* binding = binding_.release();
  [[maybe_unused]] auto* space = space_.release();
  return false;
}

// As a process that exits: all that libraries want done happens while all of them are
// still there.
bool InterpreterCore::endLibraries() noexcept {
  if (!api_) return true;
  api().runExitFunctions();
  space_->runDestructors();
  return api().close();
}

// On the owner's thread, which initialised.
void InterpreterCore::finalize() {
  {
    gate_.passClosed();
    const Entered inside(*this, Entered::GatePassed{});
    giveUpWhatTablesKeep();
    deferred_.close(python());
    mustStay_ = !bridge::purge(slot_);
  }
  api().finalize();
}

void InterpreterCore::giveUpWhatTablesKeep() noexcept {
  for (;;) {
    NewReference owned;
    {
      // Taken under the lock, for which a table's destructor waits.
      const base::Lock lock(tablesMutex_);
      if (tables_.empty()) return;
      owned = (*tables_.begin())->take(slot_);
      tables_.erase(tables_.begin());
    }
    if (owned) python().giveUp(std::move(owned));
  }
}

// --- operations

void InterpreterCore::beginOperation(const char* doing) {
  process::refuseInForkedChild(doing);
  if (!gate_.tryPass()) [[unlikely]]
    throwShutDown(doing);
}

void InterpreterCore::requireOpen(const char* doing) const {
  process::refuseInForkedChild(doing);
  if (gate_.closed()) throwShutDown(doing);
}

void InterpreterCore::endOperation() noexcept {
  if (gate_.leave() && !deferred_.empty()) askForClearing();
}

void* InterpreterCore::threadState() {
  if (void* state = api().threadState()) [[likely]]
    return state;
  prepareToRememberThreadState();
  void* state = api().newThreadState();
  if (!state) throw std::bad_alloc();
  rememberThreadState(weak_from_this(), state);
  return state;
}

// --- references

bool InterpreterCore::gilHeldHere() const noexcept {
  return Ownership::entered() == slot_ && inSlot(slot_) == this && api().holdsGil();
}

void InterpreterCore::drop(DroppedReference* dropped) noexcept {
  if (gilHeldHere()) {
    python().giveUp(std::move(dropped->reference));
    delete dropped;
    return;
  }
  if (process::inForkedChild())
    return;  // left alone, like all that is shared with the parent's threads
  switch (deferred_.dropped(dropped)) {
    case DeferredRelease::Pushed::Refused:
      delete dropped;
      return;
    case DeferredRelease::Pushed::Further:
      return;  // who dropped the first one has asked, or a thread inside sees to it
    case DeferredRelease::Pushed::First:
      // Who is inside looks again after leaving the gate; the two cannot miss
      // each other, since both write first and then look.
      if (gate_.empty()) askForClearing();
      return;
  }
}

void InterpreterCore::drop(NewReference owned) noexcept {
  if (gilHeldHere())
    python().giveUp(std::move(owned));
  else if (auto* const dropped = new (std::nothrow) DroppedReference(std::move(owned)))
    drop(dropped);
  // Without memory for that the object stays until its interpreter ends.
}

void InterpreterCore::askForClearing() noexcept {
  if (clearingAsked_.exchange(true)) return;
  if (!process::postHousekeeping(slot_, clearing_)) clearingAsked_.store(false);
}

// On the housekeeping thread.
void InterpreterCore::clearSoon() noexcept {
  process::pauseHousekeeping(slot_, kClearingPatience);
  clearingAsked_.store(false);
  if (deferred_.empty() || !tryBeginOperation()) return;
  try {
    const Entered inside(*this, Entered::GatePassed{}, Entered::Priority::High);  // entering clears
  } catch (const std::bad_alloc&) {
    // This thread's first time inside, which takes memory. It has asked again on its way out.
  }
}

void InterpreterCore::remember(ObjectTable* table) {
  const base::Lock lock(tablesMutex_);
  tables_.insert(table);
}

NewReference InterpreterCore::forget(ObjectTable* table) noexcept {
  const base::Lock lock(tablesMutex_);
  if (tables_.erase(table) == 0) return nullptr;
  return table->take(slot_);
}

}  // namespace multipy::runtime
