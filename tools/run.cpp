#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "base/file_io.h"
#include "multipy/runtime/Exception.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/tool_modules.h"

namespace multipy::tools {
namespace {

struct Program {
  bool isModule = false;
  std::string name;  // of the script or module
  Words arguments;   // of all interpreters, with "{i}" for the number

  std::vector<std::string> argv(std::size_t index) const {
    // runpy puts the module's file in the place of "-m", as python does.
    std::vector<std::string> words{isModule ? "-m" : name};
    for (std::string word : arguments) {
      const std::string number = std::to_string(index);
      for (std::size_t at = 0; (at = word.find("{i}", at)) != std::string::npos;
           at += number.size())
        word.replace(at, 3, number);
      words.push_back(std::move(word));
    }
    return words;
  }
};

Program programOf(const Options& options) {
  Program program;
  program.arguments = options.words();
  if (options.has("-m")) {
    program.isModule = true;
    program.name = options.value("-m");
  } else if (program.arguments.empty()) {
    throw UsageError("expected a script, or -m and a module");
  } else {
    program.name = program.arguments[0];
    program.arguments.erase(program.arguments.begin());
  }
  return program;
}

/// By one write(2), so that a line stays whole beside those of others, child processes
/// too, and without a lock, which in a child of fork() might be held for ever.
/// 0, or errno.
int writeLabelled(std::size_t interpreter, runtime::OutputStream stream, std::string_view line) {
  std::string text = "[" + std::to_string(interpreter) + "] ";
  text.append(line).push_back('\n');
  return base::writeAll(stream == runtime::OutputStream::Stdout ? STDOUT_FILENO : STDERR_FILENO,
                        text);
}

int runIn(const runtime::InterpreterManager& manager, std::size_t index, const Program& program) {
  try {
    const auto session = manager.allInstances()[index].acquireSession();
    const auto run = session.global(kToolModule, program.isModule ? "run_module" : "run_script");
    return static_cast<int>(run({program.name}).toIValue().toInt());
  } catch (const runtime::Error& error) {
    writeLabelled(index, runtime::OutputStream::Stderr, error.what());
    return kFailed;
  }
}

int run(const Words& words) {
  const Options options(
      words,
      withEnvironmentOptions({{"-n"}, {"--label", false}, {"-m", true, /*endsOptions=*/true}}),
      Options::Where::BeforeWords);
  const Program program = programOf(options);
  const std::size_t count = options.number("-n", 1, 1);

  auto settings = options.interpreterOptions();
  settings.adjust = [&](std::size_t index, runtime::InterpreterOptions& one) {
    one.arguments = program.argv(index);
    if (!options.has("--label")) return;
    // (The number that the hook is given counts all interpreters of a process.)
    one.output = [index](int, runtime::OutputStream stream, std::string_view line) {
      if (const int error = writeLabelled(index, stream, line))
        throw std::system_error(error, std::system_category(), "writing a line of output");
    };
  };
  runtime::InterpreterManager manager(count, settings);
  registerToolModule(manager);

  std::vector<int> codes(count, kFailed);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] { codes[i] = runIn(manager, i, program); });
  for (std::thread& thread : threads) thread.join();
  return *std::max_element(codes.begin(), codes.end());
}

}  // namespace

const Command kRunCommand = {
    "run", "a script or module in one or more interpreters",
    R"(usage: multipy run [options] <script | directory | zip file> [argument]...
       multipy run [options] -m <module> [argument]...

Runs it as python would, as __main__, in each of the interpreters at once.

  -n COUNT           how many interpreters (default: 1)
  --label            begin each line of output with the interpreter's number

In arguments {i} stands for the interpreter's number, from 0:
  multipy run -n 4 work.py --rank {i}

The exit code is the highest of the interpreters': that of sys.exit(), or 1 after
an exception.
)",
    /*makesInterpreters=*/true, run};

}  // namespace multipy::tools
