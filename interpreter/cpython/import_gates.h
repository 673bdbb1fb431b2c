// What python/_multipy_gates.py needs of C++: which import a thread belongs to, and a look
// at imports of modules that are loaded already; and what python/_multipy_lazy_names.py does: a
// look at what `from module import name` finds.
//
// An import that holds gates is known by a token. It is the thread's that imports, and
// inherited by the threads that this one starts meanwhile (threads.cpp), or that run
// something for it.
//
// Threads: from any thread; what takes Python objects with the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace multipy {

/// The import that the calling thread belongs to, also when that has ended; 0: none.
std::uint64_t importToken() noexcept;

/// The calling thread belongs to another one's import as long as this lives.
class WithinImport {
 public:
  explicit WithinImport(std::uint64_t token) noexcept;
  ~WithinImport();
  WithinImport(const WithinImport&) = delete;
  WithinImport& operator=(const WithinImport&) = delete;

 private:
  const std::uint64_t before_;
};

/// Methods of the module _multipy_host.
PyObject* importTokenObject(PyObject*, PyObject*);
PyObject* beginImport(PyObject*, PyObject* token);
PyObject* endImport(PyObject*, PyObject* outer);
PyObject* callBeforeImports(PyObject*, PyObject* function);
/// (type, function): function(module, name, importer's globals or None) is called before `from
/// module import name` takes an object of the type, and with the name "*" before all are taken.
PyObject* callAboutStandIns(PyObject*, PyObject* typeAndFunction);

}  // namespace multipy
