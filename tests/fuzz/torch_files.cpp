// What decides whether a torch is the one that this was built for: torch/version.py, the
// symbols of libtorch_python, and the build id of libtorch_cpu.
//
// An input: version.py (a part), then a shared object in place of both libraries.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "elf/minimal_library.h"
#include "fuzz/input.h"
#include "multipy/runtime/Exception.h"
#include "runtime/temporary_folder.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::fuzz {
namespace {

namespace fs = std::filesystem;

/// Files that are written for each input, for as long as the process lives.
class Folder {
 public:
  ~Folder() { fs::remove_all(folder_); }

  fs::path write(const char* name, std::span<const std::byte> bytes) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << textOf(bytes);
    return folder_ / name;
  }

 private:
  const fs::path folder_ = testing_support::makeTemporaryFolder();
};

bool isHexadecimal(const std::string& text) {
  return text.find_first_not_of("0123456789abcdef") == std::string::npos && text.size() % 2 == 0;
}

}  // namespace

Outcome exercise(std::span<const std::byte> bytes) {
  static const Folder folder;
  Input input(bytes);
  const fs::path versionFile = folder.write("version.py", bytesOf(input.part()));
  const auto contents = input.rest();
  const fs::path library = folder.write("libtorch_cpu.so", contents);
  promise(isHexadecimal(bridge::buildIdOf(library)), "a build id is no hexadecimal number");
  try {
    const auto object = elf::SharedObject::parse({contents.begin(), contents.end()},
                                                 "libtorch_python.so", elf::Machine::x86_64());
    bridge::verifyTorch(object, {versionFile, library, library});
    promise(false, "a small file is torch");
  } catch (const runtime::ElfError&) {
    return Outcome::Refused;
  } catch (const runtime::UnsupportedTorchError& error) {
    promise(!error.differences().empty(), "a torch was refused without a difference");
    // Accepted: its version, as far as that goes.
    const bool wrongVersion = error.differences().front().starts_with("version:");
    return wrongVersion ? Outcome::Refused : Outcome::Accepted;
  }
  return Outcome::Refused;
}

std::vector<Bytes> seeds() {
  std::string library = textOf(elf::testing::MinimalLibrary().bytes());
  const std::string version =
      "from typing import Optional\n__all__ = ['__version__']\n__version__ = '" +
      bridge::builtWithTorch() + "'\ndebug = False\n";
  return {bytesOf(version + Input::separator + library)};
}

std::vector<std::string> words() {
  return {"__version__ = '",
          "__version__",
          "\"",
          bridge::builtWithTorch(),
          "+cpu",
          "'" + std::string(200, '0'),
          std::string(1, Input::separator)};
}

}  // namespace multipy::fuzz
