#include "interpreter/entry/host_module.h"

#include <cstring>
#include <string>
#include <string_view>

#include "interpreter/common/host_connection.h"
#include "interpreter/common/no_memory.h"
#include "interpreter/common/python_modules.h"
#include "interpreter/cpython/import_gates.h"
#include "interpreter/cpython/interrupts.h"
#include "interpreter/cpython/real_paths.h"
#include "interpreter/cpython/source_lines.h"
#include "interpreter/libc/environment_variables.h"
#include "interpreter/libc/once.h"
#include "interpreter/values/program_memory.h"

namespace multipy {
namespace {

// A name as UTF-8; null, without an exception, where it is none that can be registered.
const char* moduleName(PyObject* argument) {
  Py_ssize_t size = 0;
  const char* const name = PyUnicode_AsUTF8AndSize(argument, &size);
  PyErr_Clear();
  return name && std::strlen(name) == static_cast<std::size_t>(size) ? name : nullptr;
}

PyObject* moduleSource(PyObject*, PyObject* argument) {
  const char* const name = moduleName(argument);
  std::string source;
  if (!name || !host()->moduleSource(host()->context, name, source)) Py_RETURN_NONE;
  // Not data(): that of libstdc++'s old std::string makes a copy where the text is shared.
  return PyUnicode_DecodeUTF8(source.c_str(), static_cast<Py_ssize_t>(source.size()), "strict");
}

PyObject* hasModulesBelow(PyObject*, PyObject* argument) {
  const char* const name = moduleName(argument);
  return PyBool_FromLong(name && host()->hasModulesBelow(host()->context, name));
}

// write(stream, data): all of it, or OSError.
PyObject* output(PyObject*, PyObject* arguments) {
  int stream;
  Py_buffer data;
  if (!PyArg_ParseTuple(arguments, "iy*", &stream, &data)) return nullptr;
  std::string error;
  bool done;
  Py_BEGIN_ALLOW_THREADS  // what the program does with it may need this GIL
      done = host()->output(host()->context, stream, static_cast<const char*>(data.buf),
                            static_cast<std::size_t>(data.len), error);
  Py_END_ALLOW_THREADS const Py_ssize_t size = data.len;
  PyBuffer_Release(&data);
  if (done) return PyLong_FromSsize_t(size);
  PyErr_Format(PyExc_OSError, "the program's output hook failed: %s", error.c_str());
  return nullptr;
}

struct OwnerTask {
  PyObject* callable;
  std::uint64_t import = importToken();
  PyObject* result = nullptr;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;

