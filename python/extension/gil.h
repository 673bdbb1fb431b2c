// The program's GIL.
//
// Up to CPython 3.13 a thread that wants it while the program's Python ends (a daemon thread, or
// one of C++) is ended by pthread_exit(), which unwinds its stack: through functions of C++ that
// let no exception out, where the process would abort, and others whose objects need the GIL to go.
// Such a thread hangs here instead, as all do from 3.14 on; the process ends without it.
#pragma once

#include <Python.h>
#include <unistd.h>

namespace multipy::host {

[[noreturn]] inline void hangThisThread() noexcept {
  for (;;) pause();
}

/// PyEval_RestoreThread().
inline void takeGil(PyThreadState* state) noexcept {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {  // nothing else comes by: CPython throws nothing
    hangThisThread();
  }
}

/// For a thread that may be none of Python's. PyGILState_Release() gives it up.
inline PyGILState_STATE takeGil() noexcept {
  try {
    return PyGILState_Ensure();
  } catch (...) {
    hangThisThread();
  }
}

class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() { takeGil(state_); }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
};

}  // namespace multipy::host
