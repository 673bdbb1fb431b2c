// dlopen and its relatives, as private code sees them.
//
// In private copies of libraries, calls of dlopen, dlsym, dladdr, dl_iterate_phdr,
// dlerror and dlclose are renamed to the functions below, so that what Python code loads or
// looks up by name (ctypes, cffi, numba, extensions that load further ones)
// follows the isolation policy, and "this program" means this interpreter and
// not a CPython that the host may have. CPython's own import of extension
// modules comes in through _PyImport_FindSharedFuncptr.
//
// Threads: as the originals. Errors are kept per thread, as dlerror() demands.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "interpreter/common/exported.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/common/python_version.h"
#include "interpreter/common/reference.h"

namespace {

// The message that the next multipy_dlerror() of this thread returns. A plain
// pointer, so that the thread-local has no destructor, which would keep this
// library loaded until the thread ends.
thread_local char* pendingError = nullptr;
thread_local char* reportedError = nullptr;

char noMemory[] = "out of memory";

void freeError(char* error) {
  if (error != noMemory) std::free(error);
}

/// `message` gives the text. C code calls this: nothing is thrown.
template <class Message>
void setError(Message&& message) noexcept {
  freeError(pendingError);
  try {
    pendingError = strdup(std::string(message()).c_str());
  } catch (const std::bad_alloc&) {
    pendingError = nullptr;
  }
  if (!pendingError) pendingError = noMemory;
}

/// "/lib/libm.so.6: ", as errors begin; nothing for "this program".
std::string fileBehind(void* handle) {
  link_map* object = nullptr;
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT ||
      dlinfo(handle, RTLD_DI_LINKMAP, &object) != 0)
    return {};
  const auto* host = multipy::host();
  const char* const original = host->originalOf(host->context, object->l_name);
  const char* const file = original ? original : object->l_name;
  return *file == '/' ? std::string(file) + ": " : std::string();
}

bool hasGil() {
  PyThreadState* const mine = PyGILState_GetThisThreadState();
  return mine && mine == multipy::attachedThreadState();
}

/// `file` lies below it.
bool isBelow(const std::string& file, const std::string& directory) {
  return file.size() > directory.size() && file.starts_with(directory) &&
         (directory.ends_with('/') || file[directory.size()] == '/');
}

/// Without links, dots and what is relative; empty where there is no such file.
std::string realPath(const std::string& path) {
  char* const found = ::realpath(path.c_str(), nullptr);
  if (!found && errno == ENOMEM) throw std::bad_alloc();
  const std::unique_ptr<char, decltype(&std::free)> owned(found, std::free);
  return found ? found : "";
}

/// The directory on sys.path that a file lies below, `file` as it is given or `real`, and the
/// longest if there are several; empty if it lies below none.
std::string directoryOnPath(const std::string& file, const std::string& real) {
  std::string longest;
  PyObject* const path = PySys_GetObject("path");  // borrowed
  if (!path || !PyList_Check(path)) return longest;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(path); i++) {
    PyObject* const entry = PyList_GET_ITEM(path, i);
    if (!PyUnicode_Check(entry)) continue;
    const auto bytes = multipy::Reference::take(PyUnicode_EncodeFSDefault(entry));
    if (!bytes) {
      PyErr_Clear();
      continue;
    }
    std::string directory = PyBytes_AS_STRING(bytes.get());
    if (!directory.starts_with('/') || !isBelow(file, directory)) {
      directory = realPath(directory.empty() ? "." : directory);
      if (directory.empty() || !isBelow(real, directory)) continue;
    }
    if (directory.size() > longest.size()) longest = std::move(directory);
  }
  return longest;
}

