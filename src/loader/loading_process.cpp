#include "loader/loading_process.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "base/blake2b.h"
#include "base/interpreter_id.h"
#include "base/keep_forever.h"
#include "loader/shared_pages.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

/// Tells payloads apart without reading them all: where it lies, its size, and
/// both ends of it (the first holds the build id).
std::string quickKey(std::span<const std::byte> bytes) {
  const std::size_t end = std::min<std::size_t>(bytes.size(), 1 << 12);
  return std::to_string(reinterpret_cast<std::uintptr_t>(bytes.data())) + " " +
         std::to_string(bytes.size()) + " " + base::Blake2b::digest(bytes.first(end)) + " " +
         base::Blake2b::digest(bytes.last(end));
}

/// Of the contents: the linker has made the build id of them, which spares reading ten megabytes.
/// (What was stripped of it since has another size.)
std::string digestOf(const elf::SharedObject& object) {
  const std::span<const std::byte> id = object.buildId();
  if (id.empty()) return base::Blake2b::digest(object.bytes());
  base::Blake2b hash;
  hash.update(id);
  const std::string size = std::to_string(object.bytes().size());
  hash.update(std::as_bytes(std::span(size)));
  return hash.finish();
}

}  // namespace

Payload::Payload(std::span<const std::byte> bytes)
    : Payload(elf::SharedObject::view(bytes, "libinterpreter.so")) {}

Payload::Payload(const elf::SharedObject& object)
    : digest(digestOf(object)), names(object), sharable(sharableRanges(object)) {}

LoadingProcess& LoadingProcess::instance() {
  static auto* process = new LoadingProcess;
  return *process;
}

LoadingLock LoadingProcess::lock() {
  if (lost_)
    throw runtime::LoadError(
        "cannot load a library in this child of fork(): another thread of its parent was loading "
        "one when the child was made, and did not come to an end. Import what the child needs "
        "before it is forked off, or start it with the method spawn or forkserver");
  return LoadingLock(lock_);
}

bool LoadingProcess::lockForFork(std::chrono::milliseconds patience) {
  return !lost_ && lock_.try_lock_for(patience);
}

void LoadingProcess::unlockAfterFork(bool inChild, bool locked) {
  if (inChild) {
    // glibc tells by the thread's number whose it is, which is another one now.
    new (&lock_) LoadingMutex;
    lost_ = !locked;
  } else if (locked) {
    lock_.unlock();
  }
}

std::shared_ptr<const Payload> LoadingProcess::payload(std::span<const std::byte> bytes) {
  auto& known = payloads_[quickKey(bytes)];
  if (!known) known = std::make_shared<const Payload>(bytes);
  return known;
}

const LibraryAdapter::Renames& LoadingProcess::renames(LibraryAdapter& adapter,
                                                       const Library& library) {
  const auto key = std::make_pair(&adapter, library.identity);
  if (auto known = renames_.find(key); known != renames_.end()) return known->second;
  const auto contents =
      library.object ? library.object : LibraryCatalogue::contents(library.file, library.identity);
  return renames_.emplace(key, adapter.renames(*contents)).first->second;
}

std::string LoadingProcess::occupy(InterpreterId slot) {
  if (slot == InterpreterId::none()) {
    throw runtime::InvalidArgument("a private space was asked for in slot " +
                                   std::to_string(slot.number()) +
                                   "; expected an interpreter's, or the resident copy's");
  }
  Slot& entry = slots_[slot];
  if (entry.taken) {
    throw runtime::InvalidArgument(
        "a private space was asked for in slot " + std::to_string(slot.number()) +
        ", which another living space has; two would share their copies");
  }
  std::string label = std::to_string(slot.number());
  if (entry.generation > 0) label += "." + std::to_string(entry.generation);
  entry.taken = true;
  return label;
}

void LoadingProcess::vacate(InterpreterId slot,
                            std::vector<std::shared_ptr<CachedCopy>> residue) noexcept {
  Slot& entry = slots_.find(slot)->second;
  entry.taken = false;
  if (residue.empty()) return;
  ++entry.generation;
  try {
    residue_.reserve(residue_.size() + residue.size());
  } catch (const std::bad_alloc&) {
    return base::keepForever(std::move(residue));
  }
  std::move(residue.begin(), residue.end(), std::back_inserter(residue_));
}

}  // namespace multipy::loader
