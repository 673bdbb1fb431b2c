// A program to be run under a profiler: in two interpreters it spends its time in
// CPython, in an extension module, and in libtorch_python, all private.
#include <multipy/runtime/interpreter_manager.h>

int main() {
  multipy::runtime::InterpreterManager manager(2);
  manager.registerModuleSource("busy", R"(
import json, torch
def run():
    x, texts = torch.zeros(2), ["words with \u00e4"] * 1000
    for _ in range(1_000_000): x.dim(); x.is_floating_point()
    for _ in range(500): json.dumps(texts)
)");
  for (const auto& interpreter : manager.allInstances()) {
    interpreter.acquireSession().global("busy", "run")({});
  }
}
