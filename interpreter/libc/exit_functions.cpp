#include "interpreter/libc/exit_functions.h"

#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

#include "base/fork_mutex.h"
#include "base/never_destroyed.h"
#include "interpreter/common/exported.h"
#include "interpreter/libc/fork_handlers.h"

extern "C" void __cxa_finalize(void* library);

namespace multipy {
namespace {

struct ExitFunction {
  void (*run)(void*);
  void* argument;
  void* library;  // the __dso_handle of the one that registered it
};

class ExitFunctions {
 public:
  void add(const ExitFunction& function) {
    const base::Lock lock(mutex_);
    functions_.push_back(function);
  }

  /// The last one, or the last of `library`; it is not in the list any more.
  std::optional<ExitFunction> take(void* library) {
    const base::Lock lock(mutex_);
    const auto last = std::find_if(functions_.rbegin(), functions_.rend(), [&](const auto& each) {
      return !library || each.library == library;
    });
    if (last == functions_.rend()) {
      if (functions_.empty()) functions_.shrink_to_fit();
      return std::nullopt;
    }
    const ExitFunction function = *last;
    functions_.erase(std::next(last).base());
    return function;
  }

 private:
  base::ForkMutex mutex_;
  std::vector<ExitFunction> functions_ MULTIPY_GUARDED_BY(mutex_);
};

// (Also asked by other private libraries where the process exits before this
// interpreter was ended.)
ExitFunctions& exitFunctions() { return base::neverDestroyed<ExitFunctions>(); }

void runAll(void* library) {
  // Unlocked: one of them may register another.
  while (const auto function = exitFunctions().take(library)) function->run(function->argument);
}

}  // namespace

void runExitFunctions() { runAll(nullptr); }

}  // namespace multipy

// Private copies of libraries call these in place of the ones without "multipy_".
extern "C" {

MULTIPY_EXPORT int multipy___cxa_atexit(void (*run)(void*), void* argument, void* library) try {
  multipy::exitFunctions().add({run, argument, library});
  return 0;
} catch (const std::exception&) {
  return -1;  // no memory
}

// Called by a library that is being unloaded.
MULTIPY_EXPORT void multipy___cxa_finalize(void* library) {
  if (library) multipy::runAll(library);
  multipy::forgetForkHandlers(library);
  __cxa_finalize(library);  // what else libc knows of it
}

}  // extern "C"
