#include "torch_bridge/symbols/torch_functions.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "multipy/runtime/Exception.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

std::string_view fileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void redirectTorch(std::span<const loader::ImportRedirection> redirections) {
  // No other library is searched: there may be thousands.
  loader::redirectImports(redirections, [](std::string_view path) {
    const std::string_view name = fileName(path);
    if (name.starts_with("libtorch_python"))
      return false;  // an interpreter's, or the program's own
    return name.empty() || name.starts_with("libtorch") || name.starts_with("libc10");
  });
}

void redirectOperators(std::span<const loader::ImportRedirection> redirections) {
  loader::redirectImports(
      redirections, [](std::string_view path) { return fileName(path).starts_with("libtorch_c"); });
}

void* findTorchFunction(const char* symbol) noexcept {
  // With a handle dlsym() looks into libtorch_cpu and what it needs, and not into the program.
  static void* const torch = ::dlopen(loadedTorchCpu().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return torch ? ::dlsym(torch, symbol) : nullptr;
}

void* findTorchCudaFunction(const char* symbol) noexcept {
  // Beside libtorch_cpu, which does not need it. It has been loaded: it, or what needs it, asks.
  static void* const cuda = [] {
    std::filesystem::path library = loadedTorchCpu();
    std::string name = library.filename();
    const std::size_t cpu = name.find("_cpu");
    if (cpu == std::string::npos) return static_cast<void*>(nullptr);
    library.replace_filename(name.replace(cpu, 4, "_cuda"));
    return ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  }();
  return cuda ? ::dlsym(cuda, symbol) : nullptr;
}

void* torchFunction(const char* symbol) {
  void* const found = findTorchFunction(symbol);
  if (!found)
    throw runtime::InternalError(std::string("looking for ") + symbol +
                                 " in libtorch_cpu of this process: not found; expected "
                                 "torch " +
                                 builtWithTorch() + ", for which this was built");
  return found;
}

}  // namespace multipy::bridge
