#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <system_error>
#include <thread>

#include "multipy/runtime/Exception.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/tool_modules.h"

namespace multipy::tools {
namespace {

/// Ctrl-C while this lives: KeyboardInterrupt in the interpreter. The handler only writes
/// to a pipe; a thread reads it and enters the interpreter. (Blocked signals with
/// sigwait() would do, but child processes would inherit the mask.)
class Interrupts {
 public:
  explicit Interrupts(const runtime::Interpreter& interpreter) : interpreter_(interpreter) {
    if (::pipe(ends_.data()) != 0)
      throw std::system_error(errno, std::system_category(), "cannot make a pipe");
    thread_ = std::thread([this] { handOn(); });
    struct sigaction action {};
    action.sa_handler = [](int) {
      const char byte = 'i';
      [[maybe_unused]] const auto written = ::write(ends_[1], &byte, 1);
    };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &action, &before_);
  }
  ~Interrupts() {
    ::sigaction(SIGINT, &before_, nullptr);
    ::close(ends_[1]);  // the end of what the thread reads
    thread_.join();
    ::close(ends_[0]);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  void handOn() {
    char byte;
    while (::read(ends_[0], &byte, 1) == 1) {
      try {
        interpreter_.acquireSession().global(kToolModule, "interrupt")({});
      } catch (const runtime::Error& error) {
        std::cerr << "multipy repl: cannot interrupt: " << error.what() << "\n";
      }
    }
  }

  static inline std::array<int, 2> ends_{-1, -1};  // what a signal handler can reach
  const runtime::Interpreter& interpreter_;
  struct sigaction before_ {};
  std::thread thread_;
};

int repl(const Words& words) {
  const Options options(words, kEnvironmentOptions);
  if (!options.words().empty()) throw UsageError("expected no words, found " + options.words()[0]);
  runtime::InterpreterManager manager(1, options.interpreterOptions());
  registerToolModule(manager);
  const runtime::Interpreter& interpreter = manager.allInstances()[0];
  const auto session = interpreter.acquireSession();
  const std::string banner = "Python " + session.global("sys", "version").toIValue().toStringRef() +
                             "\nin a private interpreter of " +
                             session.global("sys", "prefix").toIValue().toStringRef() +
                             "; Ctrl-D ends it, Ctrl-C interrupts what is running";
  const Interrupts interrupts(interpreter);
  return static_cast<int>(session.global(kToolModule, "interact")({banner}).toIValue().toInt());
}

}  // namespace

const Command kReplCommand = {"repl", "an interactive interpreter",
                              R"(usage: multipy repl [options]

A prompt in a private interpreter: what can be imported there can be imported in
programs. Ctrl-C interrupts the statement that is being executed (at the prompt it
takes effect with the next line); Ctrl-D, exit() or quit() end it.
)",
                              /*makesInterpreters=*/true, repl};

}  // namespace multipy::tools
