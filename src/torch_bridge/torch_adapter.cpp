// What the loader has to know about torch's libraries.
//
// Three kinds of private libraries matter:
//   libtorch_python              checked before anything is loaded; its calls are
//                                redirected; bound to the router when loaded
//   others that call the same    extensions built on torch (torchvision's _C, a
//                                custom operator): redirected as well
//   those that read the address  kernels that torch.compile has made (inductor):
//   in the environment           their getenv is the interpreter's own
//
// The first two register things with torch while their static initialisers run.
// That happens once per process, in the resident copy, which is loaded just before
// the first interpreter's (static_phase.h).
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/fork_mutex.h"
#include "base/interpreter_id.h"
#include "multipy/runtime/Exception.h"
#include "process/ownership.h"
#include "torch_bridge/autograd/anomaly_mode.h"
#include "torch_bridge/autograd/compiler_interface.h"
#include "torch_bridge/autograd/forward_levels.h"
#include "torch_bridge/program_python.h"
#include "torch_bridge/python_binding.h"
#include "torch_bridge/state/cuda_captures.h"
#include "torch_bridge/state/cuda_generators.h"
#include "torch_bridge/state/cuda_start.h"
#include "torch_bridge/state/interpreter_settings.h"
#include "torch_bridge/state/process_groups.h"
#include "torch_bridge/state/thread_numbers.h"
#include "torch_bridge/symbols/static_phase.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAddressVariable = "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR";

bool contains(std::span<const std::byte> bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find(text) != std::string_view::npos;
}

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> fileId(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return FileId(status.st_dev, status.st_ino);
}

// The same library may lie in several environments: then its registrations are
// the same as well.
std::string nameAndBuild(const elf::SharedObject& library) {
  std::string name = fs::path(library.name()).filename();
  if (library.buildId().empty()) return name + "/" + std::to_string(library.bytes().size());
  name += "/";
  for (const std::byte byte : library.buildId()) {
    static constexpr char digits[] = "0123456789abcdef";
    name += {digits[std::to_integer<unsigned>(byte) >> 4],
             digits[std::to_integer<unsigned>(byte) & 15]};
  }
  return name;
}

class TorchAdapter final : public loader::LibraryAdapter {
 public:
  void setResidentCopyLoader(std::function<void(const fs::path&)> load) {
    const base::Lock guard(lock_);
    loadResident_ = std::move(load);
  }

  Renames renames(const elf::SharedObject& library) override {
    const bool isTorch = isLibtorchPython(library.name());
    if (isTorch) verifyTorch(library, torchFiles(library.name()));
    Renames renames;
    const bool registers = addRedirections(library, isTorch, renames);
    if (registers || isTorch) rememberRegistering(library, isTorch);
    if (!isTorch && contains(library.bytes(), kAddressVariable))
      renames.undefined["getenv"] = "multipy_getenv";
    if (!renames.undefined.empty() || !renames.defined.empty()) renames.version = tableVersion();
    return renames;
  }

  void beforeLoad(InterpreterId slot, const fs::path& original) override {
    const auto registering = registeringName(original);
    if (!registering || slot == InterpreterId::resident()) return;
    prepareForTorch();
    if (isLibtorchPython(original)) redirect();
    if (!isResident(*registering)) loadResidentCopy(original, *registering);
    StaticPhase::begin();
  }

  void afterLoad(InterpreterId slot, const fs::path& original, void* handle) override {
    if (!isRegistering(original)) return;  // where the load has failed no memory is taken
    if (slot == InterpreterId::resident()) {
      if (const auto name = handle ? registeringName(original) : std::nullopt) setResident(*name);
      return;
    }
    StaticPhase::end();
    if (!handle || !isLibtorchPython(original)) return;
    redirect();
    bindTorchPython(slot, handle);
  }

  void mapped(InterpreterId slot, const void* begin, const void* end) override {
    if (slot != InterpreterId::resident())
      process::Ownership::instance().addRange(slot, begin, end);
  }

  void unmapped(InterpreterId slot) override {
    process::Ownership::instance().removeRanges(slot);
    unbindTorchPython(slot);
  }

