#include "loader/workbench.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>

#include "loader/interpreter_names.h"
#include "loader/tools.h"

namespace multipy::loader::testing {
namespace {

constexpr const char* kStandIn = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
struct Services {
  void* space;
  void* (*open)(void*, const char*, int, const void*);
  void* (*symbol)(void*, void*, const char*, const void*);
  const char* (*original)(void*, const char*);
  int (*each)(void*, int (*)(struct dl_phdr_info*, size_t, void*), void*);
};
static const struct Services* services;
static int things;
#define EXPORT __attribute__((visibility("default")))
EXPORT const int room[100000] = {[0 ... 99999] = 1};  // pages that are worth sharing
EXPORT void attach(const struct Services* given) { services = given; }
EXPORT const char* PzThing_Who(void) { return "interpreter"; }
EXPORT int _PzThing_Count(void) { return ++things; }
EXPORT void* multipy_dlopen(const char* name, int flags) {
  return services->open(services->space, name, flags, __builtin_return_address(0));
}
EXPORT void* multipy_dlsym(void* handle, const char* name) {
  return services->symbol(services->space, handle, name, __builtin_return_address(0));
}
EXPORT int multipy_dladdr(const void* address, Dl_info* info) {
  int found = dladdr(address, info);
  const char* original = found ? services->original(services->space, info->dli_fname) : 0;
  if (original) info->dli_fname = original;
  return found;
}
EXPORT int multipy_dl_iterate_phdr(int (*use)(struct dl_phdr_info*, size_t, void*), void* data) {
  return services->each(services->space, use, data);
}
EXPORT char* multipy_dlerror(void) { return dlerror(); }
EXPORT int multipy_dlclose(void* handle) { (void)handle; return 0; }
EXPORT char* multipy_getenv(const char* name) { return getenv(name); }
EXPORT int multipy_setenv(const char* name, const char* value, int overwrite) {
  return setenv(name, value, overwrite);
}
EXPORT int multipy_unsetenv(const char* name) { return unsetenv(name); }
EXPORT int multipy_execv(const char* file, char* const* words) { return execv(file, words); }
EXPORT int multipy_execvp(const char* file, char* const* words) { return execvp(file, words); }
EXPORT char* multipy_secure_getenv(const char* name) { return secure_getenv(name); }
EXPORT int multipy_putenv(char* entry) { return putenv(entry); }
EXPORT int multipy_clearenv(void) { return clearenv(); }
EXPORT int multipy_system(const char* command) { return system(command); }
int __cxa_atexit(void (*)(void*), void*, void*);
void __cxa_finalize(void*);
int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void*);
EXPORT int multipy___cxa_atexit(void (*run)(void*), void* argument, void* library) {
  return __cxa_atexit(run, argument, library);
}
EXPORT void multipy___cxa_finalize(void* library) { __cxa_finalize(library); }
EXPORT int multipy___register_atfork(void (*before)(void), void (*parent)(void),
                                     void (*child)(void), void* library) {
  return __register_atfork(before, parent, child, library);
}
EXPORT int multipy_pthread_key_create(pthread_key_t* key, void (*destroy)(void*)) {
  return pthread_key_create(key, destroy);
}
EXPORT int multipy_pthread_key_delete(pthread_key_t key) { return pthread_key_delete(key); }
EXPORT int multipy_pthread_create(pthread_t* thread, const pthread_attr_t* how,
                                  void* (*run)(void*), void* argument) {
  return pthread_create(thread, how, run, argument);
}
EXPORT int multipy_sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  return sigaction(number, action, old);
}
EXPORT void (*multipy_signal(int number, void (*handler)(int)))(int) { return signal(number, handler); }
EXPORT int multipy_pthread_once(pthread_once_t* once, void (*initialize)(void)) {
  return pthread_once(once, initialize);
}
int __cxa_guard_acquire(void*);
void __cxa_guard_release(void*);
void __cxa_guard_abort(void*);
EXPORT int multipy___cxa_guard_acquire(void* guard) { return __cxa_guard_acquire(guard); }
EXPORT void multipy___cxa_guard_release(void* guard) { __cxa_guard_release(guard); }
EXPORT void multipy___cxa_guard_abort(void* guard) { __cxa_guard_abort(guard); }
)";

