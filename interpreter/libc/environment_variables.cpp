// Environment variables of an interpreter's own.
//
// A process has one environment. An interpreter that was given variables in code has
// its own beside it: what CPython (os.environ, PYTHONPATH at the start) and private
// libraries read, what os.environ changes, and what children inherit that Python
// starts. Shared libraries and the program go on with the process's.
//
// CPython's calls come here by --wrap, those of private libraries because their copies
// call multipy_<name> for <name> (src/loader/c_functions.def). C code that walks
// `environ` by itself is not reached, nor are the children of popen() and posix_spawn().
//
// The variable `environ` has two readers in CPython, which find __wrap_environ: what makes
// os.environ, at the start and in os.reload_environ() (from 3.14 on), and
// os.posix_spawn() without variables of its own (from 3.13 on; subprocess calls it). Of an
// interpreter's own variables it is always the newest array. The process's array may be
// replaced, and freed, by the thread that sets a variable, so it is looked at again for each
// reader.
//
// One variable is each interpreter's own in any case: torch's inductor hands the address
// of a C++ function to the kernels that it compiles by way of the process environment
// (torch/_inductor/codecache.py), and with several interpreters each would overwrite the
// others'.
#include "interpreter/libc/environment_variables.h"

#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/exported.h"
#include "interpreter/common/host_connection.h"
#include "interpreter/common/no_memory.h"

extern "C" {
extern char** __real_environ;  // NOLINT: the linker's name for the C library's
extern char** __wrap_environ;  // NOLINT: the linker's name for what CPython reads instead
char** __wrap_environ = nullptr;
}

namespace {

constexpr std::string_view kAddressVariable = "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR";

class OwnVariables {
 public:
  void set(std::string_view name, std::string_view value, bool overwrite) {
    const multipy::base::Lock lock(mutex_);
    const auto found = entries_.find(name);
    if (found != entries_.end() && !overwrite) return;
    Array array = makeArray(entries_.size() + 1);  // first all that memory may lack for
    const char* entry = keep(std::string(name) + "=" + std::string(value));
    entries_.insert_or_assign(std::string(name), entry);
    publish(std::move(array));
  }

  void clear() {
    const multipy::base::Lock lock(mutex_);
    Array array = makeArray(0);
    entries_.clear();
    publish(std::move(array));
  }

  void remove(std::string_view name) {
    const multipy::base::Lock lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    Array array = makeArray(entries_.size());
    entries_.erase(found);
    publish(std::move(array));
  }

  const char* get(std::string_view name) {
    const multipy::base::Lock lock(mutex_);
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : found->second + name.size() + 1;
  }

  /// For execve. Without a lock: in a child of vfork() no thread would give it back.
  char** all() const noexcept { return published_.load(std::memory_order_acquire); }

 private:
  using Array = std::unique_ptr<char*[]>;

  // getenv's result stays valid for ever, so every entry given out is kept.
  const char* keep(std::string entry) MULTIPY_REQUIRES(mutex_) {
    return kept_.insert(std::move(entry)).first->c_str();
  }

  static Array makeArray(std::size_t entries) { return Array(new char*[entries + 1]); }

  void publish(Array array) noexcept MULTIPY_REQUIRES(mutex_) {
    std::size_t count = 0;
    for (const auto& [name, entry] : entries_) array[count++] = const_cast<char*>(entry);
    array[count] = nullptr;
    published_.store(array.get(), std::memory_order_release);
    latest_[++publications_ % latest_.size()] = std::move(array);
  }

