// Which libraries are private to each interpreter and which are shared by the
// process: the one place where this is decided.
//
// Default rule (docs/isolation.md has the measurements behind it):
//   shared  system libraries; libtorch*, libc10* and what else lies in torch/lib,
//           except libtorch_python and what needs it, and libshm; libcuda*,
//           libcudart*, libnv*, libcu* of the nvidia packages; libgomp/libomp/
//           libiomp5 (static TLS and pthread keys run out: one OpenMP runtime)
//   private everything else that lives in the environment (site-packages,
//           dist-packages, lib-dynload, *.libs, directories on sys.path), and anything anywhere
//           that uses the CPython C API or needs something that does, and a few that the GIL alone
//           guards (libshm, readline, curses)
//
// Threads: immutable once built; const members from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elf/shared_object.h"

namespace multipy::loader {

enum class Isolation { Private, Shared };

struct Verdict {
  Isolation isolation;
  std::string reason;  // one clause for `explain`: "lives in site-packages"
  /// Shared for what its name is known to be: loaded once, it stays for as long as the process.
  bool stays = false;
};

class IsolationPolicy {
 public:
  /// `environmentRoots`: directories whose libraries belong to the environment:
  /// its site-packages or dist-packages and lib-dynload. Everything below them
  /// does, so a prefix such as /usr is not one of them.
  explicit IsolationPolicy(std::vector<std::filesystem::path> environmentRoots);

  /// One more of them.
  void addRoot(const std::filesystem::path& root);
  /// Whether what lies in `directory` belongs to the environment.
  bool covers(const std::filesystem::path& directory) const;

  /// The user's own word for a library, asked first: matched against the file
  /// name with fnmatch(3), or against the whole path if the pattern has a '/'.
  void override(std::string pattern, Isolation isolation);

  /// The verdict on one library. `needsPrivate` says whether one of its
  /// dependencies is private for using the C API (or needs such a one).
  Verdict decide(const std::filesystem::path& library, const elf::SharedObject& object,
                 bool needsPrivate) const;
  /// The same, where whether it uses the C API is known already: `apiUse` is
  /// what whyUsesCApi() said.
  Verdict decide(const std::filesystem::path& library, const std::string& apiUse,
                 bool needsPrivate) const;

  /// The verdict where the name alone decides, so that neither this library nor
  /// what it needs has to be read: libtorch_cuda is a gigabyte.
  std::optional<Verdict> decideByName(const std::filesystem::path& library) const;

  /// How `object` uses the CPython C API, as a clause ("uses PyObject_Call of
  /// the CPython C API"); empty if it does not.
  static std::string whyUsesCApi(const elf::SharedObject& object);

 private:
  bool inEnvironment(const std::filesystem::path& library) const;
  std::optional<Verdict> overriddenVerdict(const std::filesystem::path& library) const;

  std::vector<std::filesystem::path> roots_;
  std::vector<std::pair<std::string, Isolation>> overrides_;
};

}  // namespace multipy::loader
