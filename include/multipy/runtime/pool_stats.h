// What a manager's interpreters have done and are doing: for dashboards, and for whether to send it
// more.
//
//   std::string page = prometheusText(manager.stats());    // GET /metrics
//   PoolHealth health = manager.health();                  // GET /ready
//
// To count costs the calls nothing that was measured: what would take a clock's reading each is
// sampled.
//
// Threads: plain values.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "multipy/runtime/call_options.h"
#include "multipy/runtime/pool_figures.h"
#include "multipy/runtime/pool_options.h"

namespace multipy::runtime {

/// How often something took how long.
struct DurationHistogram {
  /// Upper bounds, in seconds; what took longer than the last is in the last count.
  static constexpr std::array<double, 14> kBounds{
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10, 60};
  std::array<std::uint64_t, kBounds.size() + 1> counts{};  // of each by itself, not cumulative
  std::chrono::nanoseconds sum{0};                         // of all of them

  /// How often in all.
  std::uint64_t total() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t count : counts) all += count;
    return all;
  }
  /// Adds what another one has counted.
  DurationHistogram& operator+=(const DurationHistogram& other) noexcept {
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum += other.sum;
    return *this;
  }
};

enum class InterpreterState {
  Serving,    // calls and sessions are given to it
  Leaving,    // it has been replaced; those that it has go on
  Condemned,  // an interrupted call in it does not end
};

struct InterpreterStats {                              // one interpreter
  int interpreter = 0;                                 // Interpreter::slot()
  std::size_t index = 0;                               // in allInstances(), while it serves
  InterpreterState state = InterpreterState::Serving;  // whether it gets calls
  std::chrono::milliseconds age{0};                    // since it was started, and warmed up
  /// How many that had this index before it have been replaced; the index is the ReplacementReason.
  std::array<std::uint64_t, kReplacementReasons> replacements{};
  std::size_t heapBytes = 0;  // CPython's memory in it
  std::size_t users = 0;      // calls and sessions that have it now
  std::string whyBroken;      // Interpreter::whyBroken()
  std::uint64_t calls = 0;    // of ReplicatedObjs, those under way too
  /// How many of them ended with which Python exception, by its type; the interrupted ones are not
  /// in it.
  std::map<std::string, std::uint64_t> errors;
  std::uint64_t interrupts = 0;             // calls in it that multipy.Interrupted was asked for
  std::vector<RunningCallFigures> running;  // calls under way; without stacks
  DurationHistogram queueTime;              // of its calls, as PoolStats has it of all
  DurationHistogram gilWait;                // the same
  DurationHistogram runTime;                // the same
};

/// Calls that were not made, or were ended early, since the manager was made.
struct EndedCalls {
  std::uint64_t queueFull = 0;         // QueueFullError
  std::uint64_t deadlineInLine = 0;    // DeadlineExceededError, not begun
  std::uint64_t cancelledInLine = 0;   // CancelledError, not begun
  std::uint64_t deadlineRunning = 0;   // DeadlineExceededError, begun and interrupted
  std::uint64_t cancelledRunning = 0;  // CancelledError, begun and interrupted
};

struct PoolStats {
  std::vector<InterpreterStats> interpreters;            // those that serve, and those that leave
  std::uint64_t callsOfRetired = 0;                      // of those that are not there any more
  std::map<std::string, std::uint64_t> errorsOfRetired;  // theirs, by type
  /// How many interpreters have been replaced; the index is the ReplacementReason.
  std::array<std::uint64_t, kReplacementReasons> replacements{};
  std::uint64_t failedReplacements = 0;  // a new one could not be started or warmed up
  std::uint64_t grown = 0;               // interpreters started since calls waited (SizingOptions)
  std::uint64_t shrunk = 0;              // that have left since they had nothing to do
  std::uint64_t interrupts = 0;          // of all interpreters, those that are gone too
  /// In line now, by priority (the index is the CallPriority): threads that wait in a call, and
  /// calls that no thread waits for.
  std::array<std::size_t, kCallPriorities> waiting{};
  EndedCalls ended;  // since the manager was made
  /// How long calls were in line; those that found an interpreter at once are in the first count.
  DurationHistogram queueTime;
  /// How long a call that had its interpreter waited for the GIL: for Python's own threads, and for
  /// calls that share the interpreter. Of calls of less than a millisecond one in 128 is measured,
  /// and counted 128 times.
  DurationHistogram gilWait;
  DurationHistogram runTime;  // how long the object's own code took, measured in the same way
};

/// Of the calls that one object has had, by which versions can be compared that share calls
/// (ReplicatedObj::shareCalls).
struct ObjectStats {
  std::string model;          // what errors and figures call it
  std::uint64_t errors = 0;   // calls that ended with a Python exception
  DurationHistogram runTime;  // as PoolStats has it; total() is about how many calls there were
};

/// A manager's figures in Prometheus' text format, version 0.0.4: multipy_... metrics, each with
/// the label pool="`pool`".
std::string prometheusText(const PoolStats& stats, const std::string& pool = "default");

struct PoolHealth {  // whether to send it calls
  /// Whether a call would be made: the line is not full (PoolOptions::mostWaiting), and there is an
  /// interpreter to wait for.
  bool ready = true;
  /// Why not, or what is not as it should be; one sentence each.
  std::vector<std::string> reasons;
};

}  // namespace multipy::runtime
