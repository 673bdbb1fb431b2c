// Who notes that the threads of an autograd engine have been started: each engine
// (2.6), or one flag for all of them (2.13, 2.14), which then start no threads but
// those of the first. Asked of the class itself, so that no version has to be named.
#pragma once

namespace multipy::bridge::version {

template <typename Engine>
inline constexpr bool kEachEngineStartsItsThreads = requires(Engine& engine) {
  engine.start_device_threads_flag_;
};

}  // namespace multipy::bridge::version
