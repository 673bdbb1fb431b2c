#include "interpreter/host_module.h"

#include <string>

#include "interpreter/host_connection.h"
#include "interpreter/process_environment.h"

namespace multipy {
namespace {

PyObject* moduleSource(PyObject*, PyObject* argument) {
  const char* name = PyUnicode_AsUTF8(argument);
  if (!name) return nullptr;
  std::string source;
  if (!host()->moduleSource(host()->context, name, source)) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(source.data(), static_cast<Py_ssize_t>(source.size()), "strict");
}

// write(stream, data): all of it, or OSError.
PyObject* output(PyObject*, PyObject* arguments) {
  int stream;
  Py_buffer data;
  if (!PyArg_ParseTuple(arguments, "iy*", &stream, &data)) return nullptr;
  std::string error;
  bool done;
  Py_BEGIN_ALLOW_THREADS  // what the program does with it may need this GIL
  done = host()->output(host()->context, stream, static_cast<const char*>(data.buf),
                        static_cast<std::size_t>(data.len), error);
  Py_END_ALLOW_THREADS
  const Py_ssize_t size = data.len;
  PyBuffer_Release(&data);
  if (done) return PyLong_FromSsize_t(size);
  PyErr_Format(PyExc_OSError, "the program's output hook failed: %s", error.c_str());
  return nullptr;
}

PyObject* lookAtEnviron(PyObject*, PyObject*) {
  lookAtEnvironment();
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"look_at_environ", lookAtEnviron, METH_NOARGS,
     "Has posix read the variables as they are now."},
    {"output", output, METH_VARARGS, "Gives bytes that were printed to the program."},
    {"module_source", moduleSource, METH_O, "Source registered for a module name, or None."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          kHostModuleName,
                          "What multipy's Python code asks the host process for.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyObject* initHostModule() {
  auto module = Reference::take(PyModule_Create(&definition));
  if (!module || PyModule_AddIntConstant(module.get(), "slot", host()->slot) != 0) return nullptr;
  return module.release();
}

}  // namespace multipy
