// What one interpreter has that in a process of its own it would have been given
// by its parent: arguments, environment variables, somewhere to print to.
//
//   InterpreterManagerOptions options;
//   options.interpreters.output = [](int interpreter, OutputStream stream, std::string_view line) {
//     LOG(INFO) << "[" << interpreter << "] " << line;
//   };
//   options.adjust = [](std::size_t index, InterpreterOptions& one) {
//     one.arguments = {"worker.py", "--rank", std::to_string(index)};
//   };
//   InterpreterManager manager(4, options);
//
// Threads: plain values. `output` says for itself by whom it is called.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace multipy::runtime {

enum class OutputStream { Stdout, Stderr };

/// Gets what Python code prints, a line at a time and without its '\n'.
/// `interpreter` is Interpreter::slot(). A last line without '\n' comes when the
/// interpreter has ended; a line of more than 64 KiB comes in pieces.
///
/// What is written past Python's sys.stdout and sys.stderr (printf in C code, child
/// processes) goes to the process's own, as ever; so does what a child of fork() prints.
///
/// Threads: called by the thread that prints, which holds no GIL meanwhile, so that
/// the hook may use interpreters, this one too. Lines of one interpreter come one
/// after the other; those of several interpreters at once. It must not wait for a
/// thread that may be printing in the same interpreter.
/// What it throws becomes an OSError where Python code printed; the line is not
/// offered again. After the interpreter has ended no code is left to tell, and it
/// is dropped.
using OutputHook = std::function<void(int interpreter, OutputStream stream, std::string_view line)>;

struct InterpreterOptions {
  /// sys.argv. Empty: [""], as in plain Python without a script. InvalidArgument for one
  /// with a null character in it.
  std::vector<std::string> arguments;

  /// os.environ, also to C code of private libraries (getenv), and what children
  /// started from Python inherit; changes stay inside the interpreter. Without a
  /// value: the process's own, which os.environ changes for the whole process.
  std::optional<std::map<std::string, std::string>> environmentVariables;

  /// Options of python's command line, as there: {"-O", "-W", "error", "-X", "dev"}. Taken are
  /// -b -B -E -O -P -q -s -u -v, which may stand together ("-OO", "-sE"), -W and -X; others:
  /// InvalidArgument. Of these -q, -u, -X faulthandler and -X utf8 change nothing here, nor does -P
  /// before CPython 3.11. Variables like PYTHONWARNINGS count besides, as in plain Python.
  std::vector<std::string> pythonOptions;

  /// As `python -I`: neither PYTHONPATH and its like nor the user's own
  /// site-packages are looked at. Otherwise they count as for the environment's own
  /// python, less what would concern the process: PYTHONFAULTHANDLER, PYTHONMALLOC,
  /// PYTHONUNBUFFERED's effect on C's stdout.
  bool isolated = false;

  /// What serving an eager model does not use of torch (tracing, compiling, distributed,
  /// quantization, optimizers and so on) is executed at its first use and not by
  /// `import torch`, which takes half of the time and of the memory then. A program gets
  /// the same results; docs/environments.md says what it can tell the difference by. False:
  /// all of it by `import torch`, as in plain Python.
  bool slimTorch = true;

  /// With slimTorch, packages whose imports are like those of torch: what they import of the
  /// modules that are put off is executed at its first use. Of transformers, sentence_transformers,
  /// diffusers, peft and accelerate that is known to work, and they need not be named. Names
  /// without dots.
  std::vector<std::string> slimImporters;

  /// With slimTorch, modules that are put off as well, with all below them, where such a package
  /// imports them: packages that it uses seldom.
  std::vector<std::string> slimModules;

  /// Null: sys.stdout and sys.stderr are the process's.
  OutputHook output;
};

}  // namespace multipy::runtime
