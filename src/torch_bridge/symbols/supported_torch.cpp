#include "torch_bridge/symbols/supported_torch.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/object_list.h"
#include "multipy/runtime/Exception.h"

namespace multipy::bridge {
namespace {

namespace fs = std::filesystem;
using Differences = std::vector<std::string>;

const std::string kTorchPython = "libtorch_python.so", kTorchCpu = "libtorch_cpu.so";

// "libX.so" itself, or with a version: "libX.so.2.6".
bool isLibrary(std::string_view path, std::string_view name) {
  std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with(name)) return false;
  file.remove_prefix(name.size());
  return file.empty() || file.front() == '.';
}

// ------------------------------------------------------- symbols of libtorch_python

using Counts = std::unordered_map<std::string_view, int>;  // name → how often

// What is looked for among some ten thousands.
struct Wanted {
  std::unordered_set<std::string_view> names;
  std::set<std::string_view> stems;  // none of which begins with another

  Wanted() {
    std::set<std::string_view> all;
    for (const RedirectedSymbol& symbol : redirectedSymbols()) {
      names.insert(symbol.name);
      if (!symbol.stem.empty()) all.insert(symbol.stem);
    }
    const BindingSymbols& binding = bindingSymbols();
    names.insert(std::begin(binding.wrap), std::end(binding.wrap));
    names.insert(
        {binding.variableClass, binding.toPyObject, binding.toIValue, binding.getPyInterpreter});
    for (const std::string_view stem : all)
      if (stems.empty() || !stem.starts_with(*stems.rbegin())) stems.insert(stem);
  }

  bool isOverload(std::string_view name) const {
    const auto after = stems.upper_bound(name);
    return after != stems.begin() && name.starts_with(*std::prev(after));
  }
};

struct Symbols {
  Counts undefined, defined;             // of those with names that are wanted
  std::set<std::string_view> strangers;  // undefined ones with other names, of the same functions
};

Symbols symbolsOf(const elf::SharedObject& library) {
  static const auto& wanted = *new Wanted;
  Symbols symbols;
  for (uint32_t index = 1; index < library.symbolCount(); ++index) {
    const elf::Symbol symbol = library.symbol(index);
    if (wanted.names.contains(symbol.name))
      ++(symbol.defined ? symbols.defined : symbols.undefined)[symbol.name];
    else if (!symbol.defined && wanted.isOverload(symbol.name))
      symbols.strangers.insert(symbol.name);
  }
  return symbols;
}

int count(const Counts& names, std::string_view name) {
  const auto found = names.find(name);
  return found == names.end() ? 0 : found->second;
}

// What is known of one route: its names, of which a torch uses one.
struct Route {
  std::string names;
  int found = 0;
  bool optional = false, defined = false;
};

std::map<std::string_view, Route> routesAmong(const Symbols& symbols) {
  std::map<std::string_view, Route> routes;
  for (const RedirectedSymbol& symbol : redirectedSymbols()) {
    Route& route = routes[symbol.route];
    route.names += (route.names.empty() ? "" : " or ") + std::string(symbol.name);
    route.found += count(symbol.defined ? symbols.defined : symbols.undefined, symbol.name);
    // (One that is imported is called in another way than the one that is defined.)
    route.optional =
        symbol.optional && !(symbol.defined && count(symbols.undefined, symbol.name) > 0);
    route.defined = symbol.defined;
  }
  return routes;
}

void compareRedirected(const Symbols& symbols, Differences& differences) {
  for (const auto& [route, known] : routesAmong(symbols)) {
    if (known.found == 1 || (known.found == 0 && known.optional)) continue;
    differences.push_back(std::string(known.defined ? "defined" : "undefined") + " symbol " +
                          known.names + ": expected once, found " + std::to_string(known.found) +
                          " times");
  }
  for (const std::string_view name : symbols.strangers)
    differences.push_back("undefined symbol " + std::string(name) +
                          ": not expected, a function or overload that is not routed");
}

void compareBinding(const Symbols& symbols, Differences& differences) {
  const BindingSymbols& names = bindingSymbols();
  if (std::ranges::none_of(names.wrap,
                           [&](const char* name) { return count(symbols.defined, name) == 1; }))
    differences.push_back("defined symbol " + std::string(names.wrap[0]) +
                          ", or one that takes another kind of reference: found none");
  for (const char* name :
       {names.variableClass, names.toPyObject, names.toIValue, names.getPyInterpreter})
    if (count(symbols.defined, name) != 1)
      differences.push_back("defined symbol " + std::string(name) + ": expected once, found " +
                            std::to_string(count(symbols.defined, name)) + " times");
}

// ------------------------------------------------------- version

// The string that is assigned at the start of `text`, as in " = '2.13.0'"; nothing if none is.
std::optional<std::string> assignedString(std::string_view text) {
  const auto skipBlanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f\v"), text.size()));
  };
  skipBlanks();
  if (!text.starts_with('=')) return std::nullopt;
  text.remove_prefix(1);
  skipBlanks();
  if (!text.starts_with('\'') && !text.starts_with('"')) return std::nullopt;
  text.remove_prefix(1);
  const std::size_t end = text.find_first_of("'\"");
  if (end == text.npos) return std::nullopt;
  return std::string(text.substr(0, end));
}

