#include "loader/isolation_report.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <system_error>

#include "loader/library_graph.h"
#include "loader/loading_process.h"
#include "multipy/runtime/Exception.h"

namespace multipy::loader {
namespace {

namespace fs = std::filesystem;

bool looksLikeLibrary(const fs::path& file) {
  const std::string name = file.filename();
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

std::vector<fs::path> librariesBelow(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code failed;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied,
                                      failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::error_code ignored;
    if (looksLikeLibrary(at->path()) && at->is_regular_file(ignored)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Report {
 public:
  explicit Report(std::shared_ptr<const IsolationPolicy> policy)
      : graph_(std::move(policy), LoadingProcess::instance().catalogue()) {}

  void add(const fs::path& file) {
    try {
      add(graph_.resolve(file, nullptr));
    } catch (const runtime::Error& error) {
      ReportedLibrary unreadable;
      unreadable.file = file;
      unreadable.problem = error.what();
      libraries_.push_back(std::move(unreadable));
    }
  }

  std::vector<ReportedLibrary> take() { return std::move(libraries_); }

 private:
  void add(const Library& library) {
    if (!seen_.insert(&library).second) return;
    ReportedLibrary reported;
    reported.file = library.file;
    reported.verdict = {library.isolation, library.reason};
    for (const auto& need : library.needs) {
      if (need.library)
        reported.needs.push_back(need.library->file);
      else
        reported.missing.push_back({need.name, graph_.searched(library.requester)});
    }
    libraries_.push_back(std::move(reported));
    for (const auto& need : library.needs)
      if (need.library) add(*need.library);
  }

  LibraryGraph graph_;
  std::set<const Library*> seen_;
  std::vector<ReportedLibrary> libraries_;
};

}  // namespace

std::vector<ReportedLibrary> reportIsolation(std::shared_ptr<const IsolationPolicy> policy,
                                             const fs::path& path) {
  std::error_code failed;
  if (!fs::exists(path, failed))
    throw runtime::LoadError("cannot explain " + path.string() +
                             ": there is no such file; expected a shared library, or a directory "
                             "with some below it");
  const LoadingLock lock = LoadingProcess::instance().lock();
  Report report(std::move(policy));
  if (fs::is_directory(path, failed)) {
    for (const fs::path& file : librariesBelow(path)) report.add(file);
  } else {
    report.add(path);
  }
  return report.take();
}

}  // namespace multipy::loader
