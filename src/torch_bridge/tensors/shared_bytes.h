// Bytes that several storages have, in a way that torch knows: Storage::is_alias_of() is
// true for two storages whose DataPtrs have the same c10::RefcountedDeleterContext for
// their context, and c10::refcounted_deleter() for their deleter.
//
//   original's DataPtr ──┐
//   DataPtr over there ──┼──► RefcountedDeleterContext: count, and how the original
//   DataPtr over there ──┘    freed its bytes before
//
// The original gets its context when its bytes are shared for the first time, and keeps it:
// while its bytes may be read elsewhere, since only the context and the deleter of its
// DataPtr change. If it gets other bytes (resize_(), share_memory_()), the old ones live on
// for the others.
//
// Not every original can get one: torch's allocators for GPUs, for pinned memory and for
// memory of several processes look for their own deleter or context in a DataPtr
// (record_stream() would do nothing, is_shared() would be false). Only bytes on the CPU that
// are freed by its allocator, by a std::function (from_blob(), numpy, DLPack) or not at all
// are changed. The context of others is known to their aliases alone, not to the original;
// the original has to be kept for as long as those live.
//
// torch's functions for this are not called here:
//   - maybeApplyRefcountedDeleter() takes one lock of the process for each storage, which a
//     child of a fork may find taken.
//   - refcounted_deleter() counts down and then reads the count once more: of two threads
//     that come last at one moment, both would free. release() leaves nothing to it
//     while others count. To be safe, who has a storage over shared bytes keeps the
//     original storage too: then its DataPtr is the last one to end, alone, by torch's function.
//
// Threads: all functions from any thread; that of one storage's bytes by several at once.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/RefcountedDeleter.h>
#include <c10/core/StorageImpl.h>

#include <memory>

namespace multipy::bridge {

using SharedBytes = c10::RefcountedDeleterContext;
/// What frees bytes, and with which context; null if nothing has to.
using BytesOwner = std::unique_ptr<void, c10::DeleterFnPtr>;

/// A further DataPtr over the bytes of `original`, which must not be copy-on-write.
c10::DataPtr shareBytes(c10::StorageImpl& original);

bool areShared(const c10::DataPtr& bytes) noexcept;

/// Ends `bytes`, which are shared. What has to be freed now, since no DataPtr is left.
BytesOwner release(c10::DataPtr& bytes) noexcept;

/// How bytes are freed in the end, shared or not.
c10::DeleterFnPtr deleterOf(const c10::DataPtr& bytes) noexcept;

}  // namespace multipy::bridge
