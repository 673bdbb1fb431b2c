// What the host process gives to one interpreter: the only thing that code in
// libinterpreter.so knows of the host. Both sides are built from one tree with
// one compiler and one set of torch headers, so C++ types may cross; C++
// exceptions may not (libinterpreter.so can be unloaded, and with it the code
// that an exception's vtable points to), except through functions marked
// "throws" below, which are called by torch and throw what torch expects, and but
// for std::bad_alloc, which is the C++ library's: those marked "bad_alloc" throw it.
//
// Threads: every function may be called from any thread, with or without a GIL,
// and none of them waits for a GIL, unless it says otherwise.
#pragma once

#include <ATen/core/TensorBase.h>
#include <ATen/core/ivalue.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/interpreter_id.h"

struct _object;  // PyObject, opaque to the host
struct dl_phdr_info;

namespace multipy {

struct TorchRoutes;  // abi/torch_routes.h
struct ValueMakers;  // abi/value_makers.h

/// libtorch_python's own functions, looked up in this interpreter's private
/// copy (src/torch_bridge/python_binding.cpp holds the names, per torch version).
struct TorchPython {
  /// Shape of pybind11::object for the ABI: one owned pointer, not trivially
  /// copyable, so returned through memory. Its reference is ours to drop.
  struct OwnedObject {
    _object* pointer;
    OwnedObject(const OwnedObject&) = delete;
    ~OwnedObject() {}
  };
  /// THPVariable_Wrap: new reference. Throws python_error. (It takes what it is given
  /// over where it can; torch up to 2.8 copies. The function is called alike.)
  _object* (*wrap)(at::TensorBase&&);
  /// &THPVariableClass: torch.Tensor, null until torch._C is initialised.
  _object** variableClass;
  /// torch::jit::toPyObject. Throws.
  OwnedObject (*toPyObject)(c10::IValue);
  /// torch::jit::toIValue(py::handle, TypePtr, optional<int32_t>). Throws.
  c10::IValue (*toIValue)(_object*, const c10::TypePtr&, std::optional<int32_t>);
};

/// Converts a value that a Future has come to hold, from `owner` (none(): C++)
/// into this interpreter or out of it. With or without this interpreter's GIL, and
/// with no other. False, and why in `error`, where it cannot cross.
using TransferValue = bool (*)(const c10::IValue& value, InterpreterId owner, c10::IValue* result,
                               std::string& error);

struct HostServices {
  void* context;       // first argument of the functions below
  InterpreterId slot;  // this interpreter's own

  // --- loading (loader/private_space.h); null/false and a message on failure
  void* (*load)(void* context, const char* path, std::string& error);
  void* (*open)(void* context, const char* name, int flags, const void* caller, std::string& error);
  /// Python code comes from this directory, too: libraries below it belong to the environment.
  /// False: they do not, since it is one with the system's libraries, or there is no memory now.
  bool (*addCodeDirectory)(void* context, const char* directory);
  void* (*symbol)(void* context, void* handle, const char* name, const void* caller);
  const char* (*originalOf)(void* context, const char* copy);
  int (*eachObject)(void* context, int (*use)(dl_phdr_info*, std::size_t, void*), void* data);

  // --- threads
  /// Which interpreter the calling thread is in from now on.
  void (*setCurrent)(InterpreterId slot);

  /// When the calling thread ends, if this interpreter still lives then. False: no memory for it.
  bool (*atThreadEnd)(void* context, void (*destroy)(void* object), void* object);

  // --- waking a blocking system call (process/wake_signal.h)
  /// The calling thread, for wake(). Valid until it ends.
  const void* (*thisThread)();
  void (*wake)(const void* thread);

  // --- the thread that started this interpreter and will end it
  /// Runs `task` there and waits for it; call it without this interpreter's GIL. In the
  /// child of a fork, which has no such thread, in the calling one. False, and why in
  /// `error`, once that thread has ended.
  bool (*runOnOwner)(void* context, void (*task)(void* argument), void* argument,
                     std::string& error);
  /// The same without waiting. False if it will not be done: that thread has ended, or is
  /// not in this process (a child of fork).
  bool (*postToOwner)(void* context, void (*task)(void* argument), void* argument);

  // --- this interpreter is of no use any more: calls shall go to others
  void (*reportBroken)(void* context, std::string_view why);

  // --- code that interpreters compile of the same text (process/code_cache.h)
  bool (*findCompiled)(std::string_view key, std::string& code);
  void (*keepCompiled)(std::string_view key, std::string_view code);

