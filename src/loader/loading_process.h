// What the process has once: the loading lock, and what all private spaces
// share. One object, LoadingProcess::instance(); never destroyed, since
// libraries may still load others while the process ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/interpreter_id.h"
#include "loader/copy_cache.h"
#include "loader/interpreter_names.h"
#include "loader/library_adapter.h"
#include "loader/library_facts.h"
#include "loader/library_graph.h"

namespace multipy::loader {

/// Recursive: static initialisers may load further libraries.
using LoadingMutex = std::recursive_timed_mutex;
using LoadingLock = std::unique_lock<LoadingMutex>;

/// An interpreter payload, read once however many interpreters it becomes.
struct Payload {
  explicit Payload(std::span<const std::byte> bytes);

  std::string digest;  // of its contents
  InterpreterNames names;
  std::vector<elf::FileRange> sharable;  // sharableRanges()

 private:
  explicit Payload(const elf::SharedObject& object);
};

class LoadingProcess {
 public:
  static LoadingProcess& instance();

  /// Serialises all loading; everything below is guarded by it. Throws LoadError in a child
  /// that was forked off while another thread had it.
  [[nodiscard]] LoadingLock lock();

  // --- forks
  /// Whether this is such a child. What is loaded stays as it is there.
  bool isLost() const noexcept { return lost_; }
  /// Just before this thread forks. What is only locked inside of this lock (the caches and
  /// names of copies, the adapter) is no other thread's then either, so a child may load. A thread
  /// that has it is waited for, since a load ends by itself, but only for `patience`: a static
  /// initialiser may be waiting for the GIL that this thread has. False: it was not to be had.
  bool lockForFork(std::chrono::milliseconds patience);
  /// After it; `locked`: what the other has returned.
  void unlockAfterFork(bool inChild, bool locked);

  LibraryCatalogue& catalogue() noexcept { return catalogue_; }

  std::shared_ptr<const Payload> payload(std::span<const std::byte> bytes);

  /// The adapter's renames for a library, asked for once per file.
  const LibraryAdapter::Renames& renames(LibraryAdapter& adapter, const Library& library);

  // --- slots
  /// Takes `slot` for a space and gives its label (SpaceNames::label).
  /// Throws InvalidArgument if the slot is taken or negative.
  std::string occupy(InterpreterId slot);
  /// Gives it back. `residue`: copies of the space that are still mapped; they
  /// stay valid for ever and later spaces in this slot get another label.
  void vacate(InterpreterId slot, std::vector<std::shared_ptr<CachedCopy>> residue) noexcept;

 private:
  struct Slot {
    bool taken = false;
    unsigned generation = 0;
  };
  LoadingMutex lock_;
  bool lost_ = false;  // in a child: the lock is held by a thread that is not there
  LibraryCatalogue catalogue_;
  std::map<std::string, std::shared_ptr<const Payload>> payloads_;
  std::map<std::pair<LibraryAdapter*, FileIdentity>, LibraryAdapter::Renames> renames_;
  std::map<InterpreterId, Slot> slots_;
  std::vector<std::shared_ptr<CachedCopy>> residue_;
};

}  // namespace multipy::loader
