// Memory of the program's that Python code here looks at by reference: an object with a buffer,
// which says when it is wanted no more. What is made of it (a memoryview, numpy's arrays) keeps it.
//
// Threads: with the GIL.
#pragma once

#include <Python.h>

namespace multipy {

/// program_memory(address, size, is_read_only, hold, give_up, token): a new object. `hold` and
/// `give_up` are addresses of functions void(void*), which are called with `token` once each: now,
/// and when the object ends, by the thread that ends it; with this interpreter's GIL. Both are 0
/// for memory that outlives the object anyway.
PyObject* newProgramMemory(PyObject* module, PyObject* arguments);

/// buffer_facts(object): address, size in bytes and whether it is read-only, of a contiguous
/// buffer. They hold as long as the caller keeps a buffer of the object.
PyObject* bufferFacts(PyObject* module, PyObject* object);

/// call_program(address, object): calls the function void(PyObject*) that is there, with this
/// interpreter's GIL.
PyObject* callProgram(PyObject* module, PyObject* arguments);

}  // namespace multipy
