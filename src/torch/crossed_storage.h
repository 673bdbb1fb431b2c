// The bytes of tensors that have crossed: who keeps them alive, and by whom and where
// they are given up.
//
// A storage on the other side has a DataPtr over the same bytes, whose context holds the
// original storage:
//
//   bytes of C++               the original StorageImpl itself, counted as ever
//   bytes of an interpreter    Shared: the original, and whose it is, counted
//
// Further hops of what has crossed hold the same original: chains do not grow.
//
// Dropping. The last DataPtr gives up the original StorageImpl, whose end may
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

namespace multipy::routing {

/// The bytes of `original`, for a storage on the other side; `owner` is the slot that
/// they come from, kNone for C++.
c10::DataPtr shareBytes(const c10::intrusive_ptr<c10::StorageImpl>& original, int owner);

/// Its bytes are freed by torch's own allocator or belong to another storage: it can
/// belong to any side, and end in any thread.
bool hasNoOwner(const c10::StorageImpl& storage);

/// Its bytes are those of a storage which others have as well, so that they outlive it.
bool outlivedByBytes(const c10::StorageImpl& storage);

struct HandoffCounts {
  long crossings, live, deferred, leaked;
};
HandoffCounts handoffCounts() noexcept;

}  // namespace multipy::routing
