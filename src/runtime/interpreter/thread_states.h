// The PyThreadStates that this thread was given on entering interpreters. They
// are kept as long as the thread lives and handed back when it ends: the
// interpreter discards them when a thread is inside next. A thread that is ending
// takes no GIL.
#pragma once

#include <memory>

namespace multipy::runtime {

class InterpreterCore;

/// Before a state is made for the calling thread: rememberThreadState() needs no memory then.
void prepareToRememberThreadState();
/// `state` was made for the calling thread.
void rememberThreadState(std::weak_ptr<InterpreterCore> core, void* state) noexcept;

}  // namespace multipy::runtime
