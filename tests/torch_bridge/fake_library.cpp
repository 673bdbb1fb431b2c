#include "fake_library.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>

#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {

namespace fs = std::filesystem;

FakeLibrary FakeLibrary::libtorchPython() {
  FakeLibrary library;
  std::set<std::string_view> routes;  // by the first of its names
  for (const RedirectedSymbol& symbol : redirectedSymbols())
    if (routes.insert(symbol.route).second)
      (symbol.defined ? library.defined : library.undefined).emplace_back(symbol.name);
  const BindingSymbols& names = bindingSymbols();
  for (const char* name : {names.wrap[0], names.variableClass, names.toPyObject, names.toIValue,
                           names.getPyInterpreter})
    library.defined.emplace_back(name);
  return library;
}

void FakeLibrary::remove(const std::string& name) {
  std::erase(undefined, name);
  std::erase(defined, name);
}

void FakeLibrary::write(const fs::path& file) const {
  const fs::path source = file.string() + ".s";
  {
    std::ofstream out(source);
    out << ".data\n.balign 8\n";
    for (const std::string& name : defined)
      out << ".globl " << name << "\n.type " << name << ", @object\n" << name << ":\n.quad 0\n";
    for (const std::string& name : undefined) out << ".quad " << name << "\n";
    if (!text.empty()) out << ".asciz \"" << text << "\"\n";
    out << ".section .note.GNU-stack,\"\",@progbits\n";
  }
  const std::string command = std::string(MULTIPY_TEST_COMPILER) + " -shared -nostdlib -o '" +
                              file.string() + "' '" + source.string() +
                              "' -Wl,--build-id=" + (buildId.empty() ? "none" : "0x" + buildId);
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

FakeTorch::FakeTorch() {
  std::string name = (fs::temp_directory_path() / "multipy-fake-torch-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed: " + name);
  root_ = fs::path(name) / "torch";
  fs::create_directories(root_ / "lib");
  writeVersion("__version__ = '" + builtWithTorch() + "+cpu'\n");
}

FakeTorch::~FakeTorch() { fs::remove_all(root_.parent_path()); }

void FakeTorch::writeVersion(const std::string& text) const {
  std::ofstream(root_ / "version.py") << text;
}

}  // namespace multipy::bridge
