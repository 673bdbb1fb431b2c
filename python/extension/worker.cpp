// A worker has one interpreter, by way of a manager of its own. A task goes there as one call of
// _multipy_crossing.run (python/multipy/_crossing.py) and comes back as its result:
//
//   there   address and size of the pickle; of each buffer the address, the size, whether it is
//           read-only, and by what it is known here; the tensors
//   back    whether it has raised; the pickle; of each buffer the address, the size and whether it
//           is read-only; the tensors; the number under which the interpreter keeps the buffers
//
// The program's GIL is given up for as long as the interpreter works, and never waited for by a
// thread that has an interpreter's.
#include "worker.h"

#include <multipy/runtime/deploy.h>

#include <cstring>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "buffers.h"
#include "interpreter/common/reference.h"
#include "tensors.h"

namespace multipy::host {
namespace {

using namespace multipy::runtime;

constexpr const char* kModule = "_multipy_crossing";

class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased() { PyEval_RestoreThread(state_); }
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* const state_;
};

// What the program has given a task, until that has ended. (What the interpreter keeps it holds
// itself.)
class GivenBuffers {
 public:
  ~GivenBuffers() {
    for (HostBuffer* const buffer : buffers_) HostBuffer::giveUp(buffer);
  }
  bool add(PyObject* object) {
    HostBuffer* const buffer = HostBuffer::of(object);
    if (buffer) buffers_.push_back(buffer);
    return buffer != nullptr;
  }
  c10::List<std::int64_t> described() const {
    c10::List<std::int64_t> numbers;
    for (HostBuffer* const buffer : buffers_) {
      numbers.push_back(reinterpret_cast<std::intptr_t>(buffer->view().buf));
      numbers.push_back(buffer->view().len);
      numbers.push_back(buffer->view().readonly != 0);
      numbers.push_back(reinterpret_cast<std::intptr_t>(buffer));
    }
    return numbers;
  }

 private:
  std::vector<HostBuffer*> buffers_;
};

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

  void begin(const std::string& source) {
    manager.registerModuleSource(kModule, source);
    InterpreterSession session = manager.acquireOne();
    session.global(kModule,
                   "use_functions")({reinterpret_cast<std::intptr_t>(&HostBuffer::hold),
                                     reinterpret_cast<std::intptr_t>(&HostBuffer::giveUp)});
    run = manager.createMovable(session.global(kModule, "run"), &session);
  }

  InterpreterManager manager;
  ReplicatedObj run;
  std::mutex mutex;
  std::stop_source stop;  // of the task that is under way
};

struct Worker {
  PyObject_HEAD std::shared_ptr<State> state;
};

// The exceptions that tasks end with when they are ended.
PyObject *interruptedError = nullptr, *deadlineError = nullptr;

void setError(const std::exception& error) {
  if (dynamic_cast<const CancelledError*>(&error))
    PyErr_SetString(interruptedError, error.what());
  else if (dynamic_cast<const DeadlineExceededError*>(&error))
    PyErr_SetString(deadlineError, error.what());
  else if (dynamic_cast<const std::bad_alloc*>(&error))
    PyErr_NoMemory();
  else
    PyErr_SetString(PyExc_RuntimeError, error.what());
}

// Calls `work` without the GIL. False, with a Python exception, if it throws.
template <typename Work>
bool outside(Work&& work) {
  try {
    const GilReleased released;
    work();
    return true;
  } catch (const std::exception& error) {
    setError(error);
    return false;
  }
}

bool stringsOf(PyObject* sequence, std::vector<std::string>& strings) {
  const auto items = Reference::take(PySequence_Fast(sequence, "expected a sequence of str"));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    const char* const text = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(items.get(), i));
    if (!text) return false;
    strings.emplace_back(text);
  }
  return true;
}

// Worker(prefix, source, arguments)
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const char *prefix = nullptr, *source = nullptr;
  PyObject* words = nullptr;
  if (!PyArg_ParseTuple(arguments, "ssO", &prefix, &source, &words)) return nullptr;
  InterpreterOptions own;
  if (!stringsOf(words, own.arguments)) return nullptr;
  std::shared_ptr<State> state;
  if (!outside([&] {
        state = std::make_shared<State>(prefix, std::move(own));
        state->begin(source);
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

// (In parts, of which each may fail with a Python exception.)
PyObject* buffersOf(const std::string& described, const std::shared_ptr<ResultOwner>& owner) {
  struct Row {
    std::uint64_t address, size, isReadOnly;
  };
  const std::size_t count = described.size() / sizeof(Row);
  auto list = Reference::take(PyList_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; list && i < count; ++i) {
    Row row;
    std::memcpy(&row, described.data() + i * sizeof row, sizeof row);
    PyObject* const memory =
        newResultMemory(owner, reinterpret_cast<void*>(row.address),
                        static_cast<Py_ssize_t>(row.size), row.isReadOnly != 0);
    if (!memory) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), memory);
  }
  return list.release();
}

PyObject* tensorsOf(const at::IValue& value) {
  const auto& tensors = value.toTupleRef().elements();
  auto list = Reference::take(PyList_New(static_cast<Py_ssize_t>(tensors.size())));
  for (std::size_t i = 0; list && i < tensors.size(); ++i) {
    PyObject* const tensor = wrapTensor(tensors[i].toTensor());
    if (!tensor) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), tensor);
  }
  return list.release();
}

