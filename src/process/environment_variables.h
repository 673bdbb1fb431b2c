// The process's environment variables, as interpreters change them.
//
// setenv() moves the array of variables when it adds one, and frees the old array. C code
// that calls getenv() at this moment reads freed memory. (glibc's from 2.41 on keeps it.)
// In plain Python the GIL is between the two: os.environ changes variables with it, and most
// C code reads them with it. Interpreters have a GIL each, and libtorch_cpu reads without
// any. So what interpreters add goes into an array of ours, and an array that a thread may be
// reading only ever grows at its end: for a variable that is removed, or where there is no more
// room, a new one takes its place. Replaced ones stay for a second at least, and until there have
// been 4096 more: for getenv() in other threads, and for execve(), which counts the entries
// before it copies them.
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
