#include "process/fork_guard.h"

#include <string>

#include "multipy/runtime/Exception.h"

namespace multipy::process {

void refuseInForkedChild(const char* doing) {
  if (!inForkedChild()) [[likely]]
    return;
  throw runtime::HandleError(
      std::string("cannot ") + doing +
      " in a child of fork(): this process was forked from one that had already used "
      "multipy, and the threads of its interpreters do not exist here. Use multipy in "
      "the parent, fork before the first InterpreterManager is made, or exec a new "
      "program");
}

}  // namespace multipy::process