// call(pickle, buffers, tensors, seconds) -> (raised, pickle, buffers, tensors)
PyObject* call(PyObject* self, PyObject* arguments) {
  Py_buffer pickle;
  PyObject *buffers = nullptr, *tensors = nullptr, *seconds = nullptr;
  if (!PyArg_ParseTuple(arguments, "y*OOO", &pickle, &buffers, &tensors, &seconds)) return nullptr;
  struct Released {
    Py_buffer& buffer;
    ~Released() { PyBuffer_Release(&buffer); }
  } const released{pickle};
  struct GivenUp {
    ~GivenUp() { HostBuffer::releaseGivenUp(); }
  } const givenUp;  // at the end
  const std::shared_ptr<State> state = reinterpret_cast<Worker*>(self)->state;
  if (!state) {
    PyErr_SetString(PyExc_RuntimeError, "this worker has been closed");
    return nullptr;
  }

  GivenBuffers given;
  const auto giving = Reference::take(PySequence_Fast(buffers, "expected a sequence of buffers"));
  const auto crossing = Reference::take(PySequence_Fast(tensors, "expected a sequence of tensors"));
  if (!giving || !crossing) return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(giving.get()); ++i)
    if (!given.add(PySequence_Fast_GET_ITEM(giving.get(), i))) return nullptr;
  std::vector<at::IValue> unwrapped;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(crossing.get()); ++i) {
    at::Tensor tensor;
    if (!unwrapTensor(PySequence_Fast_GET_ITEM(crossing.get(), i), tensor)) return nullptr;
    unwrapped.emplace_back(std::move(tensor));
  }

  CallOptions options;
  if (seconds != Py_None) {
    const double patience = PyFloat_AsDouble(seconds);
    if (PyErr_Occurred()) return nullptr;
    options.deadline = CallOptions::in(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(patience)));
  }
  {
    const std::lock_guard lock(state->mutex);
    state->stop = {};
    options.stop = state->stop.get_token();
  }

  at::IValue result;
  std::shared_ptr<ResultOwner> owner;
  const bool done = outside([&] {
    std::vector<at::IValue> values{reinterpret_cast<std::intptr_t>(pickle.buf),
                                   static_cast<std::int64_t>(pickle.len), given.described(),
                                   c10::ivalue::Tuple::create(std::move(unwrapped))};
    result = state->run.call(values, options);
    const std::int64_t kept = result.toTupleRef().elements()[4].toInt();
    if (kept == 0) return;
    InterpreterSession inside = state->manager.acquireOne();
    Obj object = inside.global(kModule, "take")({kept});
    owner = std::make_shared<ResultOwner>(state, std::move(inside), std::move(object));
  });
  if (!done) return nullptr;
  const std::vector<at::IValue> parts = result.toTupleRef().elements().vec();
  const auto wrapped = Reference::take(tensorsOf(parts[3]));
  const auto memory = Reference::take(wrapped ? buffersOf(parts[2].toStringRef(), owner) : nullptr);
  if (!memory) return nullptr;
  const std::string& text = parts[1].toStringRef();
  const auto bytes =
      Reference::take(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  if (!bytes) return nullptr;
  return PyTuple_Pack(4, parts[0].toInt() ? Py_True : Py_False, bytes.get(), memory.get(),
                      wrapped.get());
}

PyObject* interrupt(PyObject* self, PyObject*) {
  if (const std::shared_ptr<State> state = reinterpret_cast<Worker*>(self)->state) {
    std::stop_source stop;
    {
      const std::lock_guard lock(state->mutex);
      stop = state->stop;
    }
    const GilReleased released;
    stop.request_stop();
  }
  Py_RETURN_NONE;
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
      {"interrupt", interrupt, METH_NOARGS, "Ends the task that is under way."},
      {"close", close, METH_NOARGS, "Ends the interpreter."},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{"multipy._host.Worker", sizeof(Worker), 0, Py_TPFLAGS_DEFAULT, slots};
  interruptedError =
      PyErr_NewException("multipy._host.TaskInterrupted", PyExc_RuntimeError, nullptr);
  deadlineError = PyErr_NewException("multipy._host.TaskTimedOut", PyExc_TimeoutError, nullptr);
  const auto type = Reference::take(PyType_FromSpec(&spec));
  return type && interruptedError && deadlineError &&
         PyModule_AddObjectRef(module, "Worker", type.get()) == 0 &&
         PyModule_AddObjectRef(module, "TaskInterrupted", interruptedError) == 0 &&
         PyModule_AddObjectRef(module, "TaskTimedOut", deadlineError) == 0;
}

}  // namespace multipy::host
