// What would become of libraries if an interpreter loaded them: for people who ask.
//
// Threads: from any thread; takes the loading lock (loading_process.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "loader/isolation_policy.h"

namespace multipy::loader {

struct ReportedLibrary {
  struct Missing {
    std::string name;                   // DT_NEEDED
    std::vector<std::string> searched;  // LibrarySearch::places()
  };
  std::filesystem::path file;
  Verdict verdict{Isolation::Shared, ""};
  std::vector<std::filesystem::path> needs;
  std::vector<Missing> missing;
  std::string problem;  // not empty: it could not be read, and this is all that is known
};

/// `path`, a library or a directory with libraries in it or below, and all that these
/// need; each once, before what it needs. Throws LoadError if there is no `path`.
std::vector<ReportedLibrary> reportIsolation(std::shared_ptr<const IsolationPolicy> policy,
                                             const std::filesystem::path& path);

}  // namespace multipy::loader
