// A pool has a manager, and of its model a ReplicatedObj over a _multipy_inside.Model: a parcel
// of what makes the model, which each interpreter opens once.
//
// A request is a tuple of arguments, and a dict of keyword arguments or None, that cross as they
// are (direct_values.h, arrays.h), or a pickle of both. A call of requests that do not cross as
// they are gives NotImplemented, and the caller pickles them.
//
// The Python exceptions of a call are crossing.h's; what the model itself raises is in the answer.
#include "pool.h"

#include <multipy/runtime/call_options.h>
#include <multipy/runtime/call_outcome.h>
#include <multipy/runtime/interpreter_manager.h>
#include <multipy/runtime/interpreter_session.h>
#include <multipy/runtime/pool_options.h>
#include <multipy/runtime/python_environment.h>
#include <multipy/runtime/replicated_obj.h>

#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays.h"
#include "crossing.h"
#include "direct_values.h"
#include "interpreter/common/reference.h"
#include "keyboard_interrupts.h"
#include "pool_figures.h"
#include "stops.h"

namespace multipy::host {
namespace {

using namespace multipy::runtime;

// The first argument of a _multipy_inside.Model.
// (What has arrays has keywords or None, behind the arrays' facts.)
enum RequestKind : std::int64_t { kDirect, kPickled, kDirectWithKeywords, kDirectWithArrays };

// Whether this thread is one of a manager's, which must not destroy that.
thread_local bool isManagers = false;

class InManagersThread {
 public:
  InManagersThread() : before_(std::exchange(isManagers, true)) {}
  ~InManagersThread() { isManagers = before_; }
  InManagersThread(const InManagersThread&) = delete;
  InManagersThread& operator=(const InManagersThread&) = delete;

 private:
  const bool before_;
};

struct State {
  State(std::size_t interpreters, const InterpreterManagerOptions& options)
      : manager(interpreters, options) {}

  static std::shared_ptr<State> make(std::size_t interpreters,
                                     const InterpreterManagerOptions& options) {
    return {new State(interpreters, options), [](State* state) {
              if (isManagers)
                std::thread([state] { delete state; }).detach();
              else
                DeletedWithoutGil<State>()(state);
            }};
  }

  InterpreterManager manager;
  ReplicatedObj model;            // made before the first call
  std::shared_ptr<Parcel> maker;  // what interpreters make it of; without its pickle
};

// What a model's maker has raised in an interpreter.
struct NotMade : std::runtime_error {
  explicit NotMade(Answer what)
      : std::runtime_error("the model could not be made"), answer(std::move(what)) {}
  Answer answer;
};

struct Pool {
  PyObject_HEAD std::shared_ptr<State> state;
};

Pool& poolOf(PyObject* self) { return *reinterpret_cast<Pool*>(self); }

// Null with a Python exception.
std::shared_ptr<State> stateOf(PyObject* self) {
  const std::shared_ptr<State> state = poolOf(self).state;
  if (!state) PyErr_SetString(PyExc_RuntimeError, "this pool has been closed");
  return state;
}

// Pool(prefix, sources, arguments, interpreters, most_waiting, after_calls, after_seconds,
// after_bytes, slim, variables, python_options)
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const char* prefix = nullptr;
  PyObject *modules = nullptr, *words = nullptr, *slim = nullptr, *variables = nullptr,
           *flags = nullptr;
  Py_ssize_t interpreters = 0, mostWaiting = -1;
  unsigned long long afterCalls = 0, afterBytes = 0;
  double afterSeconds = 0;
  if (!PyArg_ParseTuple(arguments, "sOOnnKdKO!OO", &prefix, &modules, &words, &interpreters,
                        &mostWaiting, &afterCalls, &afterSeconds, &afterBytes, &PyTuple_Type, &slim,
                        &variables, &flags))
    return nullptr;
  InterpreterManagerOptions options;
  Pairs sources;
  if (!pairsOf(modules, sources) || !stringsOf(words, options.interpreters.arguments) ||
      !slimOf(slim, options.interpreters) || !variablesOf(variables, options.interpreters) ||
      !pythonOptionsOf(flags, options.interpreters))
    return nullptr;
  if (mostWaiting >= 0) options.pool.mostWaiting = static_cast<std::size_t>(mostWaiting);
  ReplacementOptions& replacement = options.pool.replacement;
  replacement.afterCalls = afterCalls;
  replacement.afterTime = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(afterSeconds));
  replacement.afterHeapBytes = afterBytes;
  std::shared_ptr<State> state;
  if (!outside([&] {
        options.environment = std::make_shared<PythonEnvironment>(prefix);
        state = State::make(static_cast<std::size_t>(interpreters), options);
        registerSources(state->manager, sources);
      }))
    return nullptr;
  PyObject* const self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  new (&poolOf(self).state) std::shared_ptr<State>(std::move(state));
  return self;
}

