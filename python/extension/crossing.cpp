#include "crossing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "interpreter/common/reference.h"
#include "runtime/interpreter/gil.h"
#include "runtime/object_state.h"
#include "runtime/session_state.h"
#include "tensors.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::host {

using namespace multipy::runtime;

namespace {

// The exceptions that calls end with when they are not made, or are ended.
PyObject *interruptedError = nullptr, *deadlineError = nullptr, *fullError = nullptr;

struct Kept {
  InterpreterSession session;
  Obj object;
};
// Of the call that this thread makes.
thread_local std::optional<Kept> keptForCall;

// By Python code in an interpreter, with its GIL, once in a call. Runs no Python code, which an
// interrupt of the call might end.
void keep(PyObject* result) noexcept try {
  constexpr const char* kDoing = "keep a result's memory";
  InterpreterSession session = SessionState::here();
  const auto& state = SessionState::of(&session, kDoing);
  const Entered inside(*state->core, kDoing);
  Obj object = ObjectState::adopt(inside, inside.python().newReference(BorrowedReference(result)),
                                  {}, state);
  keptForCall.emplace(Kept{std::move(session), std::move(object)});
} catch (const std::exception&) {
  keptForCall.reset();  // the answer is refused then
}

// By Python code in an interpreter that is about to import torch, with its GIL. Of the program's
// Python no thread imports torch meanwhile, since it has that one's GIL.
void prepareForTorch(PyObject*) noexcept {
  const runtime::GilReleased outside;
  const PyGILState_STATE state = takeGil();
  try {
    bridge::prepareForTorch();
  } catch (const std::exception&) {
    // The first library of torch's meets with it again, which is where it is told.
  }
  PyGILState_Release(state);
}

}  // namespace

bool addExceptions(PyObject* module) {
  interruptedError =
      PyErr_NewException("multipy._host.TaskInterrupted", PyExc_RuntimeError, nullptr);
  deadlineError = PyErr_NewException("multipy._host.TaskTimedOut", PyExc_TimeoutError, nullptr);
  fullError = PyErr_NewException("multipy._host.LineFull", PyExc_RuntimeError, nullptr);
  return interruptedError && deadlineError && fullError &&
         PyModule_AddObjectRef(module, "TaskInterrupted", interruptedError) == 0 &&
         PyModule_AddObjectRef(module, "TaskTimedOut", deadlineError) == 0 &&
         PyModule_AddObjectRef(module, "LineFull", fullError) == 0;
}

void setError(const std::exception& error) {
  if (dynamic_cast<const CancelledError*>(&error))
    PyErr_SetString(interruptedError, error.what());
  else if (dynamic_cast<const DeadlineExceededError*>(&error))
    PyErr_SetString(deadlineError, error.what());
  else if (dynamic_cast<const QueueFullError*>(&error))
    PyErr_SetString(fullError, error.what());
  else if (dynamic_cast<const InvalidArgument*>(&error))
    PyErr_SetString(PyExc_ValueError, error.what());
  else if (dynamic_cast<const std::bad_alloc*>(&error))
    PyErr_NoMemory();
  else
    PyErr_SetString(PyExc_RuntimeError, error.what());
}

bool stringsOf(PyObject* sequence, std::vector<std::string>& strings) {
  const auto items = Reference::take(PySequence_Fast(sequence, "expected a sequence of str"));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    // As interpreters decode them: bytes that are not UTF-8 are surrogates in between.
    const auto bytes = Reference::take(PyUnicode_AsEncodedString(
        PySequence_Fast_GET_ITEM(items.get(), i), "utf-8", "surrogateescape"));
    if (!bytes) return false;
    strings.emplace_back(PyBytes_AS_STRING(bytes.get()),
                         static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
  }
  return true;
}

bool deadlineOf(PyObject* seconds, CallOptions& options) {
  if (seconds == Py_None) return true;
  const double patience = PyFloat_AsDouble(seconds);
  if (PyErr_Occurred()) return false;
  constexpr double kForever = 1e9;  // seconds; a clock's nanoseconds end somewhere
  if (patience < kForever)
    options.deadline = CallOptions::in(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::max(patience, 0.0))));
  return true;
}

bool pairsOf(PyObject* list, Pairs& pairs) {
  const auto items = Reference::take(PySequence_Fast(list, "expected pairs of str"));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    std::vector<std::string> pair;
    if (!stringsOf(PySequence_Fast_GET_ITEM(items.get(), i), pair)) return false;
    if (pair.size() != 2) {
      PyErr_SetString(PyExc_ValueError, "expected two strings");
      return false;
    }
    pairs.emplace_back(std::move(pair[0]), std::move(pair[1]));
  }
  return true;
}

bool variablesOf(PyObject* list, InterpreterOptions& options) {
  Pairs entries;
  if (!pairsOf(list, entries)) return false;
  options.environmentVariables.emplace(entries.begin(), entries.end());
  return true;
}

bool pythonOptionsOf(PyObject* list, InterpreterOptions& options) {
  if (!stringsOf(list, options.pythonOptions)) return false;
  options.isolated = std::erase(options.pythonOptions, "-I") != 0;
  return true;
}

bool slimOf(PyObject* tuple, InterpreterOptions& options) {
  int slim = 0;
  PyObject *importers = nullptr, *modules = nullptr;
  if (!PyArg_ParseTuple(tuple, "pOO", &slim, &importers, &modules)) return false;
  options.slimTorch = slim != 0;
  return stringsOf(importers, options.slimImporters) && stringsOf(modules, options.slimModules);
}

