#include "interpreter/entry/lifecycle.h"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/interpreter_id.h"
#include "interpreter/common/failure.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/common/python_modules.h"
#include "interpreter/common/reference.h"
#include "interpreter/cpython/gil_priority.h"
#include "interpreter/cpython/late_deallocations.h"
#include "interpreter/cpython/python_heap.h"
#include "interpreter/entry/host_module.h"
#include "interpreter/entry/start_failure.h"
#include "interpreter/libc/environment_variables.h"
#include "interpreter/libc/signals.h"
#include "interpreter/libc/static_results.h"
#include "interpreter/libc/thread_keys.h"
#include "interpreter/libc/threads.h"
#include "interpreter/torch/last_collection.h"

namespace multipy {
namespace {

// How long threads that end when they find Python finalised, or their library at its
// end, are given to do so before their memory and libraries go.
constexpr int kThreadsPatienceMs = 200;

bool waitUntilNone(std::size_t (*threads)()) {
  for (int left = kThreadsPatienceMs; threads() > 0; left--) {
    if (left == 0) return false;
    usleep(1000);
  }
  return true;
}

bool failed(const PyStatus& status, const char* doing, const InterpreterConfig& config,
            Failure& failure) {
  if (!PyStatus_Exception(status)) return false;
  failure.kind = Failure::Kind::Environment;
  failure.message =
      std::string("while ") + doing + " for the environment of " + config.executable + ": " +
      (PyStatus_IsExit(status) ? "CPython asked to exit"
                               : (status.err_msg ? status.err_msg : "CPython gave no reason")) +
      takeStartException() + ". Check that this python starts by itself: " + config.executable +
      " -c 'import site'";
  return true;
}

// Before any configuration is read: UTF-8 whatever the locale, which is the process's
// and is left as it is; and our allocator, whatever PYTHONMALLOC says.
PyStatus preinitialize() {
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;
  return Py_PreInitialize(&before);
}

// A Python like the environment's own, less what would reach beyond this interpreter:
// no signal handlers, no buffering of C's stdout, no program's arguments.
void configure(PyConfig& config, const PythonFlags& flags) {
  if (flags.isolated)
    PyConfig_InitIsolatedConfig(&config);
  else
    PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.faulthandler = 0;
  config.configure_c_stdio = 0;
  config.parse_argv = 0;
  config.site_import = 1;
  // (What is not given is left to environment variables.)
  config.optimization_level = flags.optimize;
  config.bytes_warning = flags.bytesWarning;
  config.verbose = flags.verbose;
  if (flags.noBytecode) config.write_bytecode = 0;
  if (flags.noEnvironment) config.use_environment = 0;
  if (flags.noUserSite) config.user_site_directory = 0;
#if PY_VERSION_HEX >= 0x030b0000
  if (flags.safePath) config.safe_path = 1;
#endif
  if (std::ranges::find(flags.implementation, "dev") != flags.implementation.end())
    config.dev_mode = 1;
}

PyStatus append(PyWideStringList& list, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    wchar_t* const decoded = Py_DecodeLocale(text.c_str(), nullptr);
    if (!decoded) return PyStatus_NoMemory();
    const PyStatus status = PyWideStringList_Append(&list, decoded);
    PyMem_RawFree(decoded);
    if (PyStatus_Exception(status)) return status;
  }
  return PyStatus_Ok();
}

PyStatus setArguments(PyConfig& config, const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  words.reserve(arguments.size());
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  if (words.empty()) return PyStatus_Ok();
  return PyConfig_SetBytesArgv(&config, static_cast<Py_ssize_t>(words.size()), words.data());
}

// It finds prefix, stdlib and site-packages the way the environment's own executable
// would: CPython's getpath looks for pyvenv.cfg and landmarks from there.
PyStatus start(const InterpreterConfig& given) {
  PyStatus status = preinitialize();
  if (PyStatus_Exception(status)) return status;

  PyConfig config;
  configure(config, given.flags);
  const char* executable = given.executable.c_str();
  status = PyConfig_SetBytesString(&config, &config.program_name, executable);
  if (!PyStatus_Exception(status))
    status = PyConfig_SetBytesString(&config, &config.executable, executable);
  if (!PyStatus_Exception(status)) status = setArguments(config, given.arguments);
  if (!PyStatus_Exception(status)) status = append(config.warnoptions, given.flags.warnings);
  if (!PyStatus_Exception(status)) status = append(config.xoptions, given.flags.implementation);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  return status;
}

// Null with a Python exception.
Reference listOf(const std::vector<std::string>& strings) {
  auto list = Reference::take(PyList_New(0));
  for (const std::string& each : strings) {
    const auto text = Reference::take(list ? PyUnicode_DecodeFSDefault(each.c_str()) : nullptr);
    if (!text || PyList_Append(list.get(), text.get()) != 0) return Reference();
  }
  return list;
}

bool runBootstrap(const InterpreterConfig& config, Failure& failure) {
  const SignalsAreTheHosts untouched;
  const Reference paths = listOf(config.extraPaths);
  const Reference importers = paths ? listOf(config.slimImporters) : Reference();
  const Reference modules = importers ? listOf(config.slimModules) : Reference();
  const Reference output = config.ownOutput && modules ? ourModule("_multipy_output") : nullptr;
  const auto replaced = Reference::take(
      output ? PyObject_CallMethod(output.get(), "replace_streams", nullptr) : nullptr);
  // (The first of ours that are imported by others of ours.)
  const Reference gates = PyErr_Occurred() ? nullptr : ourModule("_multipy_gates");
  const Reference bootstrap = gates ? ourModule("_multipy_bootstrap") : nullptr;
  const auto done = Reference::take(
      bootstrap ? PyObject_CallMethod(bootstrap.get(), "start", "OiOO", paths.get(),
                                      config.slimTorch, importers.get(), modules.get())
                : nullptr);
  if (done) return true;
  takePythonError(failure);
  return false;
}

// Whether or not Python has come so far as to need it.
void endHalfStarted() {
  if (Py_IsInitialized()) Py_FinalizeEx();
  host()->setCurrent(InterpreterId::none());
}

}  // namespace

bool initializeInterpreter(const InterpreterConfig& config, Failure& failure) {
  const HostServices* services = host();
  services->setCurrent(services->slot);
  adoptPythonHeap(config.heapBegin, config.heapSize);
  adoptEnvironment(config.variables);
  PyImport_AppendInittab(kHostModuleName, initHostModule);
  bool ok = false;
  try {
    ok =
        !failed(start(config), "starting Python", config, failure) && runBootstrap(config, failure);
  } catch (const std::bad_alloc&) {
    endHalfStarted();
    throw;
  }
  if (ok)
    giveUpGil();
  else
    endHalfStarted();
  services->setCurrent(InterpreterId::none());
  return ok;
}

void finalizeInterpreter() {
  const HostServices* services = host();
  services->setCurrent(services->slot);
  PyGILState_Ensure();
  prepareLastCollection();
  // Its result says only whether flushing stdout worked, and the exception for
  // that has been reported by Python already.
  Py_FinalizeEx();
  endDeallocations();
  // A thread that is ending may have given up the GIL and still be freeing its
  // state. Where one does not end, the memory stays.
  waitUntilNone(liveThreads);
  services->setCurrent(InterpreterId::none());
}

bool closeInterpreter() {
  if (!waitUntilNone(libraryThreads)) return false;
  if (!host()->forgetSignals(host()->context)) return false;
  freeThreadResults();  // has a key of its own, from its first use on
  deleteThreadKeys();
  releasePythonHeap();
  return true;
}

}  // namespace multipy
