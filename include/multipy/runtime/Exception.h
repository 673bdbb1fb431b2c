// What multipy throws. Every error is a multipy::runtime::Error, which is a
// std::runtime_error; catch that one to catch them all, or one of the types
// below to tell them apart. what() always says what was being done, to which
// file or object, what was found, what was expected and what to do about it.
// (Where the program has no memory for that, std::bad_alloc comes in its place.)
//
// Threads: exceptions are plain values; they hold no interpreter, no GIL and no
// Python object, and may be copied, stored and rethrown anywhere, also after
// the interpreter they came from has gone.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "multipy/runtime/pool_figures.h"

namespace multipy::runtime {

/// Root of everything that multipy throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument that cannot be right, whatever the state: n = 0, a null handle.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A broken promise inside multipy itself. Please report it.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// A file that is not a shared object we can read: damaged, truncated, foreign.
class ElfError : public Error {
 public:
  /// `field` is the name of the ELF gABI ("e_phoff", "DT_STRSZ", ...), `found`
  /// its value there and `expected` what it had to be.
  ElfError(std::string file, std::string field, std::string found, std::string expected)
      : Error(file + ": " + field + " is " + found + ", expected " + expected),
        file_(std::move(file)),
        field_(std::move(field)),
        found_(std::move(found)),
        expected_(std::move(expected)) {}

  const std::string& file() const noexcept { return file_; }          // the library's path
  const std::string& field() const noexcept { return field_; }        // by its name in the gABI
  const std::string& found() const noexcept { return found_; }        // its value
  const std::string& expected() const noexcept { return expected_; }  // what it had to be

 private:
  std::string file_, field_, found_, expected_;
};

/// A private library that could not be found, copied or loaded.
class LoadError : public Error {
 public:
  using Error::Error;
};

/// The copy cache cannot be used: no space, no rights, tampered with.
class CacheError : public LoadError {
 public:
  using LoadError::LoadError;
};

/// The Python environment cannot be used: it does not exist, or is for another
/// version of Python, or its interpreter could not be started.
class EnvironmentError : public Error {
 public:
  using Error::Error;
};

/// The torch found is not one this build can work with. `differences()` lists,
/// one per line of what(), what was needed and is missing or not alike.
class UnsupportedTorchError : public Error {
 public:
  UnsupportedTorchError(const std::string& what, std::vector<std::string> differences)
      : Error(what), differences_(std::move(differences)) {}
  const std::vector<std::string>& differences() const noexcept { return differences_; }  // a line

 private:
  std::vector<std::string> differences_;
};

/// A package that is missing, unreadable, or no torch.package.
class PackageError : public Error {
 public:
  using Error::Error;
};

/// A value that has no form on the other side of the C++/Python boundary, or a
/// tensor that cannot cross it. what() names the type and says what to do.
class ConversionError : public Error {
 public:
  using Error::Error;
};

/// A handle (Obj, session, ReplicatedObj, Package) used where it does not
/// belong: with another interpreter, or after its session or manager has gone.
class HandleError : public Error {
 public:
  using Error::Error;
};

/// A call or a session that was not had, or a call that was ended early; what() has the figures of
/// the pool at that moment.
class CallEndedError : public Error {
 public:
  CallEndedError(const std::string& what, PoolFigures figures)
      : Error(what), figures_(std::move(figures)) {}
  const PoolFigures& figures() const noexcept { return figures_; }  // of its manager

 private:
  PoolFigures figures_;
};

/// As many calls wait in line as PoolOptions allows: this one has not been made.
class QueueFullError : public CallEndedError {
 public:
  using CallEndedError::CallEndedError;
};

/// Its deadline (CallOptions) has passed: in line, or while it ran, as hasBegun() says.
class DeadlineExceededError : public CallEndedError {
 public:
  DeadlineExceededError(const std::string& what, PoolFigures figures, bool hasBegun)
      : CallEndedError(what, std::move(figures)), hasBegun_(hasBegun) {}
  /// Whether the call had begun, so that some of it may have been done.
  bool hasBegun() const noexcept { return hasBegun_; }

 private:
  bool hasBegun_;
};

/// A stop was requested of it (CallOptions), or it was interrupted by hand.
class CancelledError : public CallEndedError {
 public:
  CancelledError(const std::string& what, PoolFigures figures, bool hasBegun)
      : CallEndedError(what, std::move(figures)), hasBegun_(hasBegun) {}
  bool hasBegun() const noexcept { return hasBegun_; }  // as DeadlineExceededError's

 private:
  bool hasBegun_;
};

/// A Python exception, carried to C++. The interpreter and the session it came
/// from remain usable. SystemExit and KeyboardInterrupt are no exceptions to
/// that: they arrive as this type and the process goes on.
class PythonException : public Error {
 public:
  PythonException(std::string type, std::string message, std::string traceback)
      : Error(format(type, message, traceback)),
        type_(std::move(type)),
        message_(std::move(message)),
        traceback_(std::move(traceback)) {}

  /// Qualified name of the Python type, as Python prints it: "ValueError",
  /// "torch.cuda.OutOfMemoryError".
  const std::string& type() const noexcept { return type_; }
  /// str() of the exception.
  const std::string& message() const noexcept { return message_; }
  /// What traceback.format_exception() gives, or empty if there is none.
  const std::string& traceback() const noexcept { return traceback_; }

 private:
  static std::string format(const std::string& type, const std::string& message,
                            const std::string& traceback) {
    std::string text = type + ": " + message;
    if (!traceback.empty()) text += "\n" + traceback;
    // what() would end at the first null character.
    for (std::size_t at; (at = text.find('\0')) != std::string::npos;) text.replace(at, 1, "\\0");
    return text;
  }
  std::string type_, message_, traceback_;
};

/// A module that Python could not find: an extern of a package that is not
/// installed, or a wrong name in global(). Adds to the Python exception the
/// name of the module and the search path (sys.path) that was used; message()
/// names the package that wanted it, where one did.
class ModuleNotFoundError : public PythonException {
 public:
  ModuleNotFoundError(std::string module, std::vector<std::string> searchPath, std::string message,
                      std::string traceback)
      : PythonException("ModuleNotFoundError", std::move(message), std::move(traceback)),
        module_(std::move(module)),
        searchPath_(std::move(searchPath)) {}
  const std::string& module() const noexcept { return module_; }  // its full name
  const std::vector<std::string>& searchPath() const noexcept { return searchPath_; }  // sys.path

 private:
  std::string module_;
  std::vector<std::string> searchPath_;
};

namespace detail {
template <typename... Parts>
std::string concatenate(const Parts&... parts) {
  std::ostringstream out;
  if constexpr (sizeof...(parts) > 0) (out << ... << parts);
  return out.str();
}

[[noreturn]] inline void failCheck(const char* kind, const char* condition, const char* file,
                                   int line, const std::string& message) {
  throw InternalError(concatenate(kind, " failed: ", condition, " at ", file, ":", line,
                                  message.empty() ? "" : ": ", message));
}
}  // namespace detail

}  // namespace multipy::runtime

// The ancestor's names, for programs written for it.
#define MULTIPY_INTERNAL_ASSERT(condition, ...)                                                    \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::multipy::runtime::detail::failCheck("internal assertion", #condition, __FILE__, __LINE__,  \
                                            ::multipy::runtime::detail::concatenate(__VA_ARGS__)); \
  } while (false)

#define MULTIPY_CHECK(condition, ...)                                                              \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::multipy::runtime::detail::failCheck("check", #condition, __FILE__, __LINE__,               \
                                            ::multipy::runtime::detail::concatenate(__VA_ARGS__)); \
  } while (false)
