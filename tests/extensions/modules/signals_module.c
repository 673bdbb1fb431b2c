// Watches for a signal the way libuv does for the end of child processes: a handler of its
// own that writes into a pipe, in static variables; and by signal(), as older code does.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int ends[2] = {-1, -1};
static volatile sig_atomic_t count;
static pthread_t sender;

static void write_byte(int number) {
  const int error = errno;
  const char byte = (char)number;
  if (write(ends[1], &byte, 1) < 0) count = -1;
  errno = error;
}

static void add_one(int number) {
  (void)number;
  // raise() is answered in the thread that calls it; those of other interpreters arrive
  // here as well, in theirs.
  if (pthread_equal(pthread_self(), sender)) count++;
}

static PyObject* watch(PyObject* self, PyObject* number) {
  (void)self;
  struct sigaction action = {0};
  action.sa_handler = write_byte;
  action.sa_flags = SA_RESTART;
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 ||
      sigaction((int)PyLong_AsLong(number), &action, NULL) != 0)
    return PyErr_SetFromErrno(PyExc_OSError);
  return PyLong_FromLong(ends[0]);
}

static PyObject* counted(PyObject* self, PyObject* number) {
  (void)self;
  const int signal_number = (int)PyLong_AsLong(number);
  sender = pthread_self();
  void (*before)(int) = signal(signal_number, add_one);
  raise(signal_number);
  const int own = signal(signal_number, before) == add_one;
  return Py_BuildValue("(iii)", (int)count, own, before == SIG_DFL);
}

static PyMethodDef methods[] = {
    {"watch", watch, METH_O,
     "watch(number): a file descriptor that becomes readable with each signal"},
    {"counted", counted, METH_O,
     "counted(number): sends itself one, with a handler set by signal()"},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "signals_module", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_signals_module(void) { return PyModule_Create(&definition); }
