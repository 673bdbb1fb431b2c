// The one environment variable that must not be the process's.
//
// torch's inductor hands the address of a C++ function to the kernels that it
// compiles by way of the process environment (torch/_inductor/codecache.py):
// with several interpreters each would overwrite the others'. So this variable
// is kept per interpreter: os.putenv in here stores it, and getenv in private
// libraries that name it (their getenv is renamed to multipy_getenv) reads it.
// Linked with --wrap=setenv and --wrap=unsetenv.
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

namespace {

constexpr const char* kAddressVariable = "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR";

std::mutex& lock() {
  static auto* const one = new std::mutex;
  return *one;
}

// getenv's result stays valid for ever, so every value given out is kept.
const char* keep(const char* value) {
  static auto* const values = new std::set<std::string>;
  return values->insert(value).first->c_str();
}

const char* current = nullptr;

}  // namespace

extern "C" {

int __real_setenv(const char* name, const char* value, int overwrite);
int __real_unsetenv(const char* name);

int __wrap_setenv(const char* name, const char* value, int overwrite) {
  if (std::strcmp(name, kAddressVariable) != 0) return __real_setenv(name, value, overwrite);
  std::lock_guard guard(lock());
  if (overwrite || !current) current = keep(value);
  return 0;
}

int __wrap_unsetenv(const char* name) {
  if (std::strcmp(name, kAddressVariable) != 0) return __real_unsetenv(name);
  std::lock_guard guard(lock());
  current = nullptr;
  return 0;
}

__attribute__((visibility("default"))) char* multipy_getenv(const char* name) {
  if (std::strcmp(name, kAddressVariable) != 0) return std::getenv(name);
  std::lock_guard guard(lock());
  return const_cast<char*>(current);
}

}  // extern "C"
