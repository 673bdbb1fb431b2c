// Threads of Python's that private libraries have let out of the GIL, as torch does for the length
// of an operator.
//
// One that comes back after Python has been finalised cannot end
// (interpreter/libc/thread_ends.cpp), since C++ functions are on its stack. So the last moment
// before that is waited for at which none is outside: a thread in Python code ends as soon as it
// gives the GIL up. (Of several that are in operators nearly all the time some may miss it.)
//
// PyEval_SaveThread and PyEval_RestoreThread, as private libraries know them, are ours; CPython's
// own blocking functions are not counted.
//
// Threads: all functions with the GIL, but where they say otherwise.
#pragma once

namespace multipy {

/// This thread is one that Python has started. (Others end at the end of their libraries.)
void thisThreadIsPythons() noexcept;  // without the GIL
/// This thread, which a library had let out, has the GIL again.
void threadIsBack() noexcept;
/// In a child of fork(), where this thread is alone.
void forgetThreadsOutside() noexcept;

}  // namespace multipy
