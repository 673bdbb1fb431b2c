// What a manager does when there is more to do than its interpreters can, and when it replaces one
// of them.
//
//   InterpreterManagerOptions options;
//   options.pool.mostWaiting = 1000;                 // then QueueFullError
//   options.pool.replacement.afterCalls = 100'000;   // a new interpreter, once in a while
//   InterpreterManager manager(4, options);
//
// Threads: plain values.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "multipy/runtime/call_options.h"

namespace multipy::runtime {

/// Why an interpreter has been replaced by a new one.
enum class ReplacementReason {
  ByHand,       // InterpreterManager::replace()
  Calls,        // ReplacementOptions::afterCalls
  Age,          // ReplacementOptions::afterTime
  Heap,         // ReplacementOptions::afterHeapBytes
  Interrupted,  // ReplacementOptions::afterInterrupt
  Condemned,    // an interrupted call did not end
  Broken,       // ReplacementOptions::whenBroken
};
inline constexpr std::size_t kReplacementReasons = 7;

/// When a new interpreter takes the place of one that serves. The new one is started, configured
/// and warmed up first (InterpreterManagerOptions::warmUp), one at a time, while calls go on; the
/// old one gets no call or session from then on and is shut down when those that it has have ended.
struct ReplacementOptions {
  /// After so many calls of ReplicatedObjs. Zero: never. Looked at ten times a second, as the next
  /// two are.
  std::uint64_t afterCalls = 0;
  std::chrono::nanoseconds afterTime{0};  // since it was started; zero: never
  /// When CPython has taken so much memory in it (torch's tensors are not in there). Zero: never.
  std::size_t afterHeapBytes = 0;
  /// Each interpreter's own three limits are lower by up to this share, so that they do not all
  /// come to them at once.
  double jitter = 0.1;
  /// After multipy.Interrupted was raised in a call there: code that it hit may have been half-way
  /// through something.
  bool afterInterrupt = true;
  /// When it is of no use any more (Interpreter::whyBroken()).
  bool whenBroken = true;
  /// An interrupted call that has not ended after this time condemns its interpreter: that gets no
  /// other call, at once, and is replaced. It is shut down when the call ends after all.
  std::chrono::nanoseconds grace = std::chrono::seconds(1);
  /// How many that are condemned, or have been replaced and still have calls or sessions, there may
  /// be. Beyond that none is replaced until one of them has gone.
  std::size_t mostLeaving = 4;
};

/// How the number of interpreters follows what there is to do, between `least` and `most`; without
/// it, it stays as it is. Looked at ten times a second. resize() by hand goes before it.
struct SizingOptions {
  /// Another interpreter is started, one at a time, when a call has been in line for so long. Zero:
  /// none is. What a start takes (docs/performance.md) is a good measure: a shorter wait will be
  /// over before the new one can help.
  std::chrono::nanoseconds growAfter{0};
  std::size_t most = 0;  // up to so many
  /// As many leave as have had no call or session for so long: the last of allInstances(), whose
  /// calls and sessions end before they are shut down. Zero: none does.
  std::chrono::nanoseconds shrinkAfter{0};
  /// Down to so many. Zero: an idle pool has no interpreter at all, and the next call or session
  /// waits for one to start.
  std::size_t least = 1;
};

struct PoolOptions {
  /// How many calls may wait in line. One more is refused with QueueFullError. Zero: a call that
  /// finds no interpreter does not wait.
  std::size_t mostWaiting = SIZE_MAX;
  /// The same of each priority; the index is the CallPriority.
  std::array<std::size_t, kCallPriorities> mostWaitingOf{SIZE_MAX, SIZE_MAX, SIZE_MAX};
  ReplacementOptions replacement;  // of interpreters by new ones
  SizingOptions sizing;            // how many there are
};

}  // namespace multipy::runtime