// (Not by std::regex: libstdc++'s takes a stack frame for each character.)
std::optional<std::string> versionIn(const fs::path& file) {
  constexpr std::string_view kVariable = "__version__";
  std::ifstream in(file);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t at = 0; (at = text.find(kVariable, at)) != text.npos;) {
    at += kVariable.size();
    if (auto version = assignedString(std::string_view(text).substr(at))) return version;
  }
  return std::nullopt;
}

// "2.13.0+cpu" is 2.13.0; "2.13.01" and "2.13.0a0" are not.
bool isVersion(const std::string& found, const std::string& wanted) {
  return found == wanted || found.starts_with(wanted + "+");
}

// What a distribution adds to the name: "2.6" of "libtorch_python.so.2.6".
std::string versionInSoname(std::string_view soname) {
  const std::size_t at = soname.find(".so.");
  return at == std::string_view::npos ? "" : std::string(soname.substr(at + 4));
}

// A distribution keeps torch's libraries apart from torch/version.py.
void compareVersion(const fs::path& file, std::string_view soname, Differences& differences) {
  const auto version = versionIn(file);
  if (const std::string series = versionInSoname(soname); !version && !series.empty()) {
    if (!builtWithTorch().starts_with(series + "."))
      differences.push_back("version: the library calls itself " + std::string(soname) +
                            ", expected torch " + builtWithTorch());
    return;
  }
  if (!version)
    differences.push_back("version: no __version__ could be read from " + file.string() +
                          ", expected " + builtWithTorch());
  else if (!isVersion(*version, builtWithTorch()))
    differences.push_back("version: " + file.string() + " says " + *version + ", expected " +
                          builtWithTorch());
}

// ------------------------------------------------------- the torch in this process

std::optional<std::pair<dev_t, ino_t>> identity(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

void compareLoaded(const TorchFiles& files, Differences& differences) {
  const std::string advice =
      ". A process has one torch: point the environment at the same torch that the program was "
      "linked against, or link the program against the environment's";
  if (files.loadedCpuLibrary.empty()) {
    differences.push_back("libtorch_cpu is not loaded in this process, expected " +
                          files.cpuLibrary.string() + advice);
    return;
  }
  const auto mine = identity(files.loadedCpuLibrary), theirs = identity(files.cpuLibrary);
  if (!theirs) {
    differences.push_back("the environment's " + files.cpuLibrary.string() +
                          " does not exist or cannot be read, expected the same build as " +
                          files.loadedCpuLibrary.string());
    return;
  }
  if (mine == theirs) return;
  const std::string myId = mine ? buildIdOf(files.loadedCpuLibrary) : "",
                    theirId = buildIdOf(files.cpuLibrary);
  if (!myId.empty() && myId == theirId) return;
  const auto shown = [](const std::string& id) { return id.empty() ? "none" : id; };
  differences.push_back("this process runs " + files.loadedCpuLibrary.string() + " (build id " +
                        shown(myId) + ") but the environment has " + files.cpuLibrary.string() +
                        " (build id " + shown(theirId) + ")" + advice);
}

template <typename T>
bool readAt(std::ifstream& in, std::uint64_t offset, T* into, std::size_t n = 1) {
  in.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(
      in.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(n * sizeof(T))));
}

// The build id among the notes of one PT_NOTE segment.
std::string buildIdAmong(const std::vector<char>& notes) {
  const auto aligned = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= notes.size()) {
    ElfW(Nhdr) note;
    std::copy_n(notes.data() + at, sizeof note, reinterpret_cast<char*>(&note));
    const std::size_t name = at + sizeof note, id = name + aligned(note.n_namesz);
    if (id + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID &&
        std::string_view(notes.data() + name, note.n_namesz) == std::string_view("GNU", 4)) {
      static constexpr char digits[] = "0123456789abcdef";
      std::string text;
      for (std::size_t i = id; i < id + note.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(notes[i]);
        text += {digits[byte >> 4], digits[byte & 15]};
      }
      return text;
    }
    at = id + aligned(note.n_descsz);
  }
  return {};
}

}  // namespace

