#include "interpreter/cpython/stacks.h"

#include "interpreter/common/failure.h"
#include "interpreter/common/python_version.h"
#include "interpreter/common/reference.h"

// Declared in CPython's internal headers only; the same in all versions that we build with.
// What faulthandler uses.
extern "C" const char* _Py_DumpTracebackThreads(int file, PyInterpreterState* interpreter,
                                                PyThreadState* current);
// What sys._current_frames() is: a dict from ident to topmost frame.
extern "C" PyObject* _PyThread_CurrentFrames();

namespace multipy {
namespace {

runtime::StackFrame describe(PyFrameObject* frame) {
  const auto code = Reference::take(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  auto* const object = reinterpret_cast<PyCodeObject*>(code.get());
  return {textOf(object->co_filename), PyFrame_GetLineNumber(frame), textOf(qualifiedName(object))};
}

// Frames become objects when they are asked for, and a collection that this set off
// would run Python code.
class GarbageStays {
 public:
  GarbageStays() : enabled_(PyGC_Disable()) {}
  ~GarbageStays() {
    if (enabled_) PyGC_Enable();
  }
  GarbageStays(const GarbageStays&) = delete;
  GarbageStays& operator=(const GarbageStays&) = delete;

 private:
  const int enabled_;
};

// Borrowed from threading's own table, which is a dict from ident to Thread; null if
// threading is not imported, or not as far as that.
PyObject* threadsByIdent() {
  PyObject* threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
  PyObject* names = threading && PyModule_Check(threading) ? PyModule_GetDict(threading) : nullptr;
  PyObject* table = names ? PyDict_GetItemString(names, "_active") : nullptr;
  return table && PyDict_CheckExact(table) ? table : nullptr;
}

// Not by the property `name`: that would be Python code, and Python code may give
// the GIL up and wait.
std::string nameOf(PyObject* table, unsigned long ident) {
  const auto key = Reference::take(PyLong_FromUnsignedLong(ident));
  PyObject* thread = table && key ? PyDict_GetItemWithError(table, key.get()) : nullptr;
  const auto attributes =
      Reference::take(thread ? PyObject_GenericGetDict(thread, nullptr) : nullptr);
  PyObject* name = attributes ? PyDict_GetItemString(attributes.get(), "_name") : nullptr;
  PyErr_Clear();
  return name && PyUnicode_Check(name) ? textOf(name) : std::string();
}

}  // namespace

void collectStacks(std::vector<runtime::ThreadStack>* out) {
  const GarbageStays untouched;
  PyObject* const table = threadsByIdent();
  // Not by going through the thread states: they are added to their list without the GIL, before
  // they are complete. This function holds the list's lock.
  const auto frames = Reference::take(_PyThread_CurrentFrames());
  if (!frames) {  // no memory
    PyErr_Clear();
    return;
  }
  PyObject *ident, *topmost;
  for (Py_ssize_t position = 0; PyDict_Next(frames.get(), &position, &ident, &topmost);) {
    runtime::ThreadStack stack;
    stack.thread = PyLong_AsUnsignedLong(ident);
    stack.name = nameOf(table, stack.thread);
    auto frame = Reference::borrow(topmost);
    while (frame) {
      auto* const object = reinterpret_cast<PyFrameObject*>(frame.get());
      stack.frames.push_back(describe(object));
      frame = Reference::take(reinterpret_cast<PyObject*>(PyFrame_GetBack(object)));
    }
    out->push_back(std::move(stack));
  }
}

runtime::StackFrame topFrame(PyThreadState* state) {
  const GarbageStays untouched;
  const auto frame = Reference::take(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(state)));
  return frame ? describe(reinterpret_cast<PyFrameObject*>(frame.get())) : runtime::StackFrame{};
}

void writeStacks(int file) { _Py_DumpTracebackThreads(file, PyInterpreterState_Main(), nullptr); }

}  // namespace multipy
