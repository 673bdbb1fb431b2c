// What one libinterpreter.so gives to the host: a table of functions, found
// under the one symbol `multipy_interpreter_api`. The only thing that the host
// knows of CPython.
//
// Every function throws nothing but std::bad_alloc: it returns null/false and fills `Failure`.
// Those in WithGil are called by a thread that has the interpreter's GIL; on the host only an
// Entered (runtime/interpreter/gil.h) gives them out.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "abi/host_services.h"
#include "abi/references.h"
#include "multipy/runtime/stacks.h"

namespace caffe2::serialize {
class ReadAdapterInterface;
}

namespace multipy {

/// InterpreterOptions::pythonOptions. How often or whether an option was given.
struct PythonFlags {
  int optimize = 0, bytesWarning = 0, verbose = 0;                     // -O -b -v
  bool noBytecode = false, noEnvironment = false, noUserSite = false;  // -B -E -s
  bool safePath = false;                                               // -P
  bool isolated = false;                              // InterpreterOptions::isolated
  std::vector<std::string> warnings, implementation;  // -W -X
};

struct InterpreterConfig {
  std::string executable;  // the environment's python: sys.executable; decides prefix and stdlib
  std::vector<std::string> extraPaths;  // put behind sys.path's own (PathEnvironment)
  std::vector<std::string> arguments;   // sys.argv; empty: [""]
  /// "NAME=value" each: its own environment; without a value, the process's.
  std::optional<std::vector<std::string>> variables;
  PythonFlags flags;
  bool slimTorch = false;  // what serving does not use of torch is executed when used
  std::vector<std::string> slimImporters, slimModules;  // of InterpreterOptions
  bool ownOutput = false;     // sys.stdout and sys.stderr lead to HostServices::output
  void* heapBegin = nullptr;  // reserved address space (PROT_NONE) for all Python memory
  std::size_t heapSize = 0;   // bytes
};

/// Why a call failed; `kind` decides which exception the host throws.
struct Failure {
  enum class Kind { None, Python, ModuleNotFound, Conversion, Environment };
  Kind kind = Kind::None;
  std::string type;  // Python: qualified type name
  std::string message;
  std::string traceback;                // Python: formatted, may be empty
  std::string module;                   // ModuleNotFound
  std::vector<std::string> searchPath;  // ModuleNotFound: sys.path then
};

/// A Python object as bytes and shared storages.
struct Pickled {
  std::string bytes;
  /// One byte tensor per storage, already transferred: it aliases the original's
  /// memory and belongs to C++.
  std::vector<at::Tensor> storages;
  /// TorchScript modules in it, as values that belong to C++.
  std::vector<c10::IValue> values;
  bool usesTorch = false;
};

/// The storages of one pickle of a package, which lie once for all interpreters that load
/// it. Each is known by a name that is the same in all of them.
/// Threads: every member from any thread, with or without a GIL. None waits for one.
class SharedStorages {
 public:
  /// Its bytes as a tensor that belongs to C++; undefined if there is none of that name.
  virtual at::Tensor find(const std::string& name) const noexcept = 0;
  /// Takes the bytes of a storage over, unless it has one of that name already, of another
  /// interpreter that was faster. Returns the one that stays. Undefined: out of memory.
  virtual at::Tensor keep(const std::string& name, const at::Tensor& bytes) noexcept = 0;
  /// The names that begin with `prefix`; they are added to `names`. False: out of memory.
  virtual bool list(const std::string& prefix, std::vector<std::string>* names) const noexcept = 0;

 protected:
  ~SharedStorages() = default;
};

/// A pickle of a package: what load_pickle(module, file) loads.
struct PackagedPickle {
  std::string module, file;
  std::shared_ptr<SharedStorages> storages;
};

struct KeywordArgument {
  const std::string* name;
  const c10::IValue* value;
};

struct InterpreterApi {
  struct WithoutGil;
  struct WithGil;

  uint32_t version;  // kInterpreterApiVersion
  const WithoutGil* withoutGil;
  const WithGil* withGil;
};

struct InterpreterApi::WithoutGil {
  /// First of all, right after dlopen: the host's functions, valid for as long
  /// as this library is loaded. The resident copy
  /// (runtime/interpreter/resident_copy.h) gets no further than this.
  void (*attach)(const HostServices*);

  // --- life: called once each, by one and the same thread (the owner thread)
  bool (*initialize)(const InterpreterConfig&, Failure&);
  /// Runs atexit, waits for non-daemon threads, and finalises. No thread may be in, or
  /// enter, this interpreter from now on.
  void (*finalize)();
  /// Threads started by Python that still exist (daemon threads do not end with
  /// it): while there are any, this library must not be unloaded. Also after finalize().
  std::size_t (*liveThreads)();
  // --- the end, by any thread, when no thread of Python's is left
  /// Runs what private libraries registered with atexit() and the like.
  void (*runExitFunctions)();
  /// After that, and after the libraries' own destructors: gives back what the process
  /// keeps for this interpreter, above all the heap's pages. Waits a moment for threads
  /// that libraries have started; false, and nothing done, if one goes on: no library
  /// may be unloaded then.
  bool (*close)();

