// One operator at one dispatch key, with a kernel per interpreter.
//
// torch's dispatch table has one kernel per (operator, key). Where interpreters
// register their own (torch.library), that one is a boxed functor which finds
// the kernel of the interpreter that the thread is in:
//
//   dispatch table ──► functor ──► route ──► cell of the current slot ──► kernel
//                                    └──► what torch would choose for this
//                                         interpreter (kernel_lookup.h)
//
// Calls of one's own kernel take no lock. A kernel that is taken away while calls run in it (Python
// may drop a library inside one of its own kernels) lives on until the last of
// them has returned: each cell counts the calls that are inside, a kernel taken
// away is first made unreachable, then freed when the count is seen at zero.
// The order of the two makes it safe (both sequentially consistent): a call
// counts itself before it reads the pointer, so a thread that sees zero after the
// pointer was changed knows that no call can hold the old one.
//
// Threads: call() from any; the rest under the registration lock.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "base/fork_mutex.h"
#include "base/interpreter_id.h"
#include "process/ownership.h"

namespace multipy::bridge {

struct InterpreterKernel {
  c10::KernelFunction function;
  bool fallthrough;
  mutable const InterpreterKernel* nextRetired = nullptr;  // see KernelCell
};

/// One interpreter's kernel in one route.
class KernelCell {
 public:
  class Call;  // see below
  bool empty() const noexcept { return kernel_.load() == nullptr; }
  void publish(const InterpreterKernel* kernel) noexcept { kernel_.store(kernel); }
  /// Frees `kernel`, which is published no longer, as soon as no call is in it.
  void retire(std::unique_ptr<const InterpreterKernel> kernel) noexcept;

 private:
  void freeRetired() noexcept;
  std::atomic<const InterpreterKernel*> kernel_{nullptr};
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<bool> hasRetired_{false};
  // For kernels taken away while calls were in them: rare, so one for all cells. Never destroyed.
  static base::ForkMutex retiring_;
  const InterpreterKernel* retired_ MULTIPY_GUARDED_BY(retiring_) = nullptr;  // a list
};

/// Holds a cell's kernel in place during a call.
class KernelCell::Call {
 public:
  explicit Call(KernelCell& cell) noexcept : cell_(cell) {
    cell_.calls_.fetch_add(1);
    kernel_ = cell_.kernel_.load();
  }
  ~Call() {
    if (cell_.calls_.fetch_sub(1) == 1 && cell_.hasRetired_.load()) cell_.freeRetired();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  const InterpreterKernel* kernel() const noexcept { return kernel_; }

 private:
  KernelCell& cell_;
  const InterpreterKernel* kernel_;
};

/// Never destroyed: the dispatcher's functor points here, and a thread may be in it.
class KernelRoute {
 public:
  KernelRoute(c10::OperatorName name, c10::DispatchKey key, bool isFallback);

  struct Registration {
    std::uint64_t number = 0;
    InterpreterId slot = InterpreterId::none();
    std::unique_ptr<const InterpreterKernel> kernel;
    KernelCell* cell = nullptr;  // once it has been removed
    ~Registration() {
      if (cell) cell->retire(std::move(kernel));
    }
  };
  /// What has become unreachable; to die when no lock is held, since a Python kernel takes its
  /// GIL then. (A list: what is removed takes no memory, which may lack where things end.)
  using Removed = std::list<Registration>;

  /// Adds `slot`'s kernel, above its earlier ones. If the dispatcher refuses the
  /// route, its exception passes through and nothing has changed.
  void add(std::uint64_t registration, InterpreterId slot, c10::KernelFunction kernel);
  void remove(std::uint64_t registration, Removed& removed);
  void removeAll(InterpreterId slot, Removed& removed);

  /// Installs it for good, also where no interpreter has a kernel: what lies below it is not
  /// theirs.
  void keep();

  bool isInstalled() const noexcept { return installed_ != Installed::Nothing; }
  /// Is this entry of torch's list of kernels ours?
  bool isInstalledAs(const c10::impl::AnnotatedKernel& kernel) const;
  bool hasKernelOf(InterpreterId slot) const;
  /// The newest of `slot`, which has one. Under the registration lock.
  const c10::KernelFunction& newestOf(InterpreterId slot) const;
  std::size_t kernels() const noexcept { return registrations_.size(); }

  /// The functor's work.
  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack);

 private:
  enum class Installed { Nothing, Fallthrough, Functor };

  /// Of a call with these, the key that led here.
  c10::DispatchKey keyOf(c10::DispatchKeySet keys) const;
  KernelCell* find(InterpreterId slot) const noexcept;
  KernelCell& cell(InterpreterId slot);
  void take(Removed::iterator registration, Removed& removed) noexcept;
  /// Publishes the newest kernel of `slot` and brings the dispatcher up to date.
  void refresh(InterpreterId slot);
  void install(Installed wanted);
  /// False if `slot` has no kernel here.
  bool callOwn(InterpreterId slot, const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack);
  [[noreturn]] void failNoKernel(const c10::OperatorHandle& op, InterpreterId slot) const;

  static constexpr int kCellsPerChunk = 16;
  using Chunk = std::array<KernelCell, kCellsPerChunk>;

  const c10::OperatorName name_;
  const c10::DispatchKey key_;
  const bool isFallback_;
  bool isKept_ = false;
  std::list<Registration> registrations_;
  std::array<std::atomic<Chunk*>, InterpreterId::kMost / kCellsPerChunk> chunks_{};
  Installed installed_ = Installed::Nothing;
  std::optional<c10::RegistrationHandleRAII> handle_;
};

}  // namespace multipy::bridge
