#include "interpreter/lifecycle.h"

#include <unistd.h>

#include "interpreter/failure.h"
#include "interpreter/host_connection.h"
#include "interpreter/host_module.h"
#include "interpreter/python_heap.h"
#include "interpreter/python_modules.h"
#include "interpreter/reference.h"
#include "interpreter/signals.h"
#include "interpreter/threads.h"

namespace multipy {
namespace {

// How long threads that Python started, and that end when they find it
// finalised, are given to do so before their memory and libraries go.
constexpr int kThreadsPatienceMs = 200;

bool failed(const PyStatus& status, const char* doing, const InterpreterConfig& config,
            Failure& failure) {
  if (!PyStatus_Exception(status)) return false;
  failure.kind = Failure::Kind::Environment;
  failure.message = std::string("while ") + doing + " for the environment of " + config.executable +
                    ": " +
                    (PyStatus_IsExit(status)
                         ? "CPython asked to exit"
                         : (status.err_msg ? status.err_msg : "CPython gave no reason")) +
                    ". Check that this python starts by itself: " + config.executable +
                    " -c 'import site'";
  return true;
}

// An isolated Python (no signal handlers, no argv, no PYTHON* variables, UTF-8
// whatever the locale) that finds prefix, stdlib and site-packages the way the
// environment's own executable would: CPython's getpath looks for pyvenv.cfg
// and landmarks from there.
PyStatus start(const InterpreterConfig& given) {
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;
  PyStatus status = Py_PreInitialize(&before);
  if (PyStatus_Exception(status)) return status;

  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  config.install_signal_handlers = 0;
  config.parse_argv = 0;
  config.site_import = 1;
  const char* executable = given.executable.c_str();
  status = PyConfig_SetBytesString(&config, &config.program_name, executable);
  if (!PyStatus_Exception(status))
    status = PyConfig_SetBytesString(&config, &config.executable, executable);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  return status;
}

bool runBootstrap(const InterpreterConfig& config, Failure& failure) {
  const SignalsAreTheHosts untouched;
  const auto paths = Reference::take(PyList_New(0));
  for (const std::string& path : config.extraPaths) {
    const auto text = Reference::take(PyUnicode_DecodeFSDefault(path.c_str()));
    if (!paths || !text || PyList_Append(paths.get(), text.get()) != 0) break;
  }
  const auto bootstrap = Reference::take(PyErr_Occurred() ? nullptr : ourModule("_multipy_bootstrap"));
  const auto done = Reference::take(
      bootstrap ? PyObject_CallMethod(bootstrap.get(), "start", "O", paths.get()) : nullptr);
  if (!done) takePythonError(failure);
  return static_cast<bool>(done);
}

}  // namespace

bool initializeInterpreter(const InterpreterConfig& config, Failure& failure) {
  const HostServices* services = host();
  services->setCurrent(services->slot);
  adoptPythonHeap(config.heapBegin, config.heapSize);
  PyImport_AppendInittab(kHostModuleName, initHostModule);
  bool ok = !failed(start(config), "starting Python", config, failure);
  if (ok) {
    ok = runBootstrap(config, failure);
    if (ok)
      PyEval_SaveThread();
    else
      Py_FinalizeEx();
  }
  services->setCurrent(-1);
  return ok;
}

void finalizeInterpreter() {
  const HostServices* services = host();
  services->setCurrent(services->slot);
  PyGILState_Ensure();
  // Its result says only whether flushing stdout worked, and the exception for
  // that has been reported by Python already.
  Py_FinalizeEx();
  // A thread that is ending may have given up the GIL and still be freeing its
  // state. Where one does not end, the memory stays.
  for (int left = kThreadsPatienceMs; liveThreads() > 0 && left > 0; left--) usleep(1000);
  if (liveThreads() == 0) releasePythonHeap();
  services->setCurrent(-1);
}

}  // namespace multipy
