// An extension with habits that embed badly: single-phase init, a static object that owns
// a Python object, a pool thread that is only joined by a static destructor, Python
// objects in thread-local storage with a key that is never deleted, pthread_atfork.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace {

class Pool {
 public:
  Pool() : thread_([this] { work(); }) {}
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
#if PY_VERSION_HEX < 0x030C0000
    Py_XDECREF(last_);  // after Py_Finalize, as static py::objects do; later Pythons crash of it
#endif
  }
  // With the GIL, which the pool's thread needs to call.
  PyObject* call(PyObject* function) {
    PyObject* result = nullptr;
    Py_BEGIN_ALLOW_THREADS std::unique_lock lock(mutex_);
    function_ = function;
    done_ = false;
    changed_.notify_all();
    changed_.wait(lock, [this] { return done_; });
    result = result_;
    Py_END_ALLOW_THREADS Py_XINCREF(result);
    Py_XSETREF(last_, result);
    return result;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || function_; });
      if (ending_) return;
      PyObject* const function = std::exchange(function_, nullptr);
      lock.unlock();
      const PyGILState_STATE state = PyGILState_Ensure();
      PyObject* const result = PyObject_CallNoArgs(function);
      if (!result) PyErr_Clear();
      PyGILState_Release(state);
      lock.lock();
      result_ = result;
      done_ = true;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  PyObject* function_ = nullptr;
  PyObject* result_ = nullptr;
  PyObject* last_ = nullptr;
  bool ending_ = false, done_ = false;
  std::thread thread_;
};

Pool& pool() {
  static Pool one;
  return one;
}

PyObject* callInPool(PyObject*, PyObject* function) { return pool().call(function); }

void dropObject(void* object) {
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(static_cast<PyObject*>(object));
  PyGILState_Release(state);
}

pthread_key_t objectKey() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, dropObject);
    return made;
  }();
  return key;
}

PyObject* keep(PyObject*, PyObject* object) {
  Py_INCREF(object);
  pthread_setspecific(objectKey(), object);
  Py_RETURN_NONE;
}

PyObject* kept(PyObject*, PyObject*) {
  auto* object = static_cast<PyObject*>(pthread_getspecific(objectKey()));
  return Py_NewRef(object ? object : Py_None);
}

int forks = 0;

/// Forks, and tells how often the handler has run in the child: once, whatever other
/// interpreters have registered.
PyObject* forksSeenInChild(PyObject*, PyObject*) {
  const pid_t child = fork();
  if (child == 0) _exit(forks);
  int status = 0;
  Py_BEGIN_ALLOW_THREADS waitpid(child, &status, 0);
  Py_END_ALLOW_THREADS return PyLong_FromLong(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/// As uvloop's handler does: with the GIL.
void countFork() {
  const PyGILState_STATE state = PyGILState_Ensure();
  ++forks;
  PyGILState_Release(state);
}

PyMethodDef methods[] = {
    {"call_in_pool", callInPool, METH_O, "Calls a function on this module's own thread."},
    {"keep", keep, METH_O, "Keeps an object for this thread."},
    {"kept", kept, METH_NOARGS, "What keep() kept for this thread."},
    {"forks_seen_in_child", forksSeenInChild, METH_NOARGS, "Forks."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "threading_module",
                          nullptr,
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_threading_module() {
  static PyObject* module = nullptr;  // refuses no interpreter, but has state of its process
  if (module) {
    PyErr_SetString(PyExc_ImportError, "threading_module does not support sub-interpreters");
    return nullptr;
  }
  pthread_atfork(nullptr, nullptr, countFork);
  return module = PyModule_Create(&definition);
}
