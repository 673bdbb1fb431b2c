// Which flag says that the threads of an autograd engine have been started: one of each engine
// (torch up to 2.6), or one for all of them, which then start no threads but those of the first.
// Asked of the class itself.
#pragma once

namespace multipy::bridge::feature {

template <typename Engine>
inline constexpr bool kEachEngineStartsItsThreads = requires(Engine& engine) {
  engine.start_device_threads_flag_;
};

}  // namespace multipy::bridge::feature
