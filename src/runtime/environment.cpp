#include <filesystem>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/path_environment.h"
#include "multipy/runtime/python_environment.h"
#include "runtime/python_installation.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refusePath(const std::string& path, const std::string& found,
                             const std::string& remedy) {
  throw EnvironmentError("PathEnvironment: " + (path.empty() ? "the empty path" : path) + " " +
                         found + ", expected a directory or zip file with Python code. " + remedy);
}

}  // namespace

PathEnvironment::PathEnvironment(std::string path) {
  std::error_code failed;
  if (path.empty() || !fs::exists(path, failed))
    refusePath(path, "does not exist", "Name one that does, or use NoopEnvironment for none");
  if (fs::exists(fs::path(path) / "pyvenv.cfg", failed))
    refusePath(path, "is the root of a virtual environment",
               "Use PythonEnvironment(\"" + path + "\") to run in it");
  const fs::path absolute = fs::absolute(path);
  const PythonVersion named = versionInPath(absolute);
  if (named.major != 0 && named != builtInPythonVersion())
    refusePath(path, "belongs to Python " + named.text(),
               "The CPython inside this program is " + builtInPythonVersion().text() +
                   ": name a directory of that version");
  extraPythonPaths_.push_back(absolute.string());
}

PythonEnvironment::PythonEnvironment(std::string prefix)
    : prefix_(pythonInPrefix(prefix, "given to PythonEnvironment").prefix.string()) {}

}  // namespace multipy::runtime
