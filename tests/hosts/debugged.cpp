// A program to be run under a debugger: it imports an extension module, which is
// a private copy, in two interpreters.
#include <multipy/runtime/interpreter_manager.h>

int main() {
  multipy::runtime::InterpreterManager manager(2);
  for (const auto& interpreter : manager.allInstances()) {
    if (!interpreter.acquireSession().global("_json", "make_encoder").hasattr("__call__")) return 1;
  }
}
