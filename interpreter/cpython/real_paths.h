// os.path.realpath() for the path that is real already, in one system call.
//
// CPython asks lstat() of each part of a path, in Python: 3 us for each. `import torch`
// does that for the files of a thousand modules (torch looks for the sources of its custom
// operators with inspect.getmodule), which is a twentieth of its time. openat2(2) tells
// with one call whether a path leads through a symbolic link.
//
// Threads: with the GIL.
#pragma once

#include <Python.h>

namespace multipy {

/// is_real_path(path): True only if it is a str that os.path.realpath() returns as it is,
/// however it is called: absolute, normalized, all of it there, no symbolic link in it.
/// False where that cannot be told so simply. Never raises.
PyObject* isRealPath(PyObject*, PyObject* path);

}  // namespace multipy
