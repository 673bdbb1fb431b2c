// A Python installation on disk: found, checked, and described, without running
// it.
//
// A prefix is a virtual environment (it has pyvenv.cfg, whose `home` leads to the
// base installation with the standard library) or an installation itself
// (lib/pythonX.Y). Only the version that the built-in CPython has will do: its
// standard library and extension modules are those of that version.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace multipy::runtime {

struct PythonVersion {
  int major = 0;
  int minor = 0;
  bool operator==(const PythonVersion&) const = default;
  std::string text() const;  // "3.11"
};

/// That of the CPython inside this library.
PythonVersion builtInPythonVersion();

struct PythonInstallation {
  std::filesystem::path executable;  // sys.executable of the interpreters
  std::filesystem::path prefix;
  std::filesystem::path basePrefix;  // where the standard library is; prefix if no venv
  /// Directories whose libraries belong to the environment, for IsolationPolicy.
  std::vector<std::filesystem::path> libraryRoots;
};

/// The installation in `prefix`, for version `expected`. Throws EnvironmentError
/// naming what was found, what was expected and what to do. `origin` says who
/// named it: "VIRTUAL_ENV".
PythonInstallation pythonInPrefix(const std::filesystem::path& prefix, const std::string& origin,
                                  PythonVersion expected = builtInPythonVersion());
/// The one that an executable belongs to.
PythonInstallation pythonOfExecutable(const std::filesystem::path& executable,
                                      const std::string& origin,
                                      PythonVersion expected = builtInPythonVersion());
/// VIRTUAL_ENV, else CONDA_PREFIX, else the Python that this library was built for.
PythonInstallation defaultPython();

/// Throws EnvironmentError if `home`, the value of PYTHONHOME, leads to no standard
/// library of our version; empty is none. Python would not start, or start wrongly.
void checkPythonHome(const std::string& home);

/// The version in a directory named after one, like .../lib/python3.9/site-packages;
/// 0.0 if none is named.
PythonVersion versionInPath(const std::filesystem::path& path);

}  // namespace multipy::runtime