  // --- diagnosis
  /// Unsafe beside running threads: for a child of fork() only. Writes what CPython's
  /// faulthandler would to a file descriptor, and takes no lock and no memory for it.
  void (*writeStacks)(int file);

  /// How much memory CPython has taken in this interpreter, in bytes.
  std::size_t (*heapBytes)();

  // --- thread states and the GIL
  /// This thread's PyThreadState here, or null. No cost to speak of.
  void* (*threadState)();
  /// Makes one for the calling thread. Null if out of memory.
  void* (*newThreadState)();
  /// Takes the GIL with the calling thread's own state.
  void (*acquire)(void* threadState);
  /// Gives the GIL up.
  void (*release)();
  /// Does the calling thread hold this interpreter's GIL?
  bool (*holdsGil)();
  /// Did no thread hold the GIL just now?
  bool (*gilIsFree)();
  /// The same as acquire and release for a call that shares the interpreter with a much
  /// longer one, and shall not wait for it. One such call at a time.
  void (*acquireWithPriority)(void* threadState);
  void (*releaseWithPriority)();

  // --- threads that Python code of a call has started (interpreter/cpython/call_threads.h)
  /// The calling thread's Python code belongs to that call from now on, and so do threads that it
  /// starts; 0: to none. Returns the one of before. No cost to speak of.
  std::uint64_t (*setCall)(std::uint64_t call);
  /// Ends the blocking system calls that the threads started by that call are in. Repeat it, as
  /// process/wake_signal.h says.
  void (*wakeStartedBy)(std::uint64_t call);
};

struct InterpreterApi::WithGil {
  /// Of all threads that are in Python code.
  void (*collectStacks)(std::vector<runtime::ThreadStack>* out);
  /// Clears and frees the state of a thread that has ended.
  void (*discardThreadState)(void* threadState);

  // --- interrupts (interpreter/cpython/interrupts.h)
  /// multipy.Interrupted is pending in the thread that has this state: raised at its next bytecode,
  /// or where a blocking call of it has been woken (process/wake_signal.h). Any thread; the state's
  /// own is in a call whose end it makes known with the GIL, so that no later call is hit. A
  /// second time it does nothing, unless the first one has been raised. False, and nothing done:
  /// the thread imports torch, which can be done once, or there is no memory; ask again.
  bool (*interrupt)(void* threadState);
  /// By the thread itself, at the end of its call: true if one is pending, which will never be
  /// raised then. False: none has been asked for, or Python code has seen it.
  bool (*takeInterruptBack)(void* threadState);
  bool (*interruptIsPending)(void* threadState);
  /// The same as interrupt() for all threads that Python code of that call has started and that
  /// run; not for the call's own. How many there are.
  std::size_t (*interruptStartedBy)(std::uint64_t call);

  // --- references
  NewReference (*newReference)(BorrowedReference);
  void (*giveUp)(NewReference);

  // --- objects
  NewReference (*global)(const char* module, const char* name, Failure&);
  NewReference (*fromIValue)(const c10::IValue&, Failure&);
  bool (*toIValue)(BorrowedReference, c10::IValue* out, Failure&);
  /// The same, of an object that is given up by it: a tensor that is in no other crosses at half
  /// the cost.
  bool (*takeIValue)(NewReference, c10::IValue* out, Failure&);
  /// Positional objects.
  NewReference (*call)(BorrowedReference callable, const BorrowedReference* args, std::size_t n,
                       Failure&);
  NewReference (*callIValues)(BorrowedReference callable, const c10::IValue* args, std::size_t n,
                              const KeywordArgument* kwargs, std::size_t nkw, Failure&);
  /// callIValues and toIValue in one: the hot path.
  bool (*callToIValue)(BorrowedReference callable, const c10::IValue* args, std::size_t n,
                       const KeywordArgument* kwargs, std::size_t nkw, c10::IValue* out, Failure&);
  NewReference (*attr)(BorrowedReference, const char* name, Failure&);
  /// 1, 0, or -1 with a failure (a property that raised something else).
  int (*hasattr)(BorrowedReference, const char* name, Failure&);

  // --- movables and packages
  /// `importer`: the PackageImporter that the object came from, or null.
  bool (*pickle)(BorrowedReference object, BorrowedReference importer, Pickled* out, Failure&);
  NewReference (*unpickle)(const Pickled&, BorrowedReference importer, Failure&);
  /// A torch.package.PackageImporter that reads through `reader`.
  NewReference (*openPackage)(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader,
                              const char* name, Failure&);
  /// What that importer loads of the pickle. One thread at a time loads something of an
  /// importer; the others wait without the GIL. `present` is where the caller keeps the
  /// object: if it is there once the waiting is over, it is the result.
  NewReference (*loadPickle)(BorrowedReference importer, const PackagedPickle&,
                             const std::atomic<BorrowedReference>& present, Failure&);
  /// Names of a callable's arguments, as IMethod wants them ("self" left out).
  bool (*argumentNames)(BorrowedReference callable, std::vector<std::string>* out, Failure&);
};

inline constexpr uint32_t kInterpreterApiVersion = 13;
inline constexpr const char* kInterpreterApiSymbol = "multipy_interpreter_api";
using GetInterpreterApi = const InterpreterApi* (*)();

}  // namespace multipy