// Interpreters end here. What results have memory of, and one more, live on until these end.
void end(std::shared_ptr<State> state) {
  const GilReleased released;
  const std::weak_ptr<State> gone = state;
  state.reset();
  try {
    if (const auto kept = gone.lock()) kept->manager.resize(1);
  } catch (const std::exception&) {
    // It is as large as it was, then, and ends with the results all the same.
  }
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  std::shared_ptr<State> state = std::move(poolOf(self).state);
  poolOf(self).state.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
  if (state) end(std::move(state));
}

PyObject* close(PyObject* self, PyObject*) {
  if (auto state = std::exchange(poolOf(self).state, nullptr)) end(std::move(state));
  Py_RETURN_NONE;
}

// Makes the model in the session's interpreter. Throws NotMade.
void make(InterpreterSession& session, const std::shared_ptr<State>& state) {
  Answer answer = answerOf(CallOutcome(session.self.attr("make")({}).toIValue()), state);
  if (answer.value.isTuple()) throw NotMade(std::move(answer));
}

// load(pickle) -> None, or the answer of an interpreter in which the model could not be made: all
// is as it was, then.
PyObject* load(PyObject* self, PyObject* pickle) {
  const auto state = stateOf(self);
  auto maker = std::make_shared<Parcel>();
  if (!state || !maker->open(pickle)) return nullptr;
  std::shared_ptr<Parcel> before;
  std::optional<Answer> raised;
  const bool done = outside([&] {
    std::vector<at::IValue> values;
    maker->addTo(values);
    ReplicatedObj next;
    {
      InterpreterSession session = state->manager.acquireOne();
      next = state->manager.createMovable(session.global(kInside, "Model")(values), &session);
    }
    const std::weak_ptr<State> weak = state;
    const auto makeThere = [weak](InterpreterSession& session) {
      const InManagersThread here;
      if (const auto alive = weak.lock()) make(session, alive);
    };
    const bool first = !state->maker;
    try {
      if (!first) state->model.switchTo(next, makeThere);
      // In all at once, and in those that come later before they are called.
      state->manager.setWarmUp([next, makeThere](const Interpreter& there) {
        InterpreterSession session = next.acquireSession(&there);
        makeThere(session);
      });
      if (first) state->model = std::move(next);
      before = std::exchange(state->maker, maker);
    } catch (NotMade& error) {
      raised = std::move(error.answer);
    }
  });
  maker->forgetPickle();
  if (!done) return nullptr;
  if (!raised) Py_RETURN_NONE;
  return objectOf(*raised);
}

// ---------------------------------------------------------------- calls

struct Request {
  std::vector<at::IValue> values;
  std::shared_ptr<Parcel> parcel;  // null if all of them cross as values
  CallOptions options;

  /// False: `instead` is what the caller is to return, NotImplemented or null with a Python
  /// exception.
  bool open(PyObject* request, PyObject* keywords, PyObject* seconds, PyObject*& instead) {
    instead = nullptr;
    if (!deadlineOf(seconds, options)) return false;
    if (!PyTuple_CheckExact(request)) {
      parcel = std::make_shared<Parcel>();
      if (!parcel->open(request)) return false;
      values.emplace_back(kPickled);
      parcel->addTo(values);
      return true;
    }
    if (takeDirect(request, keywords)) return true;
    instead = Py_NewRef(Py_NotImplemented);
    return false;
  }

 private:
  bool takeDirect(PyObject* arguments, PyObject* keywords) {
    DirectValues direct;
    const Py_ssize_t size = PyTuple_GET_SIZE(arguments);
    values.reserve(static_cast<std::size_t>(size) + 3);
    values.emplace_back(keywords == Py_None ? kDirect : kDirectWithKeywords);
    if (keywords != Py_None && !direct.take(keywords, values.emplace_back())) return false;
    for (Py_ssize_t i = 0; i < size; ++i)
      if (!direct.take(PyTuple_GET_ITEM(arguments, i), values.emplace_back())) return false;
    if ((parcel = direct.arrays().parcel())) {
      if (keywords == Py_None) values.emplace(values.begin() + 1);
      values.front() = kDirectWithArrays;
      values.insert(values.begin() + 1, direct.arrays().facts());
    }
    return true;
  }
};

// (value,), or (value, arrays), or an answer's four.
PyObject* resultOf(const Answer& answer) {
  if (hasArrays(answer)) return objectWithArrays(answer);
  const bool isInTuple = answer.value.isTuple();
  if (isInTuple && answer.value.toTupleRef().elements().size() > 1) return objectOf(answer);
  const auto value = Reference::take(
      objectOfDirect(isInTuple ? answer.value.toTupleRef().elements()[0] : answer.value));
  return value ? PyTuple_Pack(1, value.get()) : nullptr;
}

// call(request, keywords, seconds) -> (value,), (value, arrays) if there are arrays in it
// (arrays.h), or (raised, pickle, buffers, tensors)
PyObject* call(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3) {
    PyErr_SetString(PyExc_TypeError, "call() takes a request, keywords and seconds");
    return nullptr;
  }
  const GivenUpReleased atTheEnd;
  const auto state = stateOf(self);
  if (!state) return nullptr;
  Request request;
  PyObject* instead = nullptr;
  if (!request.open(arguments[0], arguments[1], arguments[2], instead)) return instead;
  const KeyboardInterrupts interrupts(request.options);
  Answer answer;
  if (!outside([&] { answer = callThere(state->model, request.values, request.options, state); })) {
    interrupts.raise();
    return nullptr;
  }
  return resultOf(answer);
}

