// What torch's libraries had where a function or an object of ours has just been put.
//
// Some of the functions that torch has room for one of can be set and not asked for. What the
// program's own libtorch_python has set there, before there was any interpreter, is found by
// looking: the writable memory of torch's libraries is copied, ours is set, and the one word that
// has become ours is what torch reads; the copy says what it was.
//
// Threads: any, one for each object.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/interpreter_id.h"
#include "process/function_per_interpreter.h"

namespace multipy::bridge {

/// The writable memory of libtorch_cpu and libc10 as it is when this is made.
class ReplacedWords {
 public:
  ReplacedWords();
  /// What stood where `ours` stands now and did not then; null if that was nothing. Throws
  /// UnsupportedTorchError, with `what` for its text, unless that is one word.
  void* replacedBy(const void* ours, const char* what) const;

 private:
  struct Copy {
    const std::uintptr_t* words;
    std::vector<std::uintptr_t> before;
  };
  std::vector<Copy> copies_;
};

/// As process::installOnce, before any interpreter has called that; what torch had until then
/// becomes the program's own in `table`; `before` was made before.
template <auto set, auto function, typename Table>
void installOver(const ReplacedWords& before, Table& table, const char* what) {
  std::call_once(process::installed<set, function>(), [&] {
    set(function);
    table.set(InterpreterId::program(),
              before.replacedBy(reinterpret_cast<const void*>(function), what));
  });
}

}  // namespace multipy::bridge