void registerSources(InterpreterManager& manager, const Pairs& sources) {
  const auto address = [](auto* function) {
    return std::to_string(reinterpret_cast<std::uintptr_t>(function));
  };
  for (const auto& [name, source] : sources)
    manager.registerModuleSource(
        name, name != kInside ? source
                              : source + "\nuse_functions(" + address(&HostBuffer::hold) + ", " +
                                    address(&HostBuffer::giveUp) + ", " + address(&keep) + ", " +
                                    address(&prepareForTorch) + ")\n");
}

// ---------------------------------------------------------------- there

Parcel::~Parcel() {
  for (HostBuffer* const buffer : buffers_) HostBuffer::giveUp(buffer);
  PyBuffer_Release(&data_);
}

bool Parcel::open(PyObject* pickle) {
  const auto part = [pickle](const char* name) {
    return Reference::take(PyObject_GetAttrString(pickle, name));
  };
  const auto data = part("data"), buffers = part("buffers"), tensors = part("tensors");
  if (!data || !buffers || !tensors || PyObject_GetBuffer(data.get(), &data_, PyBUF_SIMPLE) != 0)
    return false;
  const auto giving = Reference::take(PySequence_Fast(buffers.get(), "expected buffers"));
  const auto crossing = Reference::take(PySequence_Fast(tensors.get(), "expected tensors"));
  if (!giving || !crossing) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(giving.get()); ++i) {
    HostBuffer* const buffer = HostBuffer::of(PySequence_Fast_GET_ITEM(giving.get(), i));
    if (!buffer) return false;
    keep(buffer);
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(crossing.get()); ++i) {
    at::Tensor tensor;
    if (!unwrapTensor(PySequence_Fast_GET_ITEM(crossing.get(), i), tensor)) return false;
    tensors_.emplace_back(std::move(tensor));
  }
  return true;
}

void Parcel::keep(HostBuffer* buffer) {
  try {
    buffers_.push_back(buffer);
  } catch (const std::bad_alloc&) {
    HostBuffer::giveUp(buffer);
    throw;
  }
}

void Parcel::addTo(std::vector<at::IValue>& values) const {
  c10::List<std::int64_t> described;
  for (HostBuffer* const buffer : buffers_) {
    described.push_back(reinterpret_cast<std::intptr_t>(buffer->view().buf));
    described.push_back(buffer->view().len);
    described.push_back(buffer->view().readonly != 0);
    described.push_back(reinterpret_cast<std::intptr_t>(buffer));
  }
  values.emplace_back(reinterpret_cast<std::intptr_t>(data_.buf));
  values.emplace_back(static_cast<std::int64_t>(data_.len));
  values.emplace_back(std::move(described));
  values.emplace_back(c10::ivalue::Tuple::create(tensors_));
}

// ---------------------------------------------------------------- back

namespace {

struct KeptForgotten {  // at the end
  ~KeptForgotten() { keptForCall.reset(); }
};

Answer withKept(at::IValue value, std::shared_ptr<void> worker) {
  Answer answer{std::move(value), nullptr};
  if (keptForCall)
    answer.owner = std::make_shared<ResultOwner>(std::move(worker), std::move(keptForCall->session),
                                                 std::move(keptForCall->object));
  return answer;
}

}  // namespace

Answer callThere(const ReplicatedObj& object, const std::vector<at::IValue>& values,
                 const CallOptions& options, std::shared_ptr<void> worker) {
  const KeptForgotten atTheEnd;
  return withKept(object.call(values, options), std::move(worker));
}

Answer answerOf(CallOutcome outcome, std::shared_ptr<void> worker) {
  const KeptForgotten atTheEnd;
  return withKept(std::move(outcome).get(), std::move(worker));
}

namespace {

PyObject* buffersOf(const std::string& described, const Answer& answer) {
  struct Row {
    std::uint64_t address, size, isReadOnly;
  };
  const std::size_t count = described.size() / sizeof(Row);
  auto list = Reference::take(PyList_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; list && i < count; ++i) {
    Row row;
    std::memcpy(&row, described.data() + i * sizeof row, sizeof row);
    PyObject* const memory = resultMemoryOf(answer, reinterpret_cast<void*>(row.address),
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

}  // namespace

PyObject* resultMemoryOf(const Answer& answer, void* address, Py_ssize_t size, bool isReadOnly) {
  if (answer.owner) return newResultMemory(answer.owner, address, size, isReadOnly);
  PyErr_SetString(PyExc_RuntimeError, "the interpreter that has the result's memory is ending");
  return nullptr;
}

PyObject* objectOf(const Answer& answer) {
  const std::vector<at::IValue> parts = answer.value.toTupleRef().elements().vec();
  const auto wrapped = Reference::take(tensorsOf(parts[3]));
  const auto memory =
      Reference::take(wrapped ? buffersOf(parts[2].toStringRef(), answer) : nullptr);
  if (!memory) return nullptr;
  const std::string& text = parts[1].toStringRef();
  const auto bytes =
      Reference::take(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  if (!bytes) return nullptr;
  return PyTuple_Pack(4, parts[0].toInt() ? Py_True : Py_False, bytes.get(), memory.get(),
                      wrapped.get());
}

}  // namespace multipy::host
