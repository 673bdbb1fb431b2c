// How much has been transferred, for statistics(). Every transfer changes these numbers, so
// each thread has its own, which it writes without a locked instruction, and a thread that
// asks adds them up.
//
// Threads: all functions from any thread.
#pragma once

namespace multipy::bridge {

/// Tensors that have been transferred.
void countTransfer() noexcept;
/// Storages that hold another's bytes: made (1) and gone (-1).
void countLive(long change) noexcept;

struct TransferSums {
  long transfers = 0, live = 0;
};
TransferSums transferSums() noexcept;

}  // namespace multipy::bridge
