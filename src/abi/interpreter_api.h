// What one libinterpreter.so gives to the host: a table of functions, found
// under the one symbol `multipy_interpreter_api`. The only thing that the host
// knows of CPython.
//
// Two rules hold for every function:
//   - it throws nothing but std::bad_alloc: it returns null/false and fills `Failure`;
//   - those under "with the GIL" are called by a thread that has entered this
//     interpreter (enter()); the others say what they need.
// A Handle is one owned reference to a Python object.
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
#include "multipy/runtime/stacks.h"

namespace caffe2::serialize {
class ReadAdapterInterface;
}

namespace multipy {

using Handle = _object*;

struct InterpreterConfig {
  std::string executable;  // the environment's python: sys.executable; decides prefix and stdlib
  std::vector<std::string> extraPaths;  // put behind sys.path's own (PathEnvironment)
  std::vector<std::string> arguments;   // sys.argv; empty: [""]
  /// "NAME=value" each: its own environment; without a value, the process's.
  std::optional<std::vector<std::string>> variables;
  bool isolated = false;      // as python -I
  bool slimTorch = false;     // what serving does not use of torch is executed when used
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
  uint32_t version;  // kInterpreterApiVersion

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
  /// it): while there are any, this library must not be unloaded. No GIL needed,
  /// also after finalize().
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
  /// With the GIL: the stacks of all threads that are in Python code.
  void (*collectStacks)(std::vector<runtime::ThreadStack>* out);
  /// Without it, and unsafe beside running threads: for a child of fork() only.
  /// Writes what CPython's faulthandler would to a file descriptor, and takes no
  /// lock and no memory for it.
  void (*writeStacks)(int file);

  // --- thread states and the GIL (no GIL needed to call)
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
  /// With the GIL: clears and frees the state of a thread that has ended.
  void (*discardThreadState)(void* threadState);

  // --- objects, with the GIL
  Handle (*global)(const char* module, const char* name, Failure&);
  Handle (*fromIValue)(const c10::IValue&, Failure&);
  bool (*toIValue)(Handle, c10::IValue* out, Failure&);
  /// Positional objects; borrowed.
  Handle (*call)(Handle callable, const Handle* args, std::size_t n, Failure&);
  Handle (*callIValues)(Handle callable, const c10::IValue* args, std::size_t n,
                        const KeywordArgument* kwargs, std::size_t nkw, Failure&);
  /// callIValues and toIValue in one: the hot path.
  bool (*callToIValue)(Handle callable, const c10::IValue* args, std::size_t n,
                       const KeywordArgument* kwargs, std::size_t nkw, c10::IValue* out, Failure&);
  Handle (*attr)(Handle, const char* name, Failure&);
  /// 1, 0, or -1 with a failure (a property that raised something else).
  int (*hasattr)(Handle, const char* name, Failure&);
  void (*incref)(Handle);
  void (*decref)(Handle);

  // --- movables and packages, with the GIL
  /// `importer`: the PackageImporter that the object came from, or null.
  bool (*pickle)(Handle object, Handle importer, Pickled* out, Failure&);
  Handle (*unpickle)(const Pickled&, Handle importer, Failure&);
  /// A torch.package.PackageImporter that reads through `reader`.
  Handle (*openPackage)(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader,
                        const char* name, Failure&);
  /// What that importer loads of the pickle. One thread at a time loads something of an
  /// importer; the others wait without the GIL. `present` is where the caller keeps the
  /// object: if it is there once the waiting is over, it is the result (a new reference).
  Handle (*loadPickle)(Handle importer, const PackagedPickle&, const std::atomic<Handle>& present,
                       Failure&);
  /// Names of a callable's arguments, as IMethod wants them ("self" left out).
  bool (*argumentNames)(Handle callable, std::vector<std::string>* out, Failure&);
};

inline constexpr uint32_t kInterpreterApiVersion = 9;
inline constexpr const char* kInterpreterApiSymbol = "multipy_interpreter_api";
using GetInterpreterApi = const InterpreterApi* (*)();

}  // namespace multipy
