// exec("text"), eval("text") and compile("text"): what another interpreter has compiled of
// the same text need not be compiled again (process/code_cache.h says why).
//
// CPython calls Py_CompileStringObject and PyRun_StringFlags for them; --wrap leads its
// calls here. What they make depends on the text, the name of its file, the flags and two
// settings of the interpreter, and on nothing else; all of that is the key, and what is
// found was made by this very CPython. What else they do is done here as well: the audit
// events, and the flags that the text's own __future__ statements add.
//
// Never kept: texts whose compilation warned (each interpreter warns again) or failed, and
// texts with a number so long that sys.set_int_max_str_digits() decides on it.
//
// Threads: with the GIL.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <marshal.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "interpreter/common/host_connection.h"
#include "interpreter/common/python_version.h"
#include "interpreter/common/reference.h"

extern "C" {

const PyConfig* _Py_GetConfig(void);  // exported, in no public header

PyObject* __real_Pz_CompileStringObject(const char* text, PyObject* filename, int start,
                                        PyCompilerFlags* flags, int optimize);
PyObject* __real_PzRun_StringFlags(const char* text, int start, PyObject* globals, PyObject* locals,
                                   PyCompilerFlags* flags);
int __real_PzErr_WarnExplicitObject(PyObject* category, PyObject* message, PyObject* filename,
                                    int line, PyObject* module, PyObject* registry);
#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x030E0000
// (Weak: the first releases of CPython 3.13 have no such function, and nothing that calls it.)
__attribute__((weak)) int __real__PzErr_WarnExplicitObjectWithContext(PyObject* category,
                                                                      PyObject* message,
                                                                      PyObject* filename, int line);
#endif
}

namespace multipy {
namespace {

// Longer ones are whole modules, of which Python itself keeps the code on disk.
constexpr std::size_t kLongestText = std::size_t{16} << 10;

// The least that sys.set_int_max_str_digits() accepts (_PY_LONG_MAX_STR_DIGITS_THRESHOLD).
constexpr int kUnlimitedDigits = 640;

// How many the compiler has given, and others. (Atomic: another interpreter that Python code
// makes inside of this one may have its own GIL.)
std::atomic<uint64_t> warnings{0};

bool hasLongNumber(std::string_view text) {
  int digits = 0;
  for (const char character : text) {
    digits = (character >= '0' && character <= '9') || character == '_' ? digits + 1 : 0;
    if (digits >= kUnlimitedDigits) return true;
  }
  return false;
}

/// All that code made of `text` depends on. Nothing for what is not to be kept, or where
/// there is no memory for it: CPython's C code must see no C++ exception.
std::optional<std::string> keyOf(std::string_view text, PyObject* filename, int start,
                                 const PyCompilerFlags* flags, int optimize) noexcept try {
  if (!flags || (flags->cf_flags & PyCF_ONLY_AST) || text.size() > kLongestText) return {};
  if (!PyUnicode_CheckExact(filename)) return {};
  Py_ssize_t length;
  const char* const name = PyUnicode_AsUTF8AndSize(filename, &length);
  if (!name) {
    PyErr_Clear();  // surrogates
    return {};
  }
  const PyConfig* const config = _Py_GetConfig();
  const int settings[] = {start,
                          flags->cf_flags,
                          flags->cf_feature_version,
                          optimize == -1 ? config->optimization_level : optimize,
                          keepsColumns(*config),
                          static_cast<int>(length)};
  std::string key;
  key.reserve(sizeof settings + length + text.size());
  key.append(reinterpret_cast<const char*>(settings), sizeof settings);
  key.append(name, length);
  key.append(text);
  return key;
} catch (const std::bad_alloc&) {
  return {};
}

/// Null, and an exception, where there was not enough memory.
Reference unpack(std::string_view kept, PyCompilerFlags& flags) {
  int flagsAfter;
  std::memcpy(&flagsAfter, kept.data(), sizeof flagsAfter);
  kept.remove_prefix(sizeof flagsAfter);
  const auto size = static_cast<Py_ssize_t>(kept.size());
  auto code = Reference::take(PyMarshal_ReadObjectFromString(kept.data(), size));
  if (code) flags.cf_flags = flagsAfter;
  return code;
}

void keep(const std::string& key, PyObject* code, const PyCompilerFlags& flags) noexcept try {
  const Reference marshalled =
      Reference::take(PyMarshal_WriteObjectToString(code, Py_MARSHAL_VERSION));
  if (!marshalled) return PyErr_Clear();
  std::string value(reinterpret_cast<const char*>(&flags.cf_flags), sizeof flags.cf_flags);
  value.append(PyBytes_AS_STRING(marshalled.get()), PyBytes_GET_SIZE(marshalled.get()));
  host()->keepCompiled(key, value);
} catch (const std::bad_alloc&) {  // then not
}

/// What Py_CompileStringObject does, for a text that has a key.
Reference compile(const std::string& key, const char* text, PyObject* filename, int start,
                  PyCompilerFlags& flags, int optimize) {
  std::string kept;
  if (host()->findCompiled(key, kept)) {
    if (PySys_Audit("compile", "yO", text, filename) < 0) return nullptr;
    return unpack(kept, flags);
  }
  const uint64_t before = warnings;
  auto code =
      Reference::take(__real_Pz_CompileStringObject(text, filename, start, &flags, optimize));
  if (code && warnings == before && !hasLongNumber(text)) keep(key, code.get(), flags);
  return code;
}

}  // namespace
}  // namespace multipy

using namespace multipy;

extern "C" {

PyObject* __wrap_Pz_CompileStringObject(const char* text, PyObject* filename, int start,
                                        PyCompilerFlags* flags, int optimize) {
  const auto key = keyOf(text, filename, start, flags, optimize);
  return key ? compile(*key, text, filename, start, *flags, optimize).release()
             : __real_Pz_CompileStringObject(text, filename, start, flags, optimize);
}

// CPython's own compiles, audits and evaluates, too; and adds __builtins__ to globals that
// have none, which exec() and eval() have done by then.
PyObject* __wrap_PzRun_StringFlags(const char* text, int start, PyObject* globals, PyObject* locals,
                                   PyCompilerFlags* flags) {
  const bool ready = globals && PyDict_GetItemString(globals, "__builtins__");
  if (!ready) return __real_PzRun_StringFlags(text, start, globals, locals, flags);
  const Reference filename = Reference::take(PyUnicode_InternFromString("<string>"));
  if (!filename) return nullptr;
  const auto key = keyOf(text, filename.get(), start, flags, -1);
  if (!key) return __real_PzRun_StringFlags(text, start, globals, locals, flags);
  const Reference code = compile(*key, text, filename.get(), start, *flags, -1);
  if (!code || PySys_Audit("exec", "O", code.get()) < 0) return nullptr;
  return PyEval_EvalCode(code.get(), globals, locals);
}

int __wrap_PzErr_WarnExplicitObject(PyObject* category, PyObject* message, PyObject* filename,
                                    int line, PyObject* module, PyObject* registry) {
  ++warnings;
  return __real_PzErr_WarnExplicitObject(category, message, filename, line, module, registry);
}

#if PY_VERSION_HEX >= 0x030D0000 && PY_VERSION_HEX < 0x030E0000
int __wrap__PzErr_WarnExplicitObjectWithContext(PyObject* category, PyObject* message,
                                                PyObject* filename, int line) {
  ++warnings;
  return __real__PzErr_WarnExplicitObjectWithContext(category, message, filename, line);
}
#endif
}
