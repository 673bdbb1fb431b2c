// What Python environments say of themselves in text: pyvenv.cfg and .pth files, and paths
// with a version in them.
//
// An input: pyvenv.cfg, a .pth file (parts), then PYTHONPATH. In pyvenv.cfg and in the .pth
// file "@" stands for the folder in which the environments lie.
#include <filesystem>
#include <fstream>

#include "fuzz/input.h"
#include "multipy/runtime/Exception.h"
#include "runtime/environment/code_directories.h"
#include "runtime/environment/python_installation.h"
#include "runtime/temporary_folder.h"

namespace multipy::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr runtime::PythonVersion kVersion{3, 11};

void write(const fs::path& file, std::string_view text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

/// <folder>/base is an installation, <folder>/venv a virtual environment, for as long as the
/// process lives.
class Environments {
 public:
  Environments() : folder_(fs::canonical(testing_support::makeTemporaryFolder())) {
    const std::string python = "python" + runtime::builtInPythonVersion().text();
    site = folder_ / "venv/lib" / python / "site-packages";
    fs::create_directories(site);
    fs::create_directories(folder_ / "editable");
    write(folder_ / "base/lib/python3.11/os.py", "");
    for (const char* executable : {"base/bin/python3", "venv/bin/python3"}) {
      write(folder_ / executable, "#!/bin/sh\n");
      fs::permissions(folder_ / executable, fs::perms::owner_all);
    }
  }
  ~Environments() { fs::remove_all(folder_); }

  std::string expanded(const std::string& text) const {
    std::string result;
    for (const char c : text) result += c == '@' ? folder_.string() : std::string(1, c);
    return result;
  }
  fs::path prefix() const { return folder_ / "venv"; }
  fs::path editable() const { return folder_ / "editable"; }

  fs::path site;

 private:
  fs::path folder_;
};

void checkVersion(const fs::path& path) {
  const auto version = runtime::versionInPath(path);
  promise(version.major == 0 || path.string().find("python" + version.text()) != std::string::npos,
          "a version was found in a path that does not have it");
}

}  // namespace

Outcome exercise(std::span<const std::byte> bytes) {
  static const Environments environments;
  Input input(bytes);
  const std::string configuration = environments.expanded(input.part());
  const std::string pth = environments.expanded(input.part());
  write(environments.prefix() / "pyvenv.cfg", configuration);
  write(environments.site / "editable.pth", pth);

  runtime::InterpreterOptions options;
  options.environmentVariables.emplace();
  (*options.environmentVariables)["PYTHONPATH"] = textOf(input.rest());
  checkVersion(pth);
  try {
    const auto python = runtime::pythonInPrefix(environments.prefix(), "a fuzzer", kVersion);
    promise(fs::exists(python.basePrefix / "lib/python3.11/os.py"),
            "an environment without a standard library was accepted");
    const auto directories = runtime::codeDirectories(python, options);
    for (const fs::path& directory : directories)
      promise(fs::exists(directory), "a directory does not exist");
    return Outcome::Accepted;
  } catch (const runtime::EnvironmentError&) {
    return Outcome::Refused;
  }
}

std::vector<Bytes> seeds() {
  const std::string rs(1, Input::separator);
  std::vector<Bytes> all;
  for (const std::string version :
       {"version = 3.11.7\n", "version_info = 3.11.2.final.0\n", "version_info=3.11.0rc1", ""})
    all.push_back(bytesOf("home = @/base/bin\ninclude-system-site-packages = false\n" + version +
                          rs + "# comment\nimport site\n@/editable\n../../relative\n" + rs +
                          "/usr/lib:/opt:relative"));
  return all;
}

std::vector<std::string> words() {
  return {"home = ",
          "version = ",
          "version_info = ",
          "3.11",
          "@/base/bin",
          "@/editable",
          "\n",
          "\r\n",
          "import ",
          "import\t",
          "#",
          "../",
          std::string(1, Input::separator),
          "python3.11/",
          std::string(300, 'n') + "/"};
}

}  // namespace multipy::fuzz
