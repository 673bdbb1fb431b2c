// A worker has one interpreter, by way of a manager of its own. A task goes there as one call of
// _multipy_inside.run (crossing.h).
#include "worker.h"

#include <multipy/runtime/call_options.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_options.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/python_environment.h>
#include <multipy/runtime/replicated_obj.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "crossing.h"
#include "interpreter/common/reference.h"
#include "stops.h"

namespace multipy::host {
namespace {

using namespace multipy::runtime;

struct State {
  State(const std::string& prefix, InterpreterOptions own)
      : manager(1, options(prefix, std::move(own))) {}

  static InterpreterManagerOptions options(const std::string& prefix, InterpreterOptions own) {
    InterpreterManagerOptions chosen;
    chosen.environment = std::make_shared<PythonEnvironment>(prefix);
    chosen.interpreters = std::move(own);
    // Who has the worker makes another one, which begins as this one did.
    chosen.pool.replacement.afterInterrupt = false;
    return chosen;
  }

  void begin(const Pairs& sources) {
    registerSources(manager, sources);
    InterpreterSession session = manager.acquireOne();
    run = manager.createMovable(session.global(kInside, "run"), &session);
  }

  InterpreterManager manager;
  ReplicatedObj run;
};

struct Worker {
  PyObject_HEAD std::shared_ptr<State> state;
};

// Worker(prefix, sources, arguments, slim, variables, python_options)
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const char* prefix = nullptr;
  PyObject *modules = nullptr, *words = nullptr, *slim = nullptr, *variables = nullptr,
           *flags = nullptr;
  if (!PyArg_ParseTuple(arguments, "sOOO!OO", &prefix, &modules, &words, &PyTuple_Type, &slim,
                        &variables, &flags))
    return nullptr;
  Pairs sources;
  InterpreterOptions own;
  if (!pairsOf(modules, sources) || !stringsOf(words, own.arguments) || !slimOf(slim, own) ||
      !variablesOf(variables, own) || !pythonOptionsOf(flags, own))
    return nullptr;
  std::shared_ptr<State> state;
  if (!outside([&] {
        state = {new State(prefix, std::move(own)), DeletedWithoutGil<State>()};
        state->begin(sources);
      }))
    return nullptr;
  PyObject* const self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  new (&reinterpret_cast<Worker*>(self)->state) std::shared_ptr<State>(std::move(state));
  return self;
}

// The interpreter ends here, unless results have memory of it.
void end(std::shared_ptr<State> state) {
  const GilReleased released;
  state.reset();
}

void dealloc(PyObject* self) {
  auto* const worker = reinterpret_cast<Worker*>(self);
  PyTypeObject* const type = Py_TYPE(self);
  std::shared_ptr<State> state = std::move(worker->state);
  worker->state.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
  if (state) end(std::move(state));
}

// call(pickle, seconds, stop) -> (raised, pickle, buffers, tensors)
PyObject* call(PyObject* self, PyObject* arguments) {
  PyObject *pickle = nullptr, *seconds = nullptr, *stop = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &pickle, &seconds, &stop)) return nullptr;
  const GivenUpReleased atTheEnd;
  const std::shared_ptr<State> state = reinterpret_cast<Worker*>(self)->state;
  if (!state) {
    PyErr_SetString(PyExc_RuntimeError, "this worker has been closed");
    return nullptr;
  }
  Parcel parcel;
  CallOptions options;
  if (!parcel.open(pickle) || !deadlineOf(seconds, options) || !stopTokenOf(stop, options.stop))
    return nullptr;
  Answer answer;
  const bool done = outside([&] {
    std::vector<at::IValue> values;
    parcel.addTo(values);
    answer = callThere(state->run, values, options, state);
  });
  return done ? objectOf(answer) : nullptr;
}

PyObject* close(PyObject* self, PyObject*) {
  if (auto state = std::exchange(reinterpret_cast<Worker*>(self)->state, nullptr))
    end(std::move(state));
  Py_RETURN_NONE;
}

}  // namespace

bool addWorkerType(PyObject* module) {
  static PyMethodDef methods[] = {
      {"call", call, METH_VARARGS, "Has the interpreter do a task, and waits for it."},
      {"close", close, METH_NOARGS, "Ends the interpreter."},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{"multipy._host.Worker", sizeof(Worker), 0, Py_TPFLAGS_DEFAULT, slots};
  const auto type = Reference::take(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "Worker", type.get()) == 0;
}

}  // namespace multipy::host
