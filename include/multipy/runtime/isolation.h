// Which libraries are private to an interpreter and which are shared by all, and
// why. docs/isolation.md tells the rule.
//
//   for (const ExplainedLibrary& library : explainIsolation("/srv/venv/lib/.../_core.so"))
//     std::cout << library.file << (library.isPrivate ? " private: " : " shared: ")
//               << library.reason << "\n";
//
// Threads: any function from any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace multipy::runtime {

struct InterpreterManagerOptions;

/// A library that an interpreter has loaded.
struct LoadedLibrary {
  std::filesystem::path file;  // the original, not the copy
  bool isPrivate = false;      // or else shared by all interpreters
  std::string reason;          // one clause: "uses PyList_New of the CPython C API"
};

/// A library that would be loaded, with what it needs.
struct ExplainedLibrary {
  /// A name that a library needs and that was not found anywhere.
  struct Missing {
    std::string name;                   // as in DT_NEEDED
    std::vector<std::string> searched;  // directories, in order; "ld.so.cache" is one, too
  };

  std::filesystem::path file;                // the original, not the copy
  bool isPrivate = false;                    // or else shared by all interpreters
  std::string reason;                        // as LoadedLibrary::reason
  std::vector<std::filesystem::path> needs;  // each is in the list itself
  std::vector<Missing> missing;              // without them it cannot be loaded
  /// Not empty: the file is damaged, or none that this process could load; this says
  /// how. The rest is not known then.
  std::string problem;
};

/// What would become of a library, or of all those below a directory, and of
/// everything that they need: each library once, before those that it needs. Nothing
/// is loaded. EnvironmentError, InvalidArgument as from the InterpreterManager;
/// LoadError if `path` does not exist.
std::vector<ExplainedLibrary> explainIsolation(const std::filesystem::path& path,
                                               const InterpreterManagerOptions& options);
/// The same with default options.
std::vector<ExplainedLibrary> explainIsolation(const std::filesystem::path& path);

}  // namespace multipy::runtime
