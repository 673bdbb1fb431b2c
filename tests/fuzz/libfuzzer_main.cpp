// libFuzzer's entry, for any subject. scripts/fuzz runs them all; by hand:
//   fuzz_elf --write-seeds=corpus     writes corpus/seed-N and corpus.words, a dictionary
//   fuzz_elf -dict=corpus.words corpus
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fuzz/subject.h"

namespace multipy::fuzz {
namespace {

std::string quoted(const std::string& word) {
  std::string text = "\"";
  for (const unsigned char c : word) {
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", c);
    text += escaped;
  }
  return text + "\"";
}

void writeSeeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::size_t number = 0;
  for (const Bytes& seed : seeds())
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << textOf(seed);
  std::ofstream dictionary(folder.string() + ".words");
  for (const std::string& word : words()) dictionary << quoted(word) << "\n";
}

}  // namespace
}  // namespace multipy::fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kWriteSeeds = "--write-seeds=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (!argument.starts_with(kWriteSeeds)) continue;
    multipy::fuzz::writeSeeds(argument.substr(kWriteSeeds.size()));
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  multipy::fuzz::exercise({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
