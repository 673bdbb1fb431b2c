// Ctrl-C in a call that the program's main thread waits for.
//
// CPython's signal handler leaves a note, which the main thread finds as soon as it is in Python
// code again; while it is in another interpreter it does not look. So for the length of such a call
// the descriptor that the handler writes to (signal.set_wakeup_fd) is ours. A thread reads there,
// writes what it has read to the program's own descriptor, and at a SIGINT that raises
// KeyboardInterrupt (signal.default_int_handler) ends the call, as CallFuture.cancel() does. Other
// handlers run when the call is over, as with a function of C. (set_wakeup_fd's warn_on_full_buffer
// cannot be asked for: it is on, as it is by default, after such a call.)
//
// The thread and its pipe are made for the first such call, and are there until the process ends.
// Where they cannot be had, a call is over before Ctrl-C is seen.
#pragma once

#include <multipy/runtime/call_options.h>

#include <stop_token>

namespace multipy::host {

/// Within it, a call with these options ends at Ctrl-C. Made and destroyed with the GIL. Any
/// thread: those that are not the main one's calls are left as they are.
class KeyboardInterrupts {
 public:
  explicit KeyboardInterrupts(runtime::CallOptions& options);
  ~KeyboardInterrupts();
  KeyboardInterrupts(const KeyboardInterrupts&) = delete;
  KeyboardInterrupts& operator=(const KeyboardInterrupts&) = delete;

  /// After a call that has ended with the Python exception which is set: puts KeyboardInterrupt in
  /// its place if that is why.
  void raise() const;

 private:
  std::stop_source stop_{std::nostopstate};
  int programs_ = -1;  // the program's own descriptor, while ours is in its place
};

/// Before the first KeyboardInterrupts, once.
void prepareKeyboardInterrupts();

}  // namespace multipy::host