  multipy::base::ForkMutex mutex_;
  std::map<std::string, const char*, std::less<>> entries_ MULTIPY_GUARDED_BY(mutex_);
  std::set<std::string> kept_ MULTIPY_GUARDED_BY(mutex_);
  std::atomic<char**> published_{nullptr};
  // A child of vfork() reads an array while this process goes on changing variables. It
  // is about to exec, so it has done so long before as many changes have been made.
  std::array<Array, 256> latest_ MULTIPY_GUARDED_BY(mutex_);
  std::size_t publications_ MULTIPY_GUARDED_BY(mutex_) = 0;
};

// Neither is ever destroyed: threads may outlive the static destructors.
OwnVariables& addresses() { return multipy::base::neverDestroyed<OwnVariables>(); }
OwnVariables* own = nullptr;  // set once, before Python starts

/// Where a variable is kept: null for the process.
OwnVariables* keeperOf(const char* name) { return name == kAddressVariable ? &addresses() : own; }

/// For posix_spawn: CPython has read `environ` just before, with the GIL, or names others.
char* const* inherited(char* const* variables) {
  return !own && variables == __wrap_environ ? __real_environ : variables;
}

bool isVariableName(const char* name) { return name && *name && !std::strchr(name, '='); }

/// `start(path)` with `file` in one directory of one's own PATH after the other, until it is
/// there: 0 or an errno value, as `start` gives it. (The C library's execvpe() and
/// posix_spawnp() go along the process's PATH.) Without the heap and without a lock, as in
/// OwnVariables::all(): children of vfork() come here.
template <class Start>
int alongOwnPath(const char* file, const Start& start) {
  if (std::strchr(file, '/')) return start(file);
  if (!*file) return ENOENT;
  std::string_view path = "/bin:/usr/bin";  // where there is none, as confstr(_CS_PATH)
  for (char** entry = own->all(); *entry; ++entry)
    if (std::strncmp(*entry, "PATH=", 5) == 0) path = *entry + 5;
  const std::size_t length = std::strlen(file);
  auto* const whole = static_cast<char*>(alloca(path.size() + length + 2));
  bool refused = false;
  for (;;) {
    const std::string_view directory = path.substr(0, path.find(':'));
    char* end = whole + directory.copy(whole, directory.size());
    if (!directory.empty()) *end++ = '/';  // an empty one is the current
    std::memcpy(end, file, length + 1);
    const int error = start(whole);
    if (error == EACCES)
      refused = true;
    else if (error != ENOENT && error != ENOTDIR && error != ESTALE && error != ENODEV &&
             error != ETIMEDOUT)
      return error;
    if (directory.size() == path.size()) return refused ? EACCES : error;
    path.remove_prefix(directory.size() + 1);
  }
}

/// An errno value as C functions give it.
int asC(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// Private libraries change variables without the GIL.
void show(char** variables) { std::atomic_ref(__wrap_environ).store(variables); }

}  // namespace

extern "C" {

char* __real_getenv(const char* name);
int __real_execv(const char* file, char* const arguments[]);
int __real_system(const char* command);
int __real_posix_spawn(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const arguments[],
                       char* const variables[]);
int __real_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const arguments[],
                        char* const variables[]);

int __wrap_setenv(const char* name, const char* value, int overwrite) {
  OwnVariables* keeper = isVariableName(name) ? keeperOf(name) : nullptr;
  if (!keeper) return asC(multipy::host()->setVariable(name, value, overwrite));
  return multipy::orNoMemory([&] {
    keeper->set(name, value, overwrite != 0);
    if (own) show(own->all());
    return 0;
  });
}

int __wrap_unsetenv(const char* name) {
  OwnVariables* keeper = isVariableName(name) ? keeperOf(name) : nullptr;
  if (!keeper) return asC(multipy::host()->removeVariable(name));
  return multipy::orNoMemory([&] {
    keeper->remove(name);
    if (own) show(own->all());
    return 0;
  });
}

char* __wrap_getenv(const char* name) {
  OwnVariables* keeper = keeperOf(name);
  return keeper ? const_cast<char*>(keeper->get(name)) : __real_getenv(name);
}

static char* getenvUnlessSecure(const char* name) {
  return ::getauxval(AT_SECURE) ? nullptr : __wrap_getenv(name);
}

// The text becomes part of the process's variables, and is copied into one's own.
static int put(char* entry) {
  return multipy::orNoMemory([&] {
    const std::string_view text = entry;
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    if (!isVariableName(name.c_str()) || !keeperOf(name.c_str()))
      return asC(multipy::host()->putVariable(entry));
    return equals == text.npos ? __wrap_unsetenv(name.c_str())
                               : __wrap_setenv(name.c_str(), entry + equals + 1, 1);
  });
}

static int clear() {
  if (!own) return asC(multipy::host()->clearVariables());
  return multipy::orNoMemory([] {
    own->clear();
    show(own->all());
    return 0;
  });
}

/// For execl() and execlp(), whose arguments end with a null pointer. Without the heap:
/// children of vfork() call them.
static int execWords(int (*exec)(const char*, char* const*), const char* file, const char* first,
                     va_list more) {
  std::size_t count = 1;
  va_list counted;
  va_copy(counted, more);
  for (const char* word = first; word; word = va_arg(counted, const char*)) ++count;
  va_end(counted);
  auto** const words = static_cast<char**>(alloca(count * sizeof(char*)));
  words[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i < count; ++i) words[i] = va_arg(more, char*);
  return exec(file, words);
}

static int execOwn(const char* file, char* const arguments[]) {
  return ::execve(file, arguments, own->all());
}

/// A file that is no program is one for the shell, to execvp().
static int execOwnOrShell(const char* file, char* const arguments[]) {
  execOwn(file, arguments);
  if (errno != ENOEXEC) return -1;
  std::size_t count = 1;
  for (char* const* word = arguments; *word; ++word) ++count;
  auto** const words = static_cast<char**>(alloca((count + 2) * sizeof(char*)));
  words[0] = const_cast<char*>("/bin/sh");
  words[1] = const_cast<char*>(file);
  for (std::size_t i = 1; i < count; ++i) words[i + 1] = arguments[i];
  if (!*arguments) words[2] = nullptr;
  return execOwn(words[0], words);
}

/// As execvp().
static int execAlongOwnPath(const char* file, char* const arguments[]) {
  errno = alongOwnPath(file, [&](const char* path) {
    execOwnOrShell(path, arguments);
    return errno;
  });
  return -1;
}

int __wrap_execv(const char* file, char* const arguments[]) {
  return own ? execOwn(file, arguments) : __real_execv(file, arguments);
}

int __wrap_posix_spawn(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const arguments[],
                       char* const variables[]) {
  return __real_posix_spawn(child, file, actions, attributes, arguments, inherited(variables));
}

int __wrap_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const arguments[],
                        char* const variables[]) {
  if (!own)
    return __real_posix_spawnp(child, file, actions, attributes, arguments, inherited(variables));
  return alongOwnPath(file, [&](const char* path) {
    return __real_posix_spawn(child, path, actions, attributes, arguments, variables);
  });
}