/// A program may add directories to sys.path at any time. Before a library of one is loaded the
/// host is told: what lies there belongs to the environment. With the GIL.
void tellDirectory(const std::string& file) {
  // Never destroyed: libraries are loaded until the interpreter has ended.
  static auto& told = *new std::vector<std::string>;
  const auto isKnown = [](const std::string& path) {
    return std::any_of(told.begin(), told.end(),
                       [&](const std::string& directory) { return isBelow(path, directory); });
  };
  if (isKnown(file)) return;
  const std::string real = realPath(file);
  if (isKnown(real)) return;
  std::string directory = directoryOnPath(file, real);
  if (directory.empty()) return;
  const auto* host = multipy::host();
  if (host->addCodeDirectory(host->context, directory.c_str()))
    told.push_back(std::move(directory));
}

/// What sys.setdlopenflags() has set for imports.
int importFlags() {
  PyObject* const get = PySys_GetObject("getdlopenflags");  // borrowed
  const auto flags = multipy::Reference::take(get ? PyObject_CallNoArgs(get) : nullptr);
  const long value = flags ? PyLong_AsLong(flags.get()) : 0;
  PyErr_Clear();  // the function has been taken away: no flags, then
  return static_cast<int>(value);
}

}  // namespace

extern "C" {

MULTIPY_EXPORT void* multipy_dlopen(const char* name, int flags) {
  void* const caller = __builtin_return_address(0);
  std::string error;
  const auto* host = multipy::host();
  try {
    if (name && std::strchr(name, '/') && hasGil()) tellDirectory(name);
  } catch (const std::bad_alloc&) {
    setError([] { return noMemory; });
    return nullptr;
  }
  void* handle = host->open(host->context, name, flags, caller, error);
  if (!handle) setError([&]() -> const std::string& { return error; });
  return handle;
}

MULTIPY_EXPORT void* multipy_dlsym(void* handle, const char* name) {
  const auto* host = multipy::host();
  void* address = host->symbol(host->context, handle, name, __builtin_return_address(0));
  if (!address) setError([&] { return fileBehind(handle) + "undefined symbol: " + name; });
  return address;
}

MULTIPY_EXPORT char* multipy_dlerror() {
  freeError(reportedError);
  reportedError = pendingError;
  pendingError = nullptr;
  return reportedError ? reportedError : dlerror();
}

MULTIPY_EXPORT int multipy_dl_iterate_phdr(int (*use)(dl_phdr_info*, std::size_t, void*),
                                           void* data) {
  const auto* host = multipy::host();
  return host->eachObject(host->context, use, data);
}

MULTIPY_EXPORT int multipy_dladdr(const void* address, Dl_info* info) {
  const int found = dladdr(address, info);
  if (found && info->dli_fname) {
    const auto* host = multipy::host();
    if (const char* original = host->originalOf(host->context, info->dli_fname))
      info->dli_fname = original;
  }
  return found;
}

// The handles given out by multipy_dlopen belong to the private space, which
// closes them when the interpreter ends: other private libraries may rely on them.
MULTIPY_EXPORT int multipy_dlclose(void*) { return 0; }

using dl_funcptr = void (*)();

// Overrides CPython's own of the same name (Python/dynload_shlib.c), which the
// build makes weak. The GIL stays held, as it does there: static initialisers
// of extension modules may count on it.
dl_funcptr _PyImport_FindSharedFuncptr(const char* prefix, const char* shortName, const char* path,
                                       FILE*) try {
  const auto* host = multipy::host();
  std::string error;
  tellDirectory(path);
  const int flags = importFlags();
  void* handle = flags & RTLD_GLOBAL ? host->open(host->context, path, flags, nullptr, error)
                                     : host->load(host->context, path, error);
  if (!handle) {
    const auto message = multipy::Reference::take(PyUnicode_FromString(error.c_str()));
    const auto name = multipy::Reference::take(PyUnicode_FromString(shortName));
    const auto file = multipy::Reference::take(PyUnicode_DecodeFSDefault(path));
    if (message && name && file) PyErr_SetImportError(message.get(), name.get(), file.get());
    return nullptr;
  }
  const std::string symbol = std::string(prefix) + "_" + shortName;
  return reinterpret_cast<dl_funcptr>(dlsym(handle, symbol.c_str()));
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return nullptr;
}

}  // extern "C"
