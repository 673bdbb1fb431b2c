// What private libraries registered with pthread_atfork().
//
// A fork in one interpreter runs the handlers of all that are registered in the
// process, on the forking thread. Those of other interpreters' libraries have no
// business there: uvloop's takes its interpreter's GIL, which another thread holds, and
// in the child nobody ever gives it back. So in private copies the function is ours, and
// handlers run only in forks of their own interpreter.
#pragma once

namespace multipy {

/// A library, known by its __dso_handle, is being unloaded.
void forgetForkHandlers(const void* library);

}  // namespace multipy