std::string buildIdOf(const fs::path& file) {
  constexpr std::size_t kMost = 1 << 20;  // notes larger than that are not ours to read
  std::ifstream in(file, std::ios::binary);
  ElfW(Ehdr) header;
  if (!in || !readAt(in, 0, &header) ||
      !std::equal(header.e_ident, header.e_ident + SELFMAG, ELFMAG) ||
      header.e_phentsize != sizeof(ElfW(Phdr)))
    return {};
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  if (!readAt(in, header.e_phoff, segments.data(), segments.size())) return {};
  for (const auto& segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMost) continue;
    std::vector<char> notes(segment.p_filesz);
    if (!readAt(in, segment.p_offset, notes.data(), notes.size())) return {};
    if (std::string id = buildIdAmong(notes); !id.empty()) return id;
  }
  return {};
}

bool isLibtorchPython(const fs::path& library) { return isLibrary(library.native(), kTorchPython); }

fs::path loadedTorchCpu() {
  const base::ObjectList found([](const char* name) { return isLibrary(name, kTorchCpu); });
  return found.begin() == found.end() ? fs::path() : fs::path(found.begin()->name);
}

TorchFiles torchFiles(const fs::path& libtorchPython) {
  const fs::path lib = libtorchPython.parent_path();
  const std::string name = libtorchPython.filename();
  return {.versionFile = lib.parent_path() / "version.py",
          .cpuLibrary = lib / (kTorchCpu + name.substr(std::min(kTorchPython.size(), name.size()))),
          .loadedCpuLibrary = loadedTorchCpu()};
}

std::vector<std::string> symbolDifferences(const elf::SharedObject& libtorchPython) {
  Differences differences;
  const Symbols symbols = symbolsOf(libtorchPython);
  compareRedirected(symbols, differences);
  compareBinding(symbols, differences);
  return differences;
}

std::vector<std::string> exportDifferences(const std::vector<elf::SharedObject>& shared) {
  // By one of the names that each has.
  std::map<std::string_view, std::vector<std::string_view>> wanted;
  for (const RedirectedSymbol& symbol : redirectedSymbols())
    if (!symbol.defined && !symbol.optional && !symbol.torchPythonOnly)
      wanted[symbol.route].push_back(symbol.name);
  const SettingSymbols& settings = settingSymbols();
  const ForwardLevelSymbols& levels = forwardLevelSymbols();
  const AnomalySymbols& anomaly = anomalySymbols();
  for (const char* name :
       {settings.generator, settings.context, settings.dtype, settings.scalarType,
        settings.complexDtype, settings.setDtype, levels.open, levels.close, levels.get,
        levels.find, anomaly.metadata, anomaly.isNan, anomaly.isAnyTrue, anomaly.itemOfBool,
        anomaly.evaluateFunction, anomaly.openGuard, anomaly.closeGuard, initNumThreadsSymbol(),
        resolveProcessGroupSymbol()})
    wanted[name] = {name};

  std::set<std::string_view> exported;
  for (const elf::SharedObject& library : shared)
    for (std::uint32_t index = 1; index < library.symbolCount(); ++index)
      if (const elf::Symbol symbol = library.symbol(index); symbol.defined)
        exported.insert(symbol.name);
  Differences differences;
  for (const auto& [route, names] : wanted)
    if (std::ranges::none_of(names, [&](auto name) { return exported.contains(name); }))
      differences.push_back("none of torch's shared libraries defines " +
                            std::string(names.front()) + ", which is to be redirected");
  return differences;
}

void verifyTorch(const elf::SharedObject& libtorchPython, const TorchFiles& files) {
  Differences differences;
  compareVersion(files.versionFile, libtorchPython.soname(), differences);
  compareLoaded(files, differences);
  std::ranges::move(symbolDifferences(libtorchPython), std::back_inserter(differences));
  if (differences.empty()) return;

  std::string text = "loading " + libtorchPython.name() +
                     ": this torch is not the one that multipy was built for (torch " +
                     builtWithTorch() + "), and nothing of it has been loaded. Differences:";
  for (const std::string& difference : differences) text += "\n  " + difference;
  text += "\nInstall torch " + builtWithTorch() +
          " into the environment, or build multipy against the environment's torch if it is a "
          "version that multipy supports";
  throw runtime::UnsupportedTorchError(text, std::move(differences));
}

}  // namespace multipy::bridge
