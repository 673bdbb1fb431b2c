// The bytes of tensors that have been transferred: who keeps them alive, and by whom and where
// they are given up.
//
// A storage on the other side has a DataPtr over the same bytes (shared_bytes.h) and keeps
// the original storage:
//
//   bytes of C++               the original StorageImpl itself, counted as ever
//   bytes of an interpreter    what holds the original, and knows whose it is, counted
//
// Further hops of what has been transferred keep the same original: chains do not grow. torch
// takes all of them, and the original where its bytes allow it, for aliases
// (Storage::is_alias_of()).
//
// Dropping. The last that keeps it gives up the original StorageImpl, whose end may
// need its owner's GIL (a numpy array, a Python object in its place). A thread
// must not wait for that while it holds another interpreter's GIL, so:
//   C++'s                                 freed here
//   plain C++ memory, ours alone          freed here
//   the thread is in no interpreter       freed here, the owner's GIL is taken if needed
//   the thread is in the owner            likewise
//   the thread is in another interpreter  the owner's housekeeping thread does it
//   the owner is gone                     never freed: the bytes may be its Python's
//
// Threads: all functions from any thread.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include "base/interpreter_id.h"

namespace multipy::bridge {

/// A storage for the other side over the bytes of `original`; `owner` is the slot that
/// they come from, InterpreterId::none() for C++. It cannot be resized.
c10::intrusive_ptr<c10::StorageImpl> shareStorage(
    const c10::intrusive_ptr<c10::StorageImpl>& original, InterpreterId owner);

/// Its bytes are freed by torch's own allocator or belong to another storage: it can
/// belong to any side, and end in any thread.
bool hasNoOwner(const c10::StorageImpl& storage);

/// Its bytes are those of a storage which others have as well, so that they outlive it.
bool outlivedByBytes(const c10::StorageImpl& storage);

struct StorageCounts {
  long transfers, live, deferred, leaked;
};
StorageCounts storageCounts() noexcept;

}  // namespace multipy::bridge