  // --- what one interpreter has found out and the others need not
  bool (*hasFact)(std::string_view fact);
  void (*publishFact)(std::string_view fact);

  // --- texts that lie once for all interpreters (process/string_pool.h)
  const char* (*shareText)(std::string_view text);
  bool (*releaseText)(const char* shared);  // false: another block of malloc()

  // --- modules registered with registerModuleSource; bad_alloc
  bool (*moduleSource)(void* context, const char* name, std::string& source);
  /// Whether "name.something" has been registered.
  bool (*hasModulesBelow)(void* context, const char* name);

  // --- what Python code prints, where the program wants to have it (OutputHook).
  /// False, and why in `error`, where the program's hook threw. Called without this
  /// interpreter's GIL: the hook is free to enter interpreters.
  bool (*output)(void* context, int stream, const char* text, std::size_t size, std::string& error);

  // --- signals (process/signal_handlers.h)
  /// sigaction(2) as this interpreter sees it: 0 or an errno value.
  int (*changeSignal)(void* context, int number, const struct sigaction* action,
                      struct sigaction* old);
  /// At the end: no handler of its is called any more. False if one is still running.
  bool (*forgetSignals)(void* context);

  // --- the process's environment variables (process/environment_variables.h): 0 or an errno value
  int (*setVariable)(const char* name, const char* value, int overwrite);
  int (*removeVariable)(const char* name);
  int (*putVariable)(char* entry);
  int (*clearVariables)();

  /// Calls `work` while no other thread's is called. It throws nothing and runs no Python.
  void (*runExclusive)(void (*work)(void* argument), void* argument);

  // --- forks
  /// Before os.fork(), without this interpreter's GIL, and after it in the process that has been
  /// forked: no thread of another interpreter runs Python meanwhile. Waits for their GILs, for
  /// some seconds at most (runtime/interpreter/fork_hold.h).
  void (*holdOthersForFork)(void* context);
  void (*letOthersGoAfterFork)();
  // (interpreter/libc/fork_handlers.h)
  /// What is called around a fork() of a thread that is inside this interpreter. Once, at first.
  void (*setForkHandlers)(void* context, void (*prepare)(), void (*inParent)(), void (*inChild)());
  /// Just before this interpreter's thread forks, and after it on both sides: locks of the
  /// host's that the child may come to are this thread's meanwhile. Waits for a library that
  /// is being loaded, but not for ever.
  void (*lockForFork)();
  void (*unlockAfterFork)(bool inChild);

  // --- torch
  /// Null until libtorch_python is loaded in this interpreter.
  const TorchPython* (*torchPython)(void* context);
  /// A tensor crosses the boundary: a fresh TensorImpl over a fresh StorageImpl
  /// on the same bytes. `owner` is where it comes from, none() for C++. On refusal
  /// gives an undefined tensor and says why in `error`.
  at::Tensor (*transferTensor)(const at::Tensor& tensor, InterpreterId owner, std::string& error);
  // --- torch.Tensor objects to which the caller alone has a reference (with the GIL).
  // `inside` is the object's tensor; it is undefined where it has gone.
  /// Like transferTensor. The tensor itself goes over, if nothing else refers to it or its bytes.
  at::Tensor (*moveTensor)(at::Tensor& inside, const _object* object, InterpreterId owner,
                           std::string& error);
  /// Gives the tensor up, if that frees no bytes. False: nothing has been done.
  bool (*dropTensor)(at::Tensor& inside, const _object* object);
  /// Puts a tensor that has just been transferred into an object from which one has gone. False,
  /// and nothing done, for a kind of tensor that needs another type of object.
  bool (*putTensor)(at::Tensor& transferred, at::Tensor& inside, _object* object);
  /// Between the two, tensors that cross on this thread and have a storage in common
  /// keep it in common. May be nested.
  void (*beginTransferGroup)();
  void (*endTransferGroup)();
  /// A Future to stand for `original`, which is not completed, on the other side:
  /// from this interpreter (`owner` is its slot) in C++, or from C++ (none()) here.
  c10::intrusive_ptr<c10::ivalue::Future> (*linkFuture)(
      void* context, const c10::intrusive_ptr<c10::ivalue::Future>& original, InterpreterId owner,
      TransferValue transfer);
  /// Lists, tuples and their like that may outlive this interpreter.
  const ValueMakers* values;
  /// Where redirected symbols of private torch libraries go.
  const TorchRoutes* routes;
};

}  // namespace multipy
