#include "torch_bridge/symbols/registering_imports.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>
#include <string_view>

#include "multipy/runtime/Exception.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : "";
}

// "void at::f<int>(g<long>)" → "at::f": what stands before the parameters, without
// template arguments and a return type. Empty for what is not a function.
std::string qualifiedName(const std::string& declaration) {
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < declaration.size(); ++i) {
    const char c = declaration[i];
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (c == '(' && declaration.compare(i, kAnonymous.size(), kAnonymous) == 0) {
      i += kAnonymous.size() - 1;
    } else if (c == '<') {
      ++depth;
    } else if (c == '>') {
      --depth;
    } else if (depth == 0 && c == '(') {
      return name.substr(name.rfind(' ') + 1);
    } else if (depth == 0) {
      name += c;
    }
  }
  return {};
}

bool isTorchs(const std::string& qualified) {
  return std::ranges::any_of(std::array{"at::", "c10::", "c10d::", "caffe2::", "torch::"},
                             [&](const char* prefix) { return qualified.starts_with(prefix); });
}

// C functions of torch have no parameters in their names.
bool isTorchsCFunction(const std::string& name) {
  return name.starts_with("aoti_") || name.starts_with("torch_");
}

}  // namespace

bool soundsLikeRegistering(const std::string& qualified) {
  static const auto& words = *new std::regex(  // never destroyed: it is asked at exit, too
      ".*[rR]egister.*"
      "|((uns|S|Uns|s)et|install|enable|disable|override|change)([A-Z_0-9].*)?"
      "|add.*(Callback|Handler|Hook|Observer|Unwinder).*"
      "|(aoti|torch)_(.*_)?set_.*");
  const std::size_t colons = qualified.rfind("::");
  return std::regex_match(colons == std::string::npos ? qualified : qualified.substr(colons + 2),
                          words);
}

std::vector<std::string> registeringImports(const elf::SharedObject& libtorchPython) {
  std::set<std::string_view> routed;
  for (const RedirectedSymbol& symbol : redirectedSymbols()) routed.insert(symbol.name);
  std::set<std::string> found;
  for (std::uint32_t index = 1; index < libtorchPython.symbolCount(); ++index) {
    const elf::Symbol symbol = libtorchPython.symbol(index);
    if (symbol.defined || routed.contains(symbol.name)) continue;
    const std::string name(symbol.name), qualified = qualifiedName(demangled(name));
    if (isTorchs(qualified) && soundsLikeRegistering(qualified)) found.insert(qualified);
    if (isTorchsCFunction(name) && soundsLikeRegistering(name)) found.insert(name);
  }
  return {found.begin(), found.end()};
}

std::set<std::string> knownRegistrations(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in)
    throw runtime::Error("reading the list of known registrations " + file.string() +
                         ": it cannot be opened; expected a text file with a name on each line");
  std::set<std::string> names;
  for (std::string line; std::getline(in, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) names.insert(line);
  }
  return names;
}

std::vector<std::string> registrationDifferences(const elf::SharedObject& libtorchPython,
                                                 const std::set<std::string>& known) {
  std::vector<std::string> differences;
  for (const std::string& name : registeringImports(libtorchPython))
    if (!known.contains(name))
      differences.push_back("libtorch_python calls " + name +
                            ": not expected, by its name it may change state of the whole process");
  return differences;
}

}  // namespace multipy::bridge
