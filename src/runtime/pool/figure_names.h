// What states and reasons are called where figures are shown: the page for a terminal, Prometheus'
// text, Python's dict.
#pragma once

#include "multipy/runtime/pool_stats.h"

namespace multipy::runtime {

inline const char* nameOf(InterpreterState state) {
  switch (state) {
    case InterpreterState::Serving:
      return "serving";
    case InterpreterState::Leaving:
      return "leaving";
    case InterpreterState::Condemned:
      return "condemned";
  }
  return "";
}

/// The index is the ReplacementReason.
inline constexpr const char* kReplacementNames[kReplacementReasons] = {
    "by_hand", "calls", "age", "heap", "interrupted", "condemned", "broken"};

}  // namespace multipy::runtime
