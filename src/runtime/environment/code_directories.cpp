#include "runtime/environment/code_directories.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "base/mutex.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;

// The directory of the C library: what holds it holds the system's libraries.
const fs::path& systemLibraries() {
  // Never destroyed: interpreters may load libraries while the process ends.
  static const auto& directory = *new fs::path([] {
    Dl_info info{};
    std::error_code failed;
    const bool found = ::dladdr(reinterpret_cast<const void*>(&std::getenv), &info) != 0;
    return found ? fs::canonical(info.dli_fname, failed).parent_path() : fs::path("/usr/lib");
  }());
  return directory;
}

bool holdsSystemLibraries(const fs::path& directory) {
  std::error_code failed;
  const fs::path real = fs::canonical(directory, failed);
  if (failed) return false;
  const fs::path& libraries = systemLibraries();
  return std::mismatch(real.begin(), real.end(), libraries.begin(), libraries.end()).first ==
         real.end();
}

std::string versionDirectory() { return "python" + builtInPythonVersion().text(); }

// Where `site` looks for .pth files, as far as these exist.
std::vector<fs::path> siteDirectories(const PythonInstallation& python, const fs::path& userSite) {
  std::vector<fs::path> directories;
  std::vector<fs::path> prefixes{python.prefix};
  if (python.basePrefix != python.prefix) prefixes.push_back(python.basePrefix);
  for (const fs::path& prefix : prefixes) {
    for (const char* lib : {"lib", "lib64"})
      directories.push_back(prefix / lib / versionDirectory() / "site-packages");
  }
  if (python.basePrefix == "/usr") {
    directories.push_back("/usr/lib/python3/dist-packages");
    directories.push_back(fs::path("/usr/local/lib") / versionDirectory() / "dist-packages");
  }
  if (!userSite.empty()) directories.push_back(userSite);
  return directories;
}

// As site.addpackage() takes them: a line is a directory relative to the file's own,
// unless it is a comment or is run as code.
void addNamedBy(const fs::path& pthFile, std::vector<fs::path>& directories) {
  std::ifstream file(pthFile);
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r\n") + 1);
    if (line.empty() || line.starts_with("#") || line.starts_with("import ") ||
        line.starts_with("import\t"))
      continue;
    directories.push_back((pthFile.parent_path() / line).lexically_normal());
  }
}

// The .pth files of a directory, in no order. To look through a large site-packages takes a
// twentieth of a bare interpreter's start, so what was found is kept, until something is
// added there or removed. What the files say is read each time.
std::vector<fs::path> pthFilesOf(const fs::path& site) {
  struct Listing {
    fs::file_time_type written;  // the directory
    std::vector<fs::path> files;
  };
  static base::Mutex mutex;
  static auto& listings MULTIPY_GUARDED_BY(mutex) =
      *new std::map<fs::path, Listing>;  // outlives static destructors

  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(site, failed);
  if (failed) return {};  // there is none
  {
    const base::Lock lock(mutex);
    const auto known = listings.find(site);
    if (known != listings.end() && known->second.written == written) return known->second.files;
  }
  Listing listing{written, {}};
  for (const auto& entry : fs::directory_iterator(site, failed))
    if (entry.path().extension() == ".pth") listing.files.push_back(entry.path());
  // Of what has just been written the time may not tell what is written next.
  if (!failed && fs::file_time_type::clock::now() - written > std::chrono::seconds(2)) {
    const base::Lock lock(mutex);
    listings[site] = listing;
  }
  return std::move(listing.files);
}

void addSplit(std::string_view list, std::vector<fs::path>& directories) {
  while (!list.empty()) {
    const auto colon = list.find(':');
    if (const auto entry = list.substr(0, colon); entry.starts_with("/"))
      directories.emplace_back(entry);
    if (colon == std::string_view::npos) return;
    list.remove_prefix(colon + 1);
  }
}

fs::path userSitePackages(const InterpreterOptions& options) {
  std::string base = variableOf(options, "PYTHONUSERBASE");
  if (base.empty()) {
    const std::string home = variableOf(options, "HOME");
    if (home.empty()) return {};
    base = home + "/.local";
  }
  return fs::path(base) / "lib" / versionDirectory() / "site-packages";
}

}  // namespace

std::string variableOf(const InterpreterOptions& options, const std::string& name) {
  if (options.environmentVariables) {
    const auto found = options.environmentVariables->find(name);
    return found == options.environmentVariables->end() ? std::string() : found->second;
  }
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::vector<fs::path> withoutSystemDirectories(std::vector<fs::path> directories) {
  std::erase_if(directories, holdsSystemLibraries);
  return directories;
}

std::vector<fs::path> codeDirectories(const PythonInstallation& python,
                                      const InterpreterOptions& options) {
  std::vector<fs::path> directories;
  fs::path userSite;
  if (!options.isolated) {
    addSplit(variableOf(options, "PYTHONPATH"), directories);
    userSite = userSitePackages(options);
    if (!userSite.empty()) directories.push_back(userSite);
  }
  for (const fs::path& site : siteDirectories(python, userSite)) {
    for (const fs::path& file : pthFilesOf(site)) addNamedBy(file, directories);
  }
  std::erase_if(directories, [](const fs::path& directory) {
    std::error_code ignored;
    return !fs::exists(directory, ignored);
  });
  return withoutSystemDirectories(std::move(directories));
}

}  // namespace multipy::runtime