// With what else private libraries call in place of a C function, which these tests do not call.
std::string standInSource() {
  std::string source = kStandIn;
  for (const std::string_view name : InterpreterNames::replaced())
    if (const std::string ours = InterpreterNames::replacementOf(name) + "(";
        source.find(ours) == source.npos)
      source += "EXPORT void " + ours + "void) { abort(); }\n";
  return source;
}

struct Services {
  void* space;
  void* (*open)(void*, const char*, int, const void*);
  void* (*symbol)(void*, void*, const char*, const void*);
  const char* (*original)(void*, const char*);
  int (*each)(void*, int (*)(dl_phdr_info*, std::size_t, void*), void*);
};

PrivateSpace& spaceOf(void* context) { return *static_cast<PrivateSpace*>(context); }

/// The stand-in keeps the pointer for as long as it is loaded.
const Services* servicesOf(PrivateSpace& space) {
  static std::mutex mutex;
  static std::map<PrivateSpace*, std::unique_ptr<Services>> all;
  std::lock_guard lock(mutex);
  auto& services = all[&space];
  services = std::make_unique<Services>(
      Services{&space,
               [](void* context, const char* name, int flags, const void* caller) -> void* {
                 try {
                   return spaceOf(context).open(name, flags, caller);
                 } catch (const std::exception&) {
                   return nullptr;
                 }
               },
               [](void* context, void* handle, const char* name, const void* caller) {
                 return spaceOf(context).symbol(handle, name, caller);
               },
               [](void* context, const char* copy) { return spaceOf(context).originalOf(copy); },
               [](void* context, int (*use)(dl_phdr_info*, std::size_t, void*), void* data) {
                 return spaceOf(context).eachObject(use, data);
               }});
  return services.get();
}

}  // namespace

std::string run(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string output;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    output.append(buffer, got);
  if (::pclose(pipe) != 0) throw std::runtime_error(command + "\n" + output);
  return output;
}

std::vector<std::byte> readBytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Workbench::Workbench() {
  std::string name = std::filesystem::temp_directory_path() / "multipy-loader-XXXXXX";
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
  folder_ = name;
}

Workbench::~Workbench() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Workbench::write(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name) << text;
}

std::filesystem::path Workbench::build(const std::string& name, const std::string& source,
                                       const std::string& flags) const {
  const bool isCpp = name.find("++") != std::string::npos;
  const std::string sourceFile = name + (isCpp ? ".cpp" : ".c");
  write(sourceFile, source);
  const auto library = folder_ / name;
  run(std::string(isCpp ? gxx : gcc) + " -shared -fPIC -O1 -g0 -o '" + library.string() + "' '" +
      (folder_ / sourceFile).string() + "' " + flags);
  return library;
}

const std::vector<std::byte>& Workbench::standIn() const {
  static const std::vector<std::byte> bytes = [this] {
    return readBytes(build("stand-in/libinterpreter.so", standInSource(),
                           "-fvisibility=hidden -Wl,-Bsymbolic -Wl,-soname,libinterpreter.so"));
  }();
  return bytes;
}

LivingSpace::LivingSpace(const Workbench& bench, int slot,
                         std::shared_ptr<const IsolationPolicy> policy,
                         std::shared_ptr<CopyCache> cache, LibraryAdapter* adapter)
    : space_(InterpreterId(slot), std::move(policy), std::move(cache), adapter),
      interpreter_(space_.loadInterpreter(bench.standIn())) {
  call<void>(interpreter_, "attach", servicesOf(space_));
}

LivingSpace::~LivingSpace() { space_.unload(); }

void* addressOf(void* library, const char* name) {
  void* address = ::dlsym(library, name);
  if (!address) throw std::runtime_error(::dlerror());
  return address;
}

int mappingsOf(const std::string& part) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(part) != std::string::npos;
  return count;
}

}  // namespace multipy::loader::testing
