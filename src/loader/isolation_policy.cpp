#include "loader/isolation_policy.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <system_error>

#include "loader/c_api_names.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

struct SharedName {
  std::string_view pattern;  // of the file name, for fnmatch(3)
  const char* reason;
};

constexpr const char* kRuntime = "is part of the C and C++ runtime, which a process has once";
constexpr const char* kTorch = "is torch's C++ core: one copy of weights, allocator and threads";
constexpr const char* kCuda = "belongs to CUDA: one context and one copy of the kernels";
constexpr const char* kTrampolines =
    "keeps a descriptor of its own file open, which it does not close when it is unloaded";
constexpr const char* kOpenMp =
    "is an OpenMP runtime: copies run out of static TLS and of pthread keys";

/// Shared wherever they lie. Patterns are narrow on purpose: libtorchaudio.so,
/// libcurl.so and libompl.so are none of these.
constexpr std::array kSharedNames = {
    SharedName{"ld-linux*.so*", kRuntime},
    SharedName{"libc.so.6", kRuntime},
    SharedName{"libm.so.6", kRuntime},
    SharedName{"libmvec.so.1", kRuntime},
    SharedName{"libdl.so.2", kRuntime},
    SharedName{"librt.so.1", kRuntime},
    SharedName{"libpthread.so.0", kRuntime},
    SharedName{"libutil.so.1", kRuntime},
    SharedName{"libresolv.so.2", kRuntime},
    SharedName{"libgcc_s*.so*", kRuntime},
    SharedName{"libstdc++*.so*", kRuntime},
    SharedName{"libatomic*.so*", kRuntime},
    SharedName{"libffi.so*", kTrampolines},
    SharedName{"libgomp*.so*", kOpenMp},
    SharedName{"libomp.so*", kOpenMp},
    SharedName{"libomp-*.so*", kOpenMp},
    SharedName{"libiomp5*.so*", kOpenMp},
    SharedName{"libtorch.so*", kTorch},
    SharedName{"libtorch_cpu*.so*", kTorch},
    SharedName{"libtorch_cuda*.so*", kTorch},
    SharedName{"libtorch_hip*.so*", kTorch},
    SharedName{"libtorch_xpu*.so*", kTorch},
    SharedName{"libtorch_nvshmem*.so*", kTorch},
    SharedName{"libtorch_global_deps.so*", kTorch},
    SharedName{"libc10*.so*", kTorch},
    SharedName{"libcaffe2*.so*", kTorch},
    SharedName{"libcuda.so*", kCuda},
    SharedName{"libcudart*.so*", kCuda},
    SharedName{"libcublas*.so*", kCuda},
    SharedName{"libcudnn*.so*", kCuda},
    SharedName{"libcudss*.so*", kCuda},
    SharedName{"libcufft*.so*", kCuda},
    SharedName{"libcufile*.so*", kCuda},
    SharedName{"libcupti*.so*", kCuda},
    SharedName{"libcurand*.so*", kCuda},
    SharedName{"libcusolver*.so*", kCuda},
    SharedName{"libcusparse*.so*", kCuda},
    SharedName{"libnccl*.so*", kCuda},
    SharedName{"libnvrtc*.so*", kCuda},
    SharedName{"libnvJitLink*.so*", kCuda},
    SharedName{"libnvToolsExt*.so*", kCuda},
    SharedName{"libnvshmem*.so*", kCuda},
    SharedName{"libnvidia*.so*", kCuda},
};

/// Libraries that keep what they know in variables without a lock, and that Python's modules
/// call with the GIL, which is all the lock they need: shared, N interpreters would free the
/// same memory. `import torch` sets a string in libshm (its shared memory between processes);
/// `import pdb`, which torch does as well, initialises readline, and that the terminal's
/// description.
constexpr std::array<std::string_view, 9> kGuardedByGil = {
    "libshm.so*",      "libreadline.so*", "libhistory.so*", "libedit.so*", "libtinfo*.so*",
    "libncurses*.so*", "libpanel*.so*",   "libmenu*.so*",   "libform*.so*"};

bool matches(const std::string& pattern, const std::filesystem::path& library) {
  const std::string subject =
      pattern.find('/') == std::string::npos ? library.filename().string() : library.string();
  return ::fnmatch(pattern.c_str(), subject.c_str(), 0) == 0;
}

bool liesBelow(const std::filesystem::path& library, const std::filesystem::path& root) {
  const auto difference = std::mismatch(root.begin(), root.end(), library.begin(), library.end());
  return difference.first == root.end() && difference.second != library.end();
}

/// .../site-packages/torch/lib/libX.so
bool liesInTorchLib(const std::filesystem::path& library) {
  const auto directory = library.parent_path();
  return directory.filename() == "lib" && directory.parent_path().filename() == "torch";
}

