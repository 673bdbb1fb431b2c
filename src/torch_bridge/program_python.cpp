#include "torch_bridge/program_python.h"

#include <dlfcn.h>
#include <link.h>

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/interpreter_id.h"
#include "elf/shared_object.h"
#include "loader/loaded_objects.h"
#include "multipy/runtime/Exception.h"
#include "multipy_build_config.h"
#include "process/ownership.h"
#include "torch_bridge/autograd/engine_router.h"
#include "torch_bridge/bound_functions.h"
#include "torch_bridge/dispatch/once_per_process.h"
#include "torch_bridge/dispatch/program_kernels.h"
#include "torch_bridge/dispatch/py_interpreter_router.h"
#include "torch_bridge/program_routes.h"
#include "torch_bridge/python_binding.h"
#include "torch_bridge/state/process_slots.h"
#include "torch_bridge/state/profiler_router.h"
#include "torch_bridge/symbols/replaced_words.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

namespace fs = std::filesystem;

template <typename Function>
Function* ofProgram(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// "3.11.7 (main, ...": the extensions of another version do not work in it.
bool isVersionBuiltFor(std::string_view version) {
  constexpr std::string_view kVersion = MULTIPY_PYTHON_VERSION;
  return version.starts_with(kVersion) && version.size() > kVersion.size() &&
         version[kVersion.size()] == '.';
}

// Beside libtorch_cpu, as in PyPI's wheels. (A distribution has it elsewhere: then only one that
// is loaded already is found.)
fs::path libtorchPython() {
  const fs::path beside = loadedTorchCpu().parent_path() / "libtorch_python.so";
  std::error_code error;
  return fs::exists(beside, error) ? beside : fs::path();
}

void* load(const fs::path& library) {
  if (void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* const why = ::dlerror();
  throw runtime::LoadError("loading " + library.string() +
                           " for the program's own Python, which has to have it before private "
                           "interpreters: " +
                           (why ? why : "dlopen failed"));
}

void adoptOperatorsOf(void* handle) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return;
  // (dladdr() would look for the name of each of its thousands of functions.)
  const auto ranges = loader::memoryRanges({map->l_name});
  const auto range = ranges.find(map->l_name);
  if (range == ranges.end()) return;
  adoptOperators([area = range->second](const void* function) {
    return std::less_equal<>()(area.first, function) && std::less<>()(function, area.second);
  });
}

// The name that the dynamic linker knows the program's library by.
std::string& programsLibrary() {
  static auto* const path = new std::string;
  return *path;
}

void redirectProgram() {
  loader::redirectImports(programRedirections(),
                          [](std::string_view path) { return path == programsLibrary(); });
}

void adopt() {
  const fs::path library = libtorchPython();
  verifyTorch(elf::SharedObject::read(library), torchFiles(library));
  void* const handle = load(library);
  const char* const name = bindingSymbols().getPyInterpreter;
  auto* const getPyInterpreter = reinterpret_cast<void* (*)()>(::dlsym(handle, name));
  Dl_info info;
  if (!getPyInterpreter || ::dladdr(reinterpret_cast<void*>(getPyInterpreter), &info) == 0)
    throw runtime::UnsupportedTorchError(
        "preparing the program's own Python for private interpreters beside it",
        {std::string("symbol ") + name + ": not found in " + library.string()});
  programsLibrary() = info.dli_fname;

  process::Ownership::instance().setProgramLive();
  bindTorchPython(InterpreterId::program(), handle);
  adoptPyInterpreter(getPyInterpreter());
  redirectProgram();
  adoptOperatorsOf(handle);
  adoptRegistrations();
  const ReplacedWords before;
  adoptProcessSlots(before);
  adoptTracebacks();
  adoptProfiler(before);
  adoptEngine(before);
  redirectBoundFunctions(programRedirections(), handle, admitProgramsProfiler);
}

}  // namespace

bool programHasPython() {
  static const bool has = [] {
    auto* const isInitialized = ofProgram<int()>("Py_IsInitialized");
    auto* const version = ofProgram<const char*()>("Py_GetVersion");
    return isInitialized && version && isInitialized() != 0 && isVersionBuiltFor(version()) &&
           !libtorchPython().empty();
  }();
  return has;
}

void adoptProgramsPython() {
  static std::once_flag once;
  std::call_once(once, adopt);
}

void loadForProgram(const fs::path& library) { adoptOperatorsOf(load(library)); }

}  // namespace multipy::bridge
