#include "elf/workshop.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace multipy::elf::testing {

namespace fs = std::filesystem;

std::ostream& operator<<(std::ostream& out, const Toolchain& toolchain) {
  return out << toolchain.name;
}

std::string run(const std::string& command) {
  FILE* pipe = ::popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start: " + command);
  std::string output;
  std::array<char, 4096> part;
  while (const auto got = std::fread(part.data(), 1, part.size(), pipe))
    output.append(part.data(), got);
  if (const int status = ::pclose(pipe); status != 0)
    throw std::runtime_error("status " + std::to_string(status) + " of: " + command + "\n" +
                             output);
  return output;
}

std::vector<std::byte> readFile(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::vector<std::byte> bytes(fs::file_size(file));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw std::runtime_error("cannot read all of " + file.string());
  return bytes;
}

void writeFile(const fs::path& file, const std::vector<std::byte>& bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

Workshop::Workshop() {
  std::string name = (fs::temp_directory_path() / "multipy-elf-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a folder like " + name);
  folder_ = fs::canonical(name);
}

Workshop::~Workshop() {
  std::error_code ignored;  // a folder left behind fails no test
  fs::remove_all(folder_, ignored);
}

fs::path Workshop::write(const std::string& name, const std::string& text) const {
  std::ofstream out(folder_ / name);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + name);
  return folder_ / name;
}

fs::path Workshop::build(const Toolchain& toolchain, const std::string& name,
                         const std::string& source, const std::string& flags) const {
  const fs::path library = folder_ / name;
  fs::create_directories(library.parent_path());
  const auto input = write("source.cpp", source);
  run("cd " + folder_.string() + " && " + toolchain.compiler + " -std=c++17 -O1 -fPIC -shared " +
      input.string() + " -o " + library.string() + " " + flags);
  return library;
}

Edits completed(Edits edits) {
  static std::atomic<int> number{0};
  if (edits.soname.empty()) edits.soname = "libprivate-" + std::to_string(++number) + ".so";
  return edits;
}

fs::path Workshop::copy(const fs::path& original, const std::string& name, Edits edits,
                        EditReport* report) const {
  const fs::path target = folder_ / name;
  fs::create_directories(target.parent_path());
  auto result = edit(SharedObject::read(original), completed(std::move(edits)));
  writeFile(target, result.bytes);
  if (report) *report = std::move(result.report);
  return target;
}

Loaded::Loaded(const fs::path& library)
    : handle_(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) throw std::runtime_error(::dlerror());
}

Loaded::~Loaded() {
  if (handle_) ::dlclose(handle_);
}

Loaded::Loaded(Loaded&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

void* Loaded::symbol(const char* name) const {
  void* const address = ::dlsym(handle_, name);
  if (!address) throw std::runtime_error(::dlerror());
  return address;
}

bool Loaded::isMapped(const fs::path& library) {
  std::ifstream maps("/proc/self/maps");
  const std::string all{std::istreambuf_iterator<char>(maps), {}};
  return all.find(library.string()) != std::string::npos;
}

}  // namespace multipy::elf::testing
