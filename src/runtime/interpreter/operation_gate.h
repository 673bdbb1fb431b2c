// Counts the operations that are inside an interpreter, and lets its shutdown
// refuse new ones and wait until those inside have left. Two atomic additions
// an operation.
#pragma once

#include <atomic>
#include <cstdint>

namespace multipy::runtime {

class OperationGate {
 public:
  /// False, with nothing counted, if the gate is closed.
  bool tryPass() noexcept {
    if (word_.fetch_add(1) < kClosed) [[likely]]
      return true;
    leave();
    return false;
  }
  /// Goes in also when the gate is closed: for the one that closed it.
  void passClosed() noexcept { word_.fetch_add(1); }

  /// True if the gate is open and no operation is inside any more.
  bool leave() noexcept {
    const std::uint64_t left = word_.fetch_sub(1) - 1;
    if (left == kClosed) [[unlikely]]
      word_.notify_all();
    return left == 0;
  }

  /// False if it was closed before.
  bool close() noexcept { return (word_.fetch_or(kClosed) & kClosed) == 0; }
  void waitUntilEmpty() const noexcept {
    for (std::uint64_t now = word_.load(); now != kClosed; now = word_.load()) word_.wait(now);
  }

  bool closed() const noexcept { return word_.load() >= kClosed; }
  std::uint64_t inside() const noexcept { return word_.load() & ~kClosed; }
  bool empty() const noexcept { return inside() == 0; }

 private:
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 63;
  std::atomic<std::uint64_t> word_{0};  // kClosed, and the number inside
};

}  // namespace multipy::runtime
