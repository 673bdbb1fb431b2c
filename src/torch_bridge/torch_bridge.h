// What makes N private libtorch_python live over one libtorch_cpu: the face of
// src/torch_bridge towards the runtime.
//
// Threads: all functions from any thread unless they say otherwise.
#pragma once

#include <filesystem>
#include <functional>

#include "abi/host_services.h"
#include "base/interpreter_id.h"
#include "loader/library_adapter.h"
#include "process/ownership.h"

namespace multipy::bridge {

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
/// come. `load` gets the original's path and has one PrivateSpace with InterpreterId::resident()
/// load it.
void setResidentCopyLoader(std::function<void(const std::filesystem::path& library)> load);

/// The table for HostServices::routes.
const TorchRoutes& torchRoutes();

/// Makes the router ready for a further interpreter: registers the process's
/// one PyInterpreter, or adopts that of the program's own Python (program_python.h); once. Throws
/// UnsupportedTorchError if this process already has another owner of it.
void prepareProcess();

/// From now on the program's Python is adopted when the first interpreter imports torch, which
/// others do without: the program calls prepareForTorch() then, with its GIL.
void adoptWithTorch() noexcept;
/// Before the first private copy of a library of torch's loads: what adoptWithTorch() has put off.
/// Throws UnsupportedTorchError, LoadError.
void prepareForTorch();

/// A part of teardown (interpreter_core.cpp has the order), with slot's GIL held: its kernels
/// and table entries are removed. False: there was not enough memory for that, and its
/// libraries must not be unloaded.
bool purge(InterpreterId slot) noexcept;

/// Another one: slot's Python has ended, its libraries are still there. From now on torch counts no
/// references to its objects; a thread of the program may still have some.
void pythonHasEnded(InterpreterId slot) noexcept;

/// For tests and diagnosis.
struct Statistics {
  long routes = 0;          // (operator, key) pairs routed now
  long kernels = 0;         // kernels registered by interpreters now
  long transfers = 0;       // tensors transferred so far
  long liveTransfers = 0;   // storages held by transfers now
  long deferredDrops = 0;   // drops handed to a housekeeping thread so far
  long leakedStorages = 0;  // storages left behind by dead interpreters
};
Statistics statistics();

}  // namespace multipy::bridge
