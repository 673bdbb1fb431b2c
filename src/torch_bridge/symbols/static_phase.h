// Is a further copy of a torch library running its static initialisers?
//
// Those of libtorch_python (and of extensions built on torch) register operators,
// custom classes and handlers with the process: once is right, twice is an error
// or worse. The resident copy, which is never unloaded, does it; while the same
// initialisers run for an interpreter's copy, this thread is "in the static
// phase" and such registrations are left out. dlopen runs static initialisers in
// the calling thread, so the mark is the thread's own.
#pragma once

namespace multipy::bridge {

class StaticPhase {
 public:
  static bool active() noexcept { return depth_ > 0; }
  static void begin() noexcept { ++depth_; }
  static void end() noexcept { --depth_; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace multipy::bridge
