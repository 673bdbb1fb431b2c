#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "multipy/runtime/Exception.h"
#include "multipy/runtime/path_environment.h"
#include "multipy/runtime/python_environment.h"
#include "runtime/environment/python_installation.h"

namespace multipy::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refusePath(const std::string& path, const std::string& found,
                             const std::string& remedy) {
  throw EnvironmentError("PathEnvironment: " + (path.empty() ? "the empty path" : path) + " " +
                         found + ", expected a directory or zip file with Python code. " + remedy);
}

// Python imports from any file that ends as a zip file does: with the record that ends its
// central directory (APPNOTE.TXT 4.3.16), 22 bytes and a comment of at most 65,535.
bool isZipFile(const fs::path& path) {
  constexpr std::streamoff kLongestEnd = 22 + 65'535;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (!file || size < 22) return false;
  std::string end(static_cast<std::size_t>(std::min(size, kLongestEnd)), '\0');
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  file.read(end.data(), static_cast<std::streamsize>(end.size()));
  return file && end.find(std::string_view("PK\5\6")) != std::string::npos;
}

}  // namespace

PathEnvironment::PathEnvironment(std::string path) {
  std::error_code failed;
  if (path.find('\0') != std::string::npos)
    refusePath(path.c_str(), "is followed by a null character", "Name it without");
  if (path.empty() || !fs::exists(path, failed))
    refusePath(path, "does not exist", "Name one that does, or use NoopEnvironment for none");
  if (fs::exists(fs::path(path) / "pyvenv.cfg", failed))
    refusePath(path, "is the root of a virtual environment",
               "Use PythonEnvironment(\"" + path + "\") to run in it");
  if (!fs::is_directory(path, failed) && !(fs::is_regular_file(path, failed) && isZipFile(path)))
    refusePath(path, "is neither", "Of a single module name the directory that it lies in");
  const fs::path absolute = fs::absolute(path, failed);
  if (failed) refusePath(path, "cannot be made absolute: " + failed.message(), "Name it so");
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
