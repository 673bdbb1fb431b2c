// The start of interpreters, of which the process's first is beside the adoption of the program's
// torch (src/torch_bridge/program_python.h). Each takes some ten milliseconds, and an interpreter
// has to do with torch only when it imports that. Adoption needs the program's GIL, so that no
// other thread imports torch meanwhile; starting needs none.
#pragma once

#include <functional>

namespace multipy::host {

/// Calls `start` without the GIL, perhaps in another thread. With the GIL. False with a Python
/// exception: what `start` throws, or an ImportError where this torch cannot be worked with.
bool startInterpreters(const std::function<void()>& start);

}  // namespace multipy::host
