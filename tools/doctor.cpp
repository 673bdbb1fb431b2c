#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <set>

#include "loader/cache_contents.h"
#include "loader/cache_limits.h"
#include "loader/copy_cache.h"
#include "loader/loaded_objects.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/environment.h"
#include "runtime/environment/python_installation.h"
#include "runtime/interpreter/embedded_interpreter.h"
#include "tools/command.h"
#include "tools/isolation_text.h"
#include "tools/options.h"
#include "tools/sizes.h"
#include "tools/tool_modules.h"
#include "tools_config.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::tools {
namespace {

using runtime::InterpreterManager;
using runtime::InterpreterSession;

/// One line of what was found, or of what is wrong.
class Findings {
 public:
  void good(std::string_view name, const std::string& text) const {
    std::cout << std::left << std::setw(13) << name << text << std::endl;
  }
  void bad(std::string_view name, const std::string& text) {
    good(name, "PROBLEM: " + text);
    sound_ = false;
  }
  /// What `work` says, or the error that it throws.
  template <typename Work>
  bool check(std::string_view name, Work&& work) {
    try {
      good(name, work());
      return true;
    } catch (const runtime::PythonException& error) {
      bad(name, error.type() + ": " + error.message());
      return false;
    } catch (const runtime::Error& error) {
      bad(name, error.what());
      return false;
    }
  }
  bool sound() const noexcept { return sound_; }

 private:
  bool sound_ = true;
};

std::string environmentText(const runtime::InterpreterManagerOptions& options) {
  const std::string prefix = options.environment->pythonPrefix();
  const auto python = prefix.empty() ? runtime::defaultPython()
                                     : runtime::pythonInPrefix(prefix, "given by --python");
  std::string text = python.prefix.string() + " (" + python.executable.string();
  if (python.basePrefix != python.prefix) text += ", made from " + python.basePrefix.string();
  return text + ")";
}

std::string cacheText(const Options& options) {
  const auto cache = options.has("--cache") ? loader::CopyCache::in(options.value("--cache"))
                                            : loader::CopyCache::forUser();
  if (cache->directory().empty()) return "in memory, since " + cache->whyInMemory();
  const auto contents = loader::cacheContents(cache->directory());
  const auto limits = loader::cacheLimits(cache->directory());
  return cache->directory().string() + ": " + std::to_string(contents.copies) + " copies, " +
         sizeText(contents.bytes) + "; limits: size " + loader::textOfSizeLimit(limits.bytes) +
         ", age " + loader::textOfAgeLimit(limits.age);
}

std::string limitsText() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  std::string mappings = "unknown";
  std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  return std::to_string(files.rlim_cur) + " open files, " + mappings + " memory mappings (now " +
         std::to_string(loader::countAllMappings()) + "), GLIBC_TUNABLES " +
         (tunables ? tunables : "not set");
}

std::string interpreterText(const InterpreterSession& session) {
  return "starts; Python " + session.global("sys", "version").toIValue().toStringRef();
}

// Where torch is not installed, programs work as long as no tensor crosses.
std::string torchText(const InterpreterSession& session) {
  const std::string installed =
      session.global(kToolModule, "version_of")({"torch"}).toIValue().toStringRef();
  const std::string own =
      bridge::builtWithTorch() + " is in this program (" + bridge::loadedTorchCpu().string() + ")";
  if (installed.empty()) return own + ", none in the environment: tensors cannot be used there";
  session.global(kToolModule, "import_module")({"torch"});
  return own + ", " + installed + " in the environment; can be imported";
}

std::vector<std::string> loadedBy(const InterpreterManager& manager, std::set<std::string>& known) {
  std::vector<std::string> lines;
  for (const auto& library : manager.allInstances()[0].libraries())
    if (known.insert(library.file).second) lines.push_back(isolationText(library));
  return lines;
}

void importModules(const Words& modules, InterpreterManager& manager,
                   const InterpreterSession& session, Findings& findings) {
  std::set<std::string> known;
  loadedBy(manager, known);
  for (const std::string& module : modules) {
    const bool imported = findings.check(module, [&] {
      session.global(kToolModule, "import_module")({module});
      const std::string version =
          session.global(kToolModule, "version_of")({module}).toIValue().toStringRef();
      return version + (version.empty() ? "" : "; ") + "can be imported; libraries loaded by that:";
    });
    if (!imported) continue;
    const auto lines = loadedBy(manager, known);
    for (const std::string& line : lines) std::cout << "  " << line;
    if (lines.empty()) std::cout << "  none\n";
  }
}

int doctor(const Words& words) {
  const Options options(words, kEnvironmentOptions);
  Findings findings;
  findings.good("multipy", MULTIPY_VERSION);
  findings.good("payload", "libinterpreter.so, " + sizeText(runtime::embeddedInterpreter().size()) +
                               ", CPython " + runtime::builtInPythonVersion().text());
  findings.good("limits", limitsText());
  findings.check("cache", [&] { return cacheText(options); });

  runtime::InterpreterManagerOptions settings;
  const bool usable = findings.check("environment", [&] {
    settings = options.interpreterOptions();
    return environmentText(settings);
  });
  if (usable) {
    std::unique_ptr<InterpreterManager> manager;
    const bool started = findings.check("interpreter", [&] {
      manager = std::make_unique<InterpreterManager>(1, settings);
      registerToolModule(*manager);
      return interpreterText(manager->acquireOne());
    });
    if (started) {
      const InterpreterSession session = manager->acquireOne();
      // torch last: it brings numpy along, which would not be seen to be loaded any more.
      importModules(options.words(), *manager, session, findings);
      findings.check("torch", [&] { return torchText(session); });
    }
  }
  std::cout << (findings.sound() ? "all is well\n" : "something is wrong, see above\n");
  return findings.sound() ? kDone : kFailed;
}

}  // namespace

const Command kDoctorCommand = {"doctor", "what was found, and whether it works",
                                R"(usage: multipy doctor [options] [module]...

Says which Python environment, torch and cache programs would use from here, starts
an interpreter, and imports torch where it is installed. Modules that are named are
imported as well, and each library that this loads is listed: private or shared, and
why. Exit code 1 if anything is wrong.
)",
                                /*makesInterpreters=*/true, doctor};

}  // namespace multipy::tools
