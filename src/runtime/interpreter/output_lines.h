// What one interpreter prints, cut into lines for the program's OutputHook.
//
// Threads: add() from any thread that holds no GIL. One line is given out at a time;
// a hook that prints in the same interpreter gets that line inside.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/interpreter_id.h"
#include "base/mutex.h"
#include "multipy/runtime/interpreter_options.h"

namespace multipy::runtime {

class OutputLines {
 public:
  OutputLines(InterpreterId slot, OutputHook hook) : slot_(slot), hook_(std::move(hook)) {}
  OutputLines(const OutputLines&) = delete;
  OutputLines& operator=(const OutputLines&) = delete;

  /// Gives out the lines that this completes. Throws what the hook throws; the line
  /// that it threw at is done with, later ones come with the next call.
  void add(OutputStream stream, std::string_view text);

  /// Gives out what is left without an end of line. The interpreter is gone, so
  /// no caller is there to be told of what the hook throws.
  void finish() noexcept;

 private:
  void give(OutputStream stream, std::string& pending, std::size_t length, std::size_t end);

  const InterpreterId slot_;
  const OutputHook hook_;
  base::RecursiveMutex mutex_;
  std::array<std::string, 2> pending_ MULTIPY_GUARDED_BY(mutex_);  // by OutputStream
};

}  // namespace multipy::runtime
