#include "loader/interpreter_names.h"

#include <elf.h>

#include <algorithm>
#include <array>

#include "base/blake2b.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

/// The dynamic loader; what reads, changes or hands on environment variables; what has its
/// result in a variable of the process (interpreter/libc/static_results.h); what leaves the
/// process a function to be called later, when the library may be gone; and what starts
/// threads (the last is std::thread's).
constexpr std::array<std::string_view, 54> kReplaced = {
    "dlopen",
    "dlsym",
    "dladdr",
    "dl_iterate_phdr",
    "dlerror",
    "dlclose",
    "getenv",
    "secure_getenv",
    "setenv",
    "putenv",
    "unsetenv",
    "clearenv",
    "localtime",
    "gmtime",
    "asctime",
    "ctime",
    "strtok",
    "getpwnam",
    "getpwuid",
    "setpwent",
    "getpwent",
    "endpwent",
    "getgrnam",
    "getgrgid",
    "setgrent",
    "getgrent",
    "endgrent",
    "getservbyname",
    "getservbyport",
    "getprotobyname",
    "getprotobynumber",
    "gethostbyname",
    "gethostbyaddr",
    "getmntent",
    "setutent",
    "getutent",
    "endutent",
    "setutxent",
    "getutxent",
    "endutxent",
    "execv",
    "execvp",
    "execl",
    "execlp",
    "system",
    "__cxa_atexit",
    "__cxa_finalize",
    "pthread_key_create",
    "pthread_key_delete",
    "__register_atfork",
    "sigaction",
    "signal",
    "pthread_create",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"};

}  // namespace

std::string InterpreterNames::replacementOf(std::string_view name) {
  if (std::find(kReplaced.begin(), kReplaced.end(), name) == kReplaced.end()) return {};
  return "multipy_" + std::string(name);
}

InterpreterNames::InterpreterNames(const elf::SharedObject& payload) {
  base::Blake2b hash;
  for (uint32_t index = 1; index < payload.symbolCount(); ++index) {
    const elf::Symbol symbol = payload.symbol(index);
    if (symbol.defined && symbol.binding != STB_LOCAL) names_.emplace(symbol.name);
  }
  for (const std::string& name : names_) {
    hash.update(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
  }
  digest_ = hash.finish();
  for (const std::string_view name : kReplaced) {
    if (exports(replacementOf(name))) continue;
    throw runtime::InternalError(payload.name() + ": does not export " + replacementOf(name) +
                                 ", which private libraries call in place of " + std::string(name) +
                                 "; the payload was built wrongly");
  }
}

}  // namespace multipy::loader
