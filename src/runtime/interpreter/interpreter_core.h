// One live interpreter: its slot, its private libraries, its CPython, and the
// order in which these come up and go down.
//
//   up    slot and heap slice → private space → libinterpreter.so → attach →
//         its two threads (process/interpreter_threads.h) → initialize on the owner's → live
//   down  refuse operations → wait for those inside → no more drops from other
//         threads → (on the owner's thread, with the GIL) give up what is
//         kept here → purge torch's tables → finalize → dead → end the threads →
//         unload → slot free
//
// A core is owned by its Interpreter, which shuts it down. Sessions, Objs and
// tables hold further references: they keep this object's memory, not the
// interpreter, alive. After the shutdown every operation is refused at the gate.
//
// Operations are done inside an Entered (gil.h), which passes the gate and takes
// the GIL.
//
// Threads: every member from any thread; those under "with the GIL" by a thread
// that is inside.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "abi/interpreter_api.h"
#include "base/interpreter_id.h"
#include "base/mutex.h"
#include "loader/private_space.h"
#include "multipy/runtime/interpreter_options.h"
#include "process/interpreter_threads.h"
#include "process/ownership.h"
#include "runtime/interpreter/deferred_release.h"
#include "runtime/interpreter/fork_hold.h"
#include "runtime/interpreter/host_binding.h"
#include "runtime/interpreter/interpreter_recipe.h"
#include "runtime/interpreter/operation_gate.h"

namespace multipy::runtime {

class ObjectTable;

class InterpreterCore : public std::enable_shared_from_this<InterpreterCore> {
 public:
  /// A running interpreter. Throws EnvironmentError, LoadError, CacheError,
  /// UnsupportedTorchError; everything done so far is undone then.
  static std::shared_ptr<InterpreterCore> start(const InterpreterRecipe& recipe,
                                                InterpreterOptions options);
  ~InterpreterCore();
  InterpreterCore(const InterpreterCore&) = delete;
  InterpreterCore& operator=(const InterpreterCore&) = delete;

  /// The one that lives in `slot` now, or null.
  static InterpreterCore* inSlot(InterpreterId slot) noexcept;
  /// The same, kept in memory by the caller.
  static std::shared_ptr<InterpreterCore> keptInSlot(InterpreterId slot) noexcept;
  /// All that live now, by slot.
  static std::vector<std::shared_ptr<InterpreterCore>> live();

  InterpreterId slot() const noexcept { return slot_; }
  /// What needs no GIL. Valid until the shutdown.
  const InterpreterApi::WithoutGil& api() const noexcept { return *api_->withoutGil; }
  /// What has been loaded for it so far. Throws HandleError after the shutdown.
  std::vector<loader::LoadedLibrary> libraries();

  // --- of no use any more
  /// Why, and from when: the import of torch, say, has failed for good. Empty as long as it is
  /// of use. Operations are not refused: what they come to raises the reason.
  std::string whyBroken() const;
  bool isBroken() const noexcept { return whyBroken_.load(std::memory_order_acquire); }
  /// Has `notify` called when that happens, by a thread that is inside, with the GIL. Before the
  /// first operation.
  void whenBroken(std::function<void()> notify) { whenBroken_ = std::move(notify); }

  // --- sessions that no pool counts
  void guestComes() noexcept { guests_.fetch_add(1); }
  void guestLeaves() noexcept { guests_.fetch_sub(1); }
  std::uint64_t guests() const noexcept { return guests_.load(); }

  // --- life
  /// Whether its shutdown has begun.
  bool isShutDown() const noexcept { return gate_.closed(); }
  /// Refuses operations, waits for those inside and takes the interpreters down,
  /// all at once. Those that were shut down before are passed over. One that the
  /// calling thread itself is inside is taken down in the background when it has
  /// left. In a forked child nothing is done at all.
  static void shutDown(std::span<const std::shared_ptr<InterpreterCore>> cores) noexcept;

  // --- operations (used by Entered)
  /// Throws HandleError if the interpreter is being shut down, or in a forked
  /// child; `doing` is for its text, as in "call an Obj".
  void beginOperation(const char* doing);
  /// The same, without beginning one.
  void requireOpen(const char* doing) const;
  bool tryBeginOperation() noexcept { return gate_.tryPass(); }
  void endOperation() noexcept;
  /// How many operations are under way.
  std::uint64_t operationsInside() const noexcept { return gate_.inside(); }
  /// The calling thread's PyThreadState here; made if there is none.
  void* threadState();
  /// Clears away what other threads have left behind. With the GIL.
  void clearDeferred() noexcept { deferred_.clear(python()); }

  /// What it does while another one forks.
  ForkHold& forkHold() noexcept { return forkHold_; }

  // --- references
  /// Does this thread hold this interpreter's GIL?
  bool gilHeldHere() const noexcept;
  /// Gives a reference up: at once if this thread holds the GIL, else later,
  /// without waiting. `dropped` is deleted.
  void drop(DroppedReference* dropped) noexcept;
  void drop(NewReference owned) noexcept;
  /// A thread that had this state has ended.
  void threadEnded(void* threadState) noexcept { deferred_.ended(threadState); }

  /// `table` has something of this interpreter now, to be given up at shutdown.
  void remember(ObjectTable* table);
  /// It has no longer: what it had; null if it had nothing.
  NewReference forget(ObjectTable* table) noexcept;

 private:
  friend class Entered;

  const InterpreterApi::WithGil& python() const noexcept { return *api_->withGil; }

  // How far the way up has been gone: what there is to take down.
  enum class Stage { Nothing, Slot, Space, Housekeeping, Initialized };

  InterpreterCore() = default;
  void bringUp(const InterpreterRecipe& recipe, InterpreterOptions options);
  void initialize(const InterpreterRecipe& recipe, const InterpreterOptions& options);
  void setBroken(std::string why);
  void setLive(bool live) noexcept;
  void takeDown() noexcept;
  void takeDownInBackground() noexcept;
  void finalize();
  void giveUpWhatTablesKeep() noexcept;
  bool endLibraries() noexcept;
  bool unload() noexcept;
  void askForClearing() noexcept;
  void clearSoon() noexcept;

  /// Given to the housekeeping thread, which ends before this core does. (So is forkHold_.)
  struct Clearing final : process::Task {
    explicit Clearing(InterpreterCore& of) noexcept : core(of) {}
    void run() noexcept override { core.clearSoon(); }
    InterpreterCore& core;
  };

  Stage stage_ = Stage::Nothing;
  InterpreterId slot_ = InterpreterId::none();
  std::unique_ptr<loader::PrivateSpace> space_;
  std::unique_ptr<HostBinding> binding_;
  const InterpreterApi* api_ = nullptr;

  OperationGate gate_;
  DeferredRelease deferred_;
  Clearing clearing_{*this};
  ForkHold forkHold_{*this};
  std::atomic<bool> clearingAsked_{false};  // clearing_ has been given and has not begun
  bool mustStay_ = false;                   // its libraries: something still refers to them

  std::atomic<std::uint64_t> guests_{0};
  std::atomic<const std::string*> whyBroken_{nullptr};  // written once; owned
  std::function<void()> whenBroken_;

  base::Mutex tablesMutex_;
  std::unordered_set<ObjectTable*> tables_ MULTIPY_GUARDED_BY(tablesMutex_);
};

}  // namespace multipy::runtime
