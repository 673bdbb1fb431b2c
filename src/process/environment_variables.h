// The process's environment variables, as interpreters change them.
//
// setenv() moves the array of variables when it adds one, and frees the old array. C code
// that calls getenv() at this moment reads freed memory. (glibc's from 2.41 on keeps it.)
// In plain Python the GIL is between the two: os.environ changes variables with it, and most
// C code reads them with it. Interpreters have a GIL each, and libtorch_cpu reads without
// any. So what interpreters add goes into an array of ours; those that have become too small
// stay where they are, all of them together no larger than the present one.
//
// What the program itself changes with setenv() is up to the program, as ever.
//
// Threads: all functions from any thread; getenv() meanwhile, too.
#pragma once

namespace multipy::process {

/// As setenv(3), unsetenv(3), putenv(3): 0, or an errno value.
int setProcessVariable(const char* name, const char* value, int overwrite);
int removeProcessVariable(const char* name);
int putProcessVariable(char* entry);

/// As clearenv(3): 0, or an errno value.
int clearProcessVariables();

}  // namespace multipy::process
