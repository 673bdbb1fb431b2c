// What makes N private libtorch_python live over one libtorch_cpu: the face of
// src/torch towards the runtime.
//
// Threads: all functions from any thread unless they say otherwise.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "interpreter/host_services.h"
#include "loader/private_space.h"
#include "torch/ownership.h"

namespace multipy::routing {

/// The adapter that gives private copies of torch's libraries their renames,
/// checks that this torch is one we know (UnsupportedTorchError, before
/// anything is loaded), and binds what is loaded. One per process, never destroyed.
loader::LibraryAdapter& torchAdapter();

/// A copy of libtorch_python that belongs to no interpreter (never initialised)
/// takes the process-wide static registrations, so that every interpreter can
/// be unloaded. The same goes for extensions that register with torch (a custom
/// operator's library). The runtime says once how to load such a copy; the
/// adapter calls `load`, under the loading lock, before the first interpreter's
/// copy of each such library is loaded: libtorch_python first, others when they
/// come. `load` gets the original's path and has one PrivateSpace with kDonorSlot
/// load it.
inline constexpr int kDonorSlot = kMaxInterpreters;
void setDonorLoader(std::function<void(const std::filesystem::path& library)> load);

/// The table for HostServices::routes.
const TorchRoutes& torchRoutes();

/// libtorch_python's functions in `slot`; null while torch is not loaded there.
const TorchPython* torchPython(int slot);

/// Makes the router ready for a further interpreter: registers the process's
/// one PyInterpreter (once). Called before the first private library loads.
/// Throws UnsupportedTorchError if this process already has another owner of it.
void prepareProcess();

/// HostServices::crossTensor. `owner` is the slot the tensor comes from.
at::Tensor crossTensor(const at::Tensor& tensor, int owner, std::string& error);

/// HostServices::takeTensor and the other two (tensor_wrappers.cpp).
at::Tensor takeTensor(at::Tensor& inside, const _object* object, int owner, std::string& error);
bool dropTensor(at::Tensor& inside, const _object* object);
bool putTensor(at::Tensor& crossed, at::Tensor& inside, _object* object);

/// Between the two, tensors that cross on this thread and have a storage in common
/// have the crossed one in common as well. May be nested.
void openCrossing();
void closeCrossing();

/// The two threads of an interpreter (housekeeping.h). Stopping waits until all tasks are
/// done; what is given later is refused. Starting throws EnvironmentError where no thread is
/// to be had.
void startInterpreterThreads(int slot);
void stopInterpreterThreads(int slot) noexcept;
/// Runs `task` soon, on `slot`'s housekeeping thread, which holds no GIL then. Dropping
/// things that need `slot`'s GIL goes through it. What it throws is not passed on.
/// False: refused.
bool postHousekeeping(int slot, std::function<void()> task);
/// The same of one that its giver keeps until it runs: that needs no memory. Once it runs it
/// may be given again, or be no more.
class Task {
 public:
  virtual void run() noexcept = 0;

 protected:
  ~Task() = default;

 private:
  friend class TaskQueue;
  Task* next_ = nullptr;
};
bool postHousekeeping(int slot, Task& task) noexcept;
/// Runs `task` on that thread and waits for it; exceptions come back.
void runHousekeeping(int slot, const std::function<void()>& task);
/// For a task on that thread that had better be done a little later: waits, but not once
/// another task has been given.
void pauseHousekeeping(int slot, std::chrono::milliseconds atMost);
/// Runs `task` on the thread that starts and ends `slot`'s interpreter, which no destructor
/// keeps busy, and waits for it; exceptions come back. Like runHousekeeping() it needs no
/// memory but that of `task`.
void runOwner(int slot, const std::function<void()>& task);
/// The same without waiting. False: refused.
bool postToOwner(int slot, std::function<void()> task);

/// Teardown, in this order:
/// 0. no GIL held, before drops are closed: autograd graphs of this slot that
///    C++ still holds on to are given up (graph_link.h).
void severGraphs(int slot) noexcept;
///    Futures that wait on one side for the other are completed with an error
///    (future_link.h).
void severFutures(int slot) noexcept;
///    The threads of its autograd engine end. If engineThreads() is not 0 after
///    that, its libraries must not be unloaded.
void stopEngine(int slot);
std::size_t engineThreads(int slot);
/// 1. no GIL held: drops that are under way end, later ones of this slot's
///    storages leak (counted) instead of running.
void closeDrops(int slot) noexcept;
/// 2. with slot's GIL held: its kernels and table entries are removed. False: there was not
///    enough memory for that, and its libraries must not be unloaded.
bool purge(int slot) noexcept;
/// 3. after Py_FinalizeEx: Ownership::setDead.
/// 4. after unloading, when no thread can be in the interpreter any more: its
///    settings of torch are freed.
void forgetSettings(int slot) noexcept;

/// For tests and diagnosis.
struct Statistics {
  long routes = 0;          // (operator, key) pairs routed now
  long kernels = 0;         // kernels registered by interpreters now
  long crossings = 0;       // tensors crossed so far
  long liveCrossings = 0;   // storages held by crossings now
  long deferredDrops = 0;   // drops handed to a housekeeping thread so far
  long leakedStorages = 0;  // storages left behind by dead interpreters
};
Statistics statistics();

}  // namespace multipy::routing