  static void run(void* self) {
    auto& task = *static_cast<OwnerTask*>(self);
    // An interpreter that is ending gives its GIL to no thread any more.
    if (!Py_IsInitialized()) return;
    const WithinImport same(task.import);
    const PyGILState_STATE state = PyGILState_Ensure();
    task.result = PyObject_CallNoArgs(task.callable);
    if (!task.result) PyErr_Fetch(&task.type, &task.value, &task.traceback);
    PyGILState_Release(state);
  }
};

// run_on_owner(callable): its result, or its exception.
PyObject* runOnOwner(PyObject*, PyObject* callable) {
  OwnerTask task{callable};
  std::string error;
  bool ran;
  Py_BEGIN_ALLOW_THREADS ran = host()->runOnOwner(host()->context, OwnerTask::run, &task, error);
  Py_END_ALLOW_THREADS if (task.result) return task.result;
  if (task.type)
    PyErr_Restore(task.type, task.value, task.traceback);
  else
    PyErr_Format(PyExc_RuntimeError, "cannot run in the interpreter's own thread: %s",
                 ran ? "the interpreter is ending" : error.c_str());
  return nullptr;
}

PyObject* lookAtEnviron(PyObject*, PyObject*) {
  lookAtEnvironment();
  Py_RETURN_NONE;
}

PyObject* holdOthers(PyObject*, PyObject*) {
  const HostServices* const services = host();
  PyThreadState* const mine = PyEval_SaveThread();  // one of the others may be about to fork, too
  services->holdOthersForFork(services->context);
  PyEval_RestoreThread(mine);
  Py_RETURN_NONE;
}

PyObject* letOthersGo(PyObject*, PyObject*) {
  host()->letOthersGoAfterFork();
  Py_RETURN_NONE;
}

// A str as UTF-8; empty, with an exception, where it cannot be.
std::string_view textOf(PyObject* argument) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(argument, &size);
  return {text, static_cast<std::size_t>(text ? size : 0)};
}

PyObject* hasFact(PyObject*, PyObject* argument) {
  const std::string_view fact = textOf(argument);
  if (PyErr_Occurred()) return nullptr;
  return PyBool_FromLong(host()->hasFact(fact));
}

PyObject* publishFact(PyObject*, PyObject* argument) {
  const std::string_view fact = textOf(argument);
  if (PyErr_Occurred()) return nullptr;
  host()->publishFact(fact);
  Py_RETURN_NONE;
}

PyObject* reportBroken(PyObject*, PyObject* argument) {
  const std::string_view why = textOf(argument);
  if (PyErr_Occurred()) return nullptr;
  host()->reportBroken(host()->context, why);
  Py_RETURN_NONE;
}

PyObject* interrupted(PyObject*, PyObject*) {
  return Reference::borrow(interruptedType()).release();
}

PyObject* putOff(PyObject*, PyObject*) {
  putInterruptsOff();
  Py_RETURN_NONE;
}

PyObject* keepForEver(PyObject*, PyObject* object) {
  Py_INCREF(object);
  Py_RETURN_NONE;
}

PyObject* allow(PyObject*, PyObject*) {
  allowInterrupts();
  Py_RETURN_NONE;
}

PyObject* ownModule(PyObject*, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  return text ? ourModule(text).release() : nullptr;
}

PyMethodDef methods[] = {
    {"has_fact", hasFact, METH_O, "Whether an interpreter of this process has made it known."},
    {"publish_fact", publishFact, METH_O, "To all interpreters of this process."},
    {"hold_others", holdOthers, METH_NOARGS,
     "Before os.fork(): threads of other interpreters stop where they could lose their GIL."},
    {"let_others_go", letOthersGo, METH_NOARGS, "After it: they go on."},
    {"look_at_environ", lookAtEnviron, METH_NOARGS,
     "Has posix read the variables as they are now."},
    {"import_token", importTokenObject, METH_NOARGS,
     "The import that this thread belongs to, also when that has ended; 0: none."},
    {"begin_import", beginImport, METH_O, "This thread's import holds gates, and is known so."},
    {"end_import", endImport, METH_O, "It holds none any more; takes the token of before."},
    {"call_before_imports", callBeforeImports, METH_O,
     "Of threads that hold no gate, while others do: with name, globals and level."},
    {"call_about_stand_ins", callAboutStandIns, METH_VARARGS,
     "(type, function): function(module, name, globals) before names of the type are imported"},
    {"is_initializing", isInitializing, METH_NOARGS,
     "Whether this thread runs what C++ initialises once."},
    {"initializer_waited_for", initializerWaitedFor, METH_O,
     "The thread that runs the initialiser which a thread waits for, or None."},
    {"put_interrupts_off", putOff, METH_NOARGS,
     "This thread does what cannot be done a second time, and is not interrupted meanwhile."},
    {"allow_interrupts", allow, METH_NOARGS, "It has done it."},
    {"interrupted", interrupted, METH_NOARGS, "The type multipy.Interrupted."},
    {"report_broken", reportBroken, METH_O, "This interpreter is of no use any more, and why."},
    {"run_on_owner", runOnOwner, METH_O,
     "Calls it in the thread that started this interpreter and will end it."},
    {"output", output, METH_VARARGS, "Gives bytes that were printed to the program."},
    {"forget_source_lines", forgetSourceLines, METH_NOARGS,
     "Empties linecache of what it can read again."},
    {"is_real_path", isRealPath, METH_O,
     "True only if os.path.realpath() would return this path as it is."},
    {"program_memory", newProgramMemory, METH_VARARGS, "An object with a buffer of the program's."},
    {"buffer_facts", bufferFacts, METH_O, "Address, size, and whether it is read-only."},
    {"call_program", callProgram, METH_VARARGS,
     "Calls a function of the program's with an object."},
    {"keep_for_ever", keepForEver, METH_O, "This object is not destroyed, also when Python ends."},
    {"module_source", orMemoryError<moduleSource>, METH_O,
     "Source registered for a module name, or None."},
    {"own_module", ownModule, METH_O, "One of multipy's embedded modules, executed once."},
    {"has_modules_below", orMemoryError<hasModulesBelow>, METH_O,
     "Whether a module has been registered below a name."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          kHostModuleName,
                          "What multipy's Python code asks the host process for.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyObject* initHostModule() {
  auto module = Reference::take(PyModule_Create(&definition));
  if (!module || PyModule_AddIntConstant(module.get(), "slot", host()->slot.number()) != 0)
    return nullptr;
  return module.release();
}

}  // namespace multipy
