#include "runtime/environment/python_installation.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string_view>

#include "multipy/runtime/Exception.h"
#include "multipy_build_config.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;

// "3.11", "3.11.7", "3.11.0rc1" -> 3.11; 0.0 for anything else.
PythonVersion parseVersion(std::string_view text) {
  PythonVersion version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return {};
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc()) return {};
  return version;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// "key = value" lines; empty if there is no such file.
std::map<std::string, std::string> readConfiguration(const fs::path& pyvenvCfg) {
  std::map<std::string, std::string> values;
  std::ifstream file(pyvenvCfg);
  for (std::string line; std::getline(file, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos) continue;
    values.emplace(trimmed(std::string_view(line).substr(0, equals)),
                   trimmed(std::string_view(line).substr(equals + 1)));
  }
  return values;
}

// Empty if it can be read.
std::string whyUnreadable(const fs::path& file) {
  errno = 0;
  return std::ifstream(file) ? std::string() : std::string(std::strerror(errno));
}

bool isThere(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Where pythonX.Y's standard library is under `prefix`; empty if it is not there.
fs::path standardLibrary(const fs::path& prefix, PythonVersion version) {
  for (const char* lib : {"lib", "lib64"}) {
    fs::path candidate = prefix / lib / ("python" + version.text());
    if (isThere(candidate / "os.py")) return candidate;
  }
  return {};
}

// Versions that have a directory lib/pythonX.Y, for the error message.
std::string versionsUnder(const fs::path& prefix) {
  std::string found;
  std::error_code ignored;
  for (const char* lib : {"lib", "lib64"}) {
    for (const auto& entry : fs::directory_iterator(prefix / lib, ignored)) {
      const PythonVersion version = versionInPath(entry.path().filename());
      const std::string name = "Python " + version.text();
      if (version.major == 0 || found.find(name) != std::string::npos) continue;
      found += (found.empty() ? "" : ", ") + name;
    }
  }
  return found.empty() ? "no lib/pythonX.Y at all" : found;
}

fs::path executableIn(const fs::path& prefix, PythonVersion version) {
  for (const std::string& name :
       {std::string("python3"), "python" + version.text(), std::string("python")}) {
    fs::path candidate = prefix / "bin" / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

[[noreturn]] void refuse(const std::string& what, const std::string& origin, PythonVersion expected,
                         const std::string& found) {
  throw EnvironmentError(
      "cannot use the Python environment " + what + " (" + origin + "): found " + found +
      ", expected an installation of Python " + expected.text() +
      ", the version of the CPython inside this program. Name another one (activate its venv, or "
      "give the InterpreterManager a PythonEnvironment), or build multipy for the Python that you "
      "want to use");
}

// The base installation that a virtual environment was made from.
fs::path baseOf(const fs::path& prefix, const std::map<std::string, std::string>& configuration,
                const std::string& origin, PythonVersion expected) {
  const fs::path file = prefix / "pyvenv.cfg";
  const auto home = configuration.find("home");
  if (home == configuration.end())
    refuse(prefix, origin, expected, "no line `home = ...` in " + file.string());

  // The three tools that make virtual environments have three names for it.
  for (const char* key : {"version", "version_info"}) {
    const auto value = configuration.find(key);
    if (value == configuration.end()) continue;
    if (parseVersion(value->second) != expected)
      refuse(prefix, origin, expected,
             "one of Python " + value->second + " (" + file.string() + ")");
  }

  const fs::path base = fs::path(home->second).parent_path();
  if (!standardLibrary(base, expected).empty()) return base;
  // `home` may be a folder of links to the real one.
  std::error_code failed;
  const fs::path real =
      fs::canonical(fs::path(home->second) / ("python" + expected.text()), failed);
  if (!failed && !standardLibrary(real.parent_path().parent_path(), expected).empty())
    return real.parent_path().parent_path();
  refuse(prefix, origin, expected,
         "that the base installation its pyvenv.cfg leads to, " + base.string() + ", has " +
             versionsUnder(base));
}

// Not the prefix of an installation as a whole: that may be /usr.
std::vector<fs::path> libraryRoots(const PythonInstallation& python, PythonVersion version) {
  std::vector<fs::path> roots;
  if (python.prefix != python.basePrefix) roots.push_back(python.prefix);
  const std::string directory = "python" + version.text();
  for (const char* lib : {"lib", "lib64"}) roots.push_back(python.basePrefix / lib / directory);
  // Debian's own: modules installed by apt, and by pip outside a venv.
  roots.push_back(python.basePrefix / "lib" / ("python" + std::to_string(version.major)) /
                  "dist-packages");
  if (python.basePrefix == "/usr") {
    roots.push_back(fs::path("/usr/local/lib") / directory);
  }
  // conda's packages put the libraries that their extensions need side by side with all
  // others of the environment, and not into site-packages.
  if (isThere(python.basePrefix / "conda-meta")) roots.push_back(python.basePrefix / "lib");
  std::erase_if(roots, [](const fs::path& root) { return !isThere(root); });
  return roots;
}

PythonInstallation describe(fs::path executable, const fs::path& prefix, const std::string& origin,
                            PythonVersion expected) {
  PythonInstallation python{std::move(executable), prefix, prefix, {}};
  const fs::path pyvenvCfg = prefix / "pyvenv.cfg";
  if (isThere(pyvenvCfg)) {
    if (const std::string why = whyUnreadable(pyvenvCfg); !why.empty())
      refuse(prefix, origin, expected, "that " + pyvenvCfg.string() + " cannot be read: " + why);
    python.basePrefix = baseOf(prefix, readConfiguration(pyvenvCfg), origin, expected);
  } else if (standardLibrary(prefix, expected).empty()) {
    refuse(prefix, origin, expected, versionsUnder(prefix));
  }
  python.libraryRoots = libraryRoots(python, expected);
  return python;
}

fs::path absoluteWithoutSlash(const fs::path& path, const std::string& origin,
                              PythonVersion expected) {
  if (path.empty()) refuse("''", origin, expected, "an empty path");
  if (path.native().find('\0') != std::string::npos)
    refuse(path.c_str(), origin, expected, "a null character in the path after that");
  std::error_code failed;
  const fs::path normal = fs::absolute(path, failed).lexically_normal();
  if (failed) refuse(path, origin, expected, "no current directory: " + failed.message());
  return normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path();
}

}  // namespace

std::string PythonVersion::text() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

PythonVersion builtInPythonVersion() { return parseVersion(MULTIPY_PYTHON_VERSION); }

PythonVersion versionInPath(const fs::path& path) {
  constexpr std::string_view kPython = "python";
  for (const fs::path& part : path) {
    const std::string& name = part.native();
    if (!name.starts_with(kPython)) continue;
    const std::string_view rest = std::string_view(name).substr(kPython.size());
    const PythonVersion version = parseVersion(rest);
    if (version.major != 0 && version.text() == rest) return version;
  }
  return {};
}

PythonInstallation pythonInPrefix(const fs::path& named, const std::string& origin,
                                  PythonVersion expected) {
  const fs::path prefix = absoluteWithoutSlash(named, origin, expected);
  if (!isThere(prefix)) refuse(prefix, origin, expected, "that there is no such directory");
  fs::path executable = executableIn(prefix, expected);
  if (executable.empty())
    refuse(prefix, origin, expected, "no executable bin/python3 or bin/python in it");
  return describe(std::move(executable), prefix, origin, expected);
}

PythonInstallation pythonOfExecutable(const fs::path& named, const std::string& origin,
                                      PythonVersion expected) {
  const fs::path executable = absoluteWithoutSlash(named, origin, expected);
  if (::access(executable.c_str(), X_OK) != 0)
    refuse(executable, origin, expected, "no executable file of that name");
  const fs::path prefix = executable.parent_path().parent_path();
  const bool isPrefix =
      isThere(prefix / "pyvenv.cfg") || !standardLibrary(prefix, expected).empty();
  if (isPrefix) return describe(executable, prefix, origin, expected);
  // A link from somewhere else, like /usr/local/bin/python.
  std::error_code failed;
  const fs::path real = fs::canonical(executable, failed);
  if (failed) refuse(executable, origin, expected, "a link that leads nowhere");
  return describe(real, real.parent_path().parent_path(), origin, expected);
}

void checkPythonHome(const std::string& home) {
  if (home.empty()) return;
  const fs::path prefix = home.substr(0, home.find(':'));  // "prefix:exec_prefix"
  const PythonVersion expected = builtInPythonVersion();
  if (!standardLibrary(prefix, expected).empty()) return;
  throw EnvironmentError(
      "cannot start Python: the environment variable PYTHONHOME is " + home + ", where there is " +
      versionsUnder(prefix) + ", expected the standard library of Python " + expected.text() +
      ". Unset it, or set InterpreterOptions::isolated so that PYTHON* variables do not count");
}

PythonInstallation defaultPython() {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* prefix = std::getenv(variable);
    if (prefix && *prefix)
      return pythonInPrefix(prefix, std::string("named by the environment variable ") + variable);
  }
  return pythonOfExecutable(MULTIPY_PYTHON_EXECUTABLE, "the Python that multipy was built for");
}

}  // namespace multipy::runtime
