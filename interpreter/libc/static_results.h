// Results of C functions that lie in one variable of the process.
//
// localtime(), getpwnam(), getservbyname(), getmntent() and their like give a pointer to a
// variable that the next call overwrites. In plain Python C code is safe with them while it
// has the GIL; N interpreters have N GILs. So CPython and private libraries get such results
// in the calling thread's own memory: they stay until that thread's next call.
//
// The functions that hand out a whole list, one entry at each call (getpwent()), have one
// place in it per process. Here the list is read at once, under a lock of the process, and
// each thread has its own.
//
// Private libraries come here by the names of src/loader/c_functions.def, CPython by
// --wrap.
#pragma once

namespace multipy {

/// At the interpreter's end, when none of its code runs any more: frees what threads that
/// live on have had. (What a thread had that has ended is free already.)
void freeThreadResults();

}  // namespace multipy