// Unlike the C library's it leaves the signals alone, which are the host's.
int __wrap_system(const char* command) {
  if (!own || !command) return __real_system(command);
  const char* words[] = {"sh", "-c", command, nullptr};
  pid_t child;
  const int error = __real_posix_spawn(&child, "/bin/sh", nullptr, nullptr,
                                       const_cast<char* const*>(words), own->all());
  if (error != 0) {
    errno = error;
    return -1;
  }
  int status = -1;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

/// What private libraries find of a variable that is `value`, or not set (null).
///
/// Options of a jemalloc that a library has of its own (pyarrow, polars; under a prefix for each)
/// begin with one: a thread that it begins for giving memory back ends with the process, and until
/// then neither the interpreter's libraries nor its memory can be given back. Without, it gives
/// back as it allocates.
static char* shownToLibraries(const char* name, char* value) {
  if (!std::string_view(name).ends_with("MALLOC_CONF")) return value;
  static constinit multipy::base::ForkMutex mutex;
  static auto& shown = multipy::base::neverDestroyed<std::set<std::string>>();
  const multipy::base::Lock lock(mutex);
  try {
    const std::string options = std::string("background_thread:false") + (value ? "," : "");
    return const_cast<char*>(shown.insert(options + (value ? value : "")).first->c_str());
  } catch (const std::bad_alloc&) {
    return value;
  }
}

MULTIPY_EXPORT char* multipy_getenv(const char* name) {
  return shownToLibraries(name, __wrap_getenv(name));
}
MULTIPY_EXPORT int multipy_setenv(const char* name, const char* value, int overwrite) {
  return __wrap_setenv(name, value, overwrite);
}
MULTIPY_EXPORT int multipy_unsetenv(const char* name) { return __wrap_unsetenv(name); }
MULTIPY_EXPORT char* multipy_secure_getenv(const char* name) {
  return shownToLibraries(name, getenvUnlessSecure(name));
}
MULTIPY_EXPORT int multipy_putenv(char* entry) { return put(entry); }
MULTIPY_EXPORT int multipy_clearenv() { return clear(); }
MULTIPY_EXPORT int multipy_execv(const char* file, char* const arguments[]) {
  return __wrap_execv(file, arguments);
}
MULTIPY_EXPORT int multipy_execvp(const char* file, char* const arguments[]) {
  return own ? execAlongOwnPath(file, arguments) : ::execvp(file, arguments);
}
MULTIPY_EXPORT int multipy_execl(const char* file, const char* first, ...) {
  va_list more;
  va_start(more, first);
  const int failed = execWords(multipy_execv, file, first, more);
  va_end(more);
  return failed;
}
MULTIPY_EXPORT int multipy_execlp(const char* file, const char* first, ...) {
  va_list more;
  va_start(more, first);
  const int failed = execWords(multipy_execvp, file, first, more);
  va_end(more);
  return failed;
}
MULTIPY_EXPORT int multipy_system(const char* command) { return __wrap_system(command); }

}  // extern "C"

void multipy::lookAtEnvironment() {
  static char* none = nullptr;
  // (Another interpreter may be changing it: process/environment_variables.cpp.)
  char** const now = own ? own->all() : std::atomic_ref(__real_environ).load();
  show(now ? now : &none);
}

void multipy::adoptEnvironment(const std::optional<std::vector<std::string>>& variables) {
  if (!variables) return lookAtEnvironment();
  own = new OwnVariables;
  for (const std::string& entry : *variables) {
    const std::size_t equals = entry.find('=');
    own->set(std::string_view(entry).substr(0, equals), std::string_view(entry).substr(equals + 1),
             true);
  }
  lookAtEnvironment();
}