 private:
  // Before and after each load of a libtorch_python: import_redirection.h says why.
  static void redirect() {
    // All of torch's own functions are found before any of ours takes the place of one.
    static const ImportRedirections* const all = [] {
      auto* const all = new ImportRedirections;
      for (const auto& redirections :
           {settingRedirections(), cudaGeneratorRedirections(), cudaStartRedirections(),
            cudaCaptureRedirections(), forwardLevelRedirections(), processGroupRedirections(),
            compilerInterfaceRedirections(), anomalyModeRedirections(), threadNumberRedirections()})
        all->insert(all->end(), redirections.begin(), redirections.end());
      return all;
    }();
    redirectTorch(*all);
  }

  // Does it call a function by which things are registered with torch?
  static bool addRedirections(const elf::SharedObject& library, bool isTorch, Renames& renames) {
    static const auto* const byName = [] {
      auto* const table = new std::unordered_map<std::string_view, const RedirectedSymbol*>;
      for (const RedirectedSymbol& symbol : redirectedSymbols())
        table->emplace(symbol.name, &symbol);
      return table;
    }();
    bool registers = false;
    for (uint32_t index = 1; index < library.symbolCount(); ++index) {
      const elf::Symbol symbol = library.symbol(index);
      const auto found = byName->find(symbol.name);
      if (found == byName->end()) continue;
      // Only libtorch_python's own definitions give way to ours.
      if (symbol.defined && !(isTorch && found->second->defined)) continue;
      if (found->second->torchPythonOnly && !isTorch) continue;
      (symbol.defined ? renames.defined : renames.undefined)[std::string(symbol.name)] =
          found->second->route;
      registers |= !found->second->setting;
    }
    return registers;
  }

  void rememberRegistering(const elf::SharedObject& library, bool isTorch) {
    const auto id = fileId(library.name());
    if (!id) return;
    const base::Lock guard(lock_);
    registering_[*id] = isTorch ? "libtorch_python.so" : nameAndBuild(library);
  }

  // The name under which the library's registrations are known, if it has any.
  std::optional<std::string> registeringName(const fs::path& original) {
    const auto id = fileId(original);
    const base::Lock guard(lock_);
    const auto found = id ? registering_.find(*id) : registering_.end();
    if (found == registering_.end()) return std::nullopt;
    return found->second;
  }

  bool isRegistering(const fs::path& original) noexcept {
    const auto id = fileId(original);
    const base::Lock guard(lock_);
    return id && registering_.contains(*id);
  }

  bool isResident(const std::string& name) {
    const base::Lock guard(lock_);
    return resident_.contains(name);
  }
  void setResident(const std::string& name) {
    const base::Lock guard(lock_);
    resident_.insert(name);
  }

  // Loads the resident copy, which comes back to beforeLoad and afterLoad.
  void loadResidentCopy(const fs::path& original, const std::string& name) {
    if (programHasPython()) {  // whose own is the one that stays
      // (Of libtorch_pythons it has one, adopted before, which an environment's own need not be.)
      if (!isLibtorchPython(original)) loadForProgram(original);
      return setResident(name);
    }
    std::function<void(const fs::path&)> load;
    {
      const base::Lock guard(lock_);
      load = loadResident_;
    }
    if (load) load(original);
    if (!isResident(name))
      throw runtime::InternalError(
          "loading " + original.string() +
          " for the first time in this process: no resident copy of "
          "it was loaded, so its registrations with torch would end with the interpreter that "
          "loads it (expected: setResidentCopyLoader() was given a function that loads what it is "
          "told)");
  }

  base::ForkMutex lock_;
  std::function<void(const fs::path&)> loadResident_ MULTIPY_GUARDED_BY(lock_);
  std::map<FileId, std::string> registering_ MULTIPY_GUARDED_BY(lock_);
  std::set<std::string> resident_ MULTIPY_GUARDED_BY(lock_);
};

TorchAdapter& adapter() {
  static auto* const one = new TorchAdapter;
  return *one;
}

}  // namespace

loader::LibraryAdapter& torchAdapter() { return adapter(); }

void setResidentCopyLoader(std::function<void(const fs::path&)> load) {
  adapter().setResidentCopyLoader(std::move(load));
}

}  // namespace multipy::bridge