// What is called with a call's outcome, and what it has been given. The last one goes with the GIL.
struct Then {
  Reference callback;
  std::shared_ptr<Parcel> parcel;
  std::weak_ptr<State> state;
};

// By a thread that has no GIL.
void conclude(const std::shared_ptr<Then>& then, CallOutcome outcome) noexcept {
  const InManagersThread here;
  Answer answer;
  std::exception_ptr error;
  try {
    answer = answerOf(std::move(outcome), then->state.lock());
  } catch (...) {
    error = std::current_exception();
  }
  const PyGILState_STATE gil = takeGil();
  {
    auto result = Reference();
    if (error) {
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& why) {
        setError(why);
      }
    } else {
      result = Reference::take(resultOf(answer));
    }
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    if (!result) {
      PyErr_Fetch(&type, &value, &trace);
      PyErr_NormalizeException(&type, &value, &trace);
    }
    const auto done = Reference::take(PyObject_CallFunctionObjArgs(
        then->callback.get(), result ? result.get() : Py_None, value ? value : Py_None, nullptr));
    if (!done) PyErr_WriteUnraisable(then->callback.get());
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    then->callback = Reference();
    then->parcel.reset();
    HostBuffer::releaseGivenUp();
  }
  PyGILState_Release(gil);
}

// start(request, keywords, seconds, callback) -> Stop. `callback` is called once, by some thread,
// with the result of call() and None, or with None and the exception.
PyObject* start(PyObject* self, PyObject* arguments) {
  PyObject *given = nullptr, *keywords = nullptr, *seconds = nullptr, *callback = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOO", &given, &keywords, &seconds, &callback)) return nullptr;
  const auto state = stateOf(self);
  if (!state) return nullptr;
  Request request;
  PyObject* instead = nullptr;
  if (!request.open(given, keywords, seconds, instead)) return instead;
  auto stop = Reference::take(newStop());
  if (!stop || !stopTokenOf(stop.get(), request.options.stop)) return nullptr;
  const std::shared_ptr<Then> then(new Then{Reference::borrow(callback), request.parcel, state});
  if (outside([&] {
        state->model.callThen(
            std::move(request.values),
            [then](CallOutcome outcome) { conclude(then, std::move(outcome)); }, request.options);
      }))
    return stop.release();
  return nullptr;
}

// ---------------------------------------------------------------- what it does meanwhile

PyObject* stats(PyObject* self, PyObject*) {
  const auto state = stateOf(self);
  std::optional<PoolStats> figures;
  if (!state || !outside([&] { figures = state->manager.stats(); })) return nullptr;
  return figuresOf(*figures);
}

PyObject* metrics(PyObject* self, PyObject* name) {
  const auto state = stateOf(self);
  const char* const pool = PyUnicode_AsUTF8(name);
  std::string text;
  if (!state || !pool || !outside([&] { text = prometheusText(state->manager.stats(), pool); }))
    return nullptr;
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyObject* health(PyObject* self, PyObject*) {
  const auto state = stateOf(self);
  std::optional<PoolHealth> found;
  if (!state || !outside([&] { found = state->manager.health(); })) return nullptr;
  return healthOf(*found);
}

PyObject* replace(PyObject* self, PyObject* number) {
  const auto state = stateOf(self);
  const long slot = PyLong_AsLong(number);
  if (!state || PyErr_Occurred()) return nullptr;
  if (!outside([&] { state->manager.replace(static_cast<int>(slot)); })) return nullptr;
  Py_RETURN_NONE;
}

PyObject* resize(PyObject* self, PyObject* number) {
  const auto state = stateOf(self);
  const Py_ssize_t n = PyLong_AsSsize_t(number);
  if (!state || PyErr_Occurred()) return nullptr;
  if (!outside([&] { state->manager.resize(static_cast<std::size_t>(n)); })) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace

bool addPoolType(PyObject* module) {
  static PyMethodDef methods[] = {
      {"load", load, METH_O, "Makes the model in each interpreter."},
      {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)), METH_FASTCALL,
       "Calls the model, and waits for it."},
      {"start", start, METH_VARARGS, "Calls the model, and tells a callback what came of it."},
      {"stats", stats, METH_NOARGS, "What the interpreters have done and are doing."},
      {"metrics", metrics, METH_O, "The same in Prometheus' text format, of a pool of that name."},
      {"health", health, METH_NOARGS,
       "Whether calls can be made now, and what is not as it should be."},
      {"replace", replace, METH_O, "Replaces an interpreter, by its number, by a new one."},
      {"resize", resize, METH_O, "From now on the pool has so many interpreters."},
      {"close", close, METH_NOARGS, "Ends the interpreters."},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{"multipy._host.Pool", sizeof(Pool), 0, Py_TPFLAGS_DEFAULT, slots};
  const auto type = Reference::take(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "Pool", type.get()) == 0;
}

}  // namespace multipy::host
