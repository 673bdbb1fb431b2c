// What a manager's interpreters were doing at one moment, in the errors of calls that were not
// made.
//
// Threads: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace multipy::runtime {

/// A call that is under way.
struct RunningCallFigures {
  std::uint64_t id = 0;             // for InterpreterManager::interrupt()
  int interpreter = 0;              // Interpreter::slot()
  std::string model;                // "file.pkl of package", or what the object's type is called
  std::chrono::milliseconds age{};  // since it went in
  /// What its thread was doing in Python, the innermost frame last, a line for each; empty if it
  /// was not had at once (its GIL is held), or has just been asked for by another error.
  std::string stack;
};

struct PoolFigures {
  std::size_t interpreters = 0;               // that take calls
  std::size_t busy = 0;                       // of them: with a call or a session inside
  std::size_t waiting = 0;                    // calls in line
  std::optional<RunningCallFigures> longest;  // of the calls under way the one that began first
};

/// "4 interpreters, 4 busy, 17 calls waiting; the longest running call: ...".
std::string toText(const PoolFigures& figures);

}  // namespace multipy::runtime