/// .../site-packages/nvidia/cublas/lib/libX.so
bool liesInNvidiaPackage(const std::filesystem::path& library) {
  const auto directory = library.parent_path();
  return directory.filename() == "lib" &&
         directory.parent_path().parent_path().filename() == "nvidia";
}

/// Without links. As it was given where that cannot be found out: what cannot be read holds no
/// libraries. Throws bad_alloc.
std::filesystem::path withoutLinks(const std::filesystem::path& given) {
  std::error_code failed;
  auto real = std::filesystem::weakly_canonical(given, failed);
  if (failed == std::errc::not_enough_memory) throw std::bad_alloc();
  return failed ? given : real;
}

}  // namespace

IsolationPolicy::IsolationPolicy(std::vector<std::filesystem::path> environmentRoots) {
  for (const auto& root : environmentRoots) addRoot(root);
}

void IsolationPolicy::addRoot(const std::filesystem::path& root) {
  // A root and a library may each be reached over links (a linked venv, a
  // package manager that links packages into it), so either form of one may
  // match either form of the other. A root that does not exist has no libraries.
  const auto given = std::filesystem::absolute(root).lexically_normal();
  for (auto form : {given, withoutLinks(given)}) {
    if (!form.has_filename()) form = form.parent_path();
    roots_.push_back(std::move(form));
  }
}

bool IsolationPolicy::covers(const std::filesystem::path& directory) const {
  return inEnvironment(directory / "library");
}

void IsolationPolicy::override(std::string pattern, Isolation isolation) {
  if (pattern.empty()) throw runtime::InvalidArgument("an isolation override has an empty pattern");
  overrides_.emplace_back(std::move(pattern), isolation);
}

std::string IsolationPolicy::whyUsesCApi(const elf::SharedObject& object) {
  for (const auto needed : object.needed()) {
    if (isLibPython(needed)) return "needs " + std::string(needed);
  }
  for (uint32_t index = 1; index < object.symbolCount(); ++index) {
    const elf::Symbol symbol = object.symbol(index);
    if (!symbol.defined && isCApiName(symbol.name)) {
      return "uses " + std::string(symbol.name) + " of the CPython C API";
    }
  }
  return {};
}

bool IsolationPolicy::inEnvironment(const std::filesystem::path& library) const {
  const auto given = std::filesystem::absolute(library).lexically_normal();
  const auto real = withoutLinks(given);
  return std::any_of(roots_.begin(), roots_.end(), [&](const auto& root) {
    return liesBelow(given, root) || liesBelow(real, root);
  });
}

std::optional<Verdict> IsolationPolicy::overriddenVerdict(
    const std::filesystem::path& library) const {
  // The last word counts, as on a command line.
  for (auto it = overrides_.rbegin(); it != overrides_.rend(); ++it) {
    if (matches(it->first, library)) {
      return Verdict{it->second, "is overridden by the pattern \"" + it->first + "\"", false};
    }
  }
  return std::nullopt;
}

std::optional<Verdict> IsolationPolicy::decideByName(const std::filesystem::path& library) const {
  if (auto verdict = overriddenVerdict(library)) {
    // What is made private has to be read; so have its dependencies.
    if (verdict->isolation == Isolation::Private) return std::nullopt;
    return verdict;
  }
  const std::string name = library.filename();
  for (const SharedName& shared : kSharedNames) {
    if (::fnmatch(shared.pattern.data(), name.c_str(), 0) == 0) {
      return Verdict{Isolation::Shared, shared.reason, true};
    }
  }
  return std::nullopt;
}

Verdict IsolationPolicy::decide(const std::filesystem::path& library,
                                const elf::SharedObject& object, bool needsPrivate) const {
  return decide(library, whyUsesCApi(object), needsPrivate);
}

Verdict IsolationPolicy::decide(const std::filesystem::path& library, const std::string& apiUse,
                                bool needsPrivate) const {
  if (auto verdict = overriddenVerdict(library)) return *verdict;
  if (auto verdict = decideByName(library)) return *verdict;
  if (!apiUse.empty()) return {Isolation::Private, apiUse};
  if (needsPrivate) {
    return {Isolation::Private, "needs a library that uses the CPython C API"};
  }
  for (const std::string_view pattern : kGuardedByGil) {
    if (::fnmatch(pattern.data(), library.filename().c_str(), 0) == 0) {
      return {Isolation::Private, "relies on its callers' GIL"};
    }
  }
  if (liesInTorchLib(library)) {
    return {Isolation::Shared, "lies in torch/lib and does not use the CPython C API"};
  }
  if (liesInNvidiaPackage(library)) return {Isolation::Shared, kCuda};
  if (inEnvironment(library)) return {Isolation::Private, "lives in the Python environment"};
  return {Isolation::Shared, "lives outside the Python environment"};
}

}  // namespace multipy::loader
