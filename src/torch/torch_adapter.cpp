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
// That happens once per process, in the donor's copy, which is loaded just before
// the first interpreter's (static_phase.h).
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "interpreter/fork_mutex.h"
#include "multipy/runtime/Exception.h"
#include "torch/anomaly_mode.h"
#include "torch/compiler_interface.h"
#include "torch/forward_levels.h"
#include "torch/interpreter_settings.h"
#include "torch/ownership.h"
#include "torch/process_groups.h"
#include "torch/python_binding.h"
#include "torch/static_phase.h"
#include "torch/supported_torch.h"
#include "torch/thread_numbers.h"
#include "torch/torch_router.h"

namespace multipy::routing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAddressVariable = "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR";

bool contains(std::span<const std::byte> bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find(text) != std::string_view::npos;
}

using FileId = std::pair<dev_t, ino_t>;

std::optional<FileId> fileId(const fs::path& file) {
  struct stat status{};
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
    name += {digits[std::to_integer<unsigned>(byte) >> 4], digits[std::to_integer<unsigned>(byte) & 15]};
  }
  return name;
}

class TorchAdapter final : public loader::LibraryAdapter {
 public:
  void setDonorLoader(std::function<void(const fs::path&)> load) {
    const std::lock_guard guard(lock_);
    loadDonor_ = std::move(load);
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

  void beforeLoad(int slot, const fs::path& original) override {
    const auto registering = registeringName(original);
    if (!registering || slot == kDonorSlot) return;
    if (isLibtorchPython(original)) redirect();
    if (!isDonated(*registering)) donate(original, *registering);
    StaticPhase::begin();
  }

  void afterLoad(int slot, const fs::path& original, void* handle) override {
    if (!isRegistering(original)) return;  // where the load has failed no memory is taken
    if (slot == kDonorSlot) {
      if (const auto name = handle ? registeringName(original) : std::nullopt) setDonated(*name);
      return;
    }
    StaticPhase::end();
    if (!handle || !isLibtorchPython(original)) return;
    redirect();  // again: import_redirection.h says why
    bindTorchPython(slot, handle);
  }

  void mapped(int slot, const void* begin, const void* end) override {
    if (slot != kDonorSlot) Ownership::process().addRange(slot, begin, end);
  }

  void unmapped(int slot) override {
    Ownership::process().removeRanges(slot);
    unbindTorchPython(slot);
  }

 private:
  static void redirect() {
    redirectSettings();
    redirectForwardLevels();
    redirectProcessGroups();
    redirectCompilerInterface();
    redirectAnomalyMode();
    redirectThreadNumbers();
  }

  // Does it call a function by which things are registered with torch?
  static bool addRedirections(const elf::SharedObject& library, bool isTorch, Renames& renames) {
    static const auto* const byName = [] {
      auto* const table = new std::unordered_map<std::string_view, const RedirectedSymbol*>;
      for (const RedirectedSymbol& symbol : redirectedSymbols()) table->emplace(symbol.name, &symbol);
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
      (symbol.defined ? renames.defined
                      : renames.undefined)[std::string(symbol.name)] = found->second->route;
      registers |= !found->second->setting;
    }
    return registers;
  }

  void rememberRegistering(const elf::SharedObject& library, bool isTorch) {
    const auto id = fileId(library.name());
    if (!id) return;
    const std::lock_guard guard(lock_);
    registering_[*id] = isTorch ? "libtorch_python.so" : nameAndBuild(library);
  }

  // The name under which the library's registrations are known, if it has any.
  std::optional<std::string> registeringName(const fs::path& original) {
    const auto id = fileId(original);
    const std::lock_guard guard(lock_);
    const auto found = id ? registering_.find(*id) : registering_.end();
    if (found == registering_.end()) return std::nullopt;
    return found->second;
  }

  bool isRegistering(const fs::path& original) noexcept {
    const auto id = fileId(original);
    const std::lock_guard guard(lock_);
    return id && registering_.contains(*id);
  }

  bool isDonated(const std::string& name) {
    const std::lock_guard guard(lock_);
    return donated_.contains(name);
  }
  void setDonated(const std::string& name) {
    const std::lock_guard guard(lock_);
    donated_.insert(name);
  }

  // Loads the donor's copy, which comes back to beforeLoad and afterLoad.
  void donate(const fs::path& original, const std::string& name) {
    std::function<void(const fs::path&)> load;
    {
      const std::lock_guard guard(lock_);
      load = loadDonor_;
    }
    if (load) load(original);
    if (!isDonated(name))
      throw runtime::InternalError(
          "loading " + original.string() + " for the first time in this process: no donor copy of "
          "it was loaded, so its registrations with torch would end with the interpreter that "
          "loads it (expected: setDonorLoader() was given a function that loads what it is told)");
  }

  ForkMutex lock_;
  std::function<void(const fs::path&)> loadDonor_;   // guarded by lock_
  std::map<FileId, std::string> registering_;        // guarded by lock_
  std::set<std::string> donated_;                    // guarded by lock_
};

TorchAdapter& adapter() {
  static auto* const one = new TorchAdapter;
  return *one;
}

}  // namespace

loader::LibraryAdapter& torchAdapter() { return adapter(); }

void setDonorLoader(std::function<void(const fs::path&)> load) {
  adapter().setDonorLoader(std::move(load));
}

}  // namespace multipy::routing
