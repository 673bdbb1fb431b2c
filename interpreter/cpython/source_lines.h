// Lines of source that `import torch` leaves in linecache.
//
// torch asks inspect where its custom operators are defined, and linecache keeps all lines
// of each file that is looked at: 2 MB in each interpreter, for good. They are read again
// when they are wanted. Forgotten while the import goes on, their memory is used for
// what comes after.
//
// Threads: with the GIL.
#pragma once

#include <Python.h>

namespace multipy {

/// forget_source_lines(): those that linecache can read again from a file. Not while other
/// threads run Python code, which may be in the middle of linecache.getlines().
PyObject* forgetSourceLines(PyObject*, PyObject*);

}  // namespace multipy
