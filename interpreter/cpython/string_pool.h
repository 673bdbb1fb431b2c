// Long constants of code objects, with their text outside of this interpreter.
//
// A str object is "compact": header and text in one block. CPython has another form, with a
// pointer to the text, for instances of str's subclasses (up to 3.11 also for what
// PyUnicode_FromUnicode made, exact str objects). All that reads a str, macros included,
// asks which it is (PyUnicode_DATA). So a long constant can be an object of 80 bytes (64 from
// 3.12 on) whose text is the process's (src/process/string_pool.h). Two things keep it safe:
//
//   - CPython changes or resizes a str in place only where no other code can have seen it, which it
//     tells by the missing hash (unicode_modifiable); this one is given its hash at once.
//   - At its end it frees the text with PyObject_Free(), from 3.13 on with PyMem_Free().
//     Either is pymalloc's, which does not know the text and hands it on to PyMem_RawFree(),
//     ours: what does not lie in our range is a shared text, or a block of malloc(). While
//     others are in between that want to know each block (tracemalloc, memory profilers),
//     nothing is shared.
//
// A constant that something else refers to, another code object or the compiler, stays: `is`
// would tell the difference. All that tells it is sys.getsizeof(), 24 or 32 bytes
// more, and its iterator's type, str_iterator for str_ascii_iterator.
//
// Threads: with the GIL.
#pragma once

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Puts such objects in place of the long texts among `constants`, the tuple of a code object
/// that is being made. Never fails: what cannot be shared stays as it is.
void multipy_share_texts(PyObject* constants);

#ifdef __cplusplus
}
#endif
