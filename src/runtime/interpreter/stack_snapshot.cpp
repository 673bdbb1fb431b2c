// How to look at the stacks of an interpreter that is running.
//
// CPython can walk the frames of all threads without a lock and without memory:
// faulthandler does so from signal handlers. Beside threads that are running, that is
// a race: a frame may be freed and its memory reused while it is being read, and the
// reader crashes. A diagnosis must not end the process that it is to help.
//
// So the walk is done by a child of fork(). It has a copy of the memory as it was at
// one moment (pages that other threads write while the kernel copies the tables may be
// a little newer: that is how a stack can be torn), no other thread, and no way to harm
// the parent: if the walk runs into nonsense, the child alone dies, and what it has
// written by then is used.
//
// The child is made by clone() itself: no atfork handlers run, and with no signal at its
// end the host's SIGCHLD handler and its wait() never see it. It calls nothing but
// write(), resets fatal signals (the host may have handlers for them) and leaves no core.
#include "runtime/interpreter/stack_snapshot.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>

#include "base/file_descriptor.h"

namespace multipy::runtime {
namespace {

using base::FileDescriptor;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};

pid_t forkUnseen() {
  constexpr unsigned long kNoSignalAtTheEnd = 0;
  return static_cast<pid_t>(
      ::syscall(SYS_clone, kNoSignalAtTheEnd, nullptr, nullptr, nullptr, nullptr));
}

[[noreturn]] void writeInChild(const InterpreterApi::WithoutGil& api, int file) {
  for (const int fatal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPIPE}) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(fatal, &standard, nullptr);
  }
  ::prctl(PR_SET_DUMPABLE, 0);
  api.writeStacks(file);
  ::syscall(SYS_exit_group, 0);
  __builtin_unreachable();
}

/// All that comes until the other end is closed; false if that takes too long. A process
/// that the host forks at this moment may hold the other end as well, so the end of the
/// child counts, too.
bool readUntilEnd(int file, pid_t child, int& status, bool& ended, std::string& text) {
  const auto deadline = Clock::now() + kPatience;
  char buffer[4096];
  while (Clock::now() < deadline) {
    pollfd ready{file, POLLIN, 0};
    const int events = ::poll(&ready, 1, 20);
    if (events > 0) {
      const ssize_t got = ::read(file, buffer, sizeof buffer);
      if (got == 0) return true;
      if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    } else if (ended) {
      return true;  // and the pipe is empty
    }
    if (!ended) ended = ::waitpid(child, &status, WNOHANG | __WALL) == child;
  }
  return false;
}

template <typename Number>
bool parseNumber(std::string_view text, Number& number, int base = 10) {
  return std::from_chars(text.data(), text.data() + text.size(), number, base).ec == std::errc();
}

// `  File "x.py", line 3 in f`
bool parseFrame(std::string_view line, StackFrame& frame) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ", kFunction = " in ";
  if (!line.starts_with(kFile)) return false;
  line.remove_prefix(kFile.size());
  const std::size_t endOfFile = line.find(kLine);
  if (endOfFile == std::string_view::npos) return false;
  frame.file = line.substr(0, endOfFile);
  line.remove_prefix(endOfFile + kLine.size());
  const std::size_t endOfLine = line.find(kFunction);
  if (endOfLine == std::string_view::npos) return false;
  parseNumber(line.substr(0, endOfLine), frame.line);  // "???" leaves 0
  frame.function = line.substr(endOfLine + kFunction.size());
  return true;
}

// `Thread 0x00007f... (most recent call first):`, with "Current thread" or a name before
// the bracket in some versions.
bool parseThread(std::string_view line, ThreadStack& thread) {
  constexpr std::string_view kNumber = "hread 0x";
  const std::size_t at = line.find(kNumber);
  if (at > std::string_view("Current t").size() || !line.ends_with("(most recent call first):"))
    return false;
  return parseNumber(line.substr(at + kNumber.size()), thread.thread, 16);
}

}  // namespace

std::vector<ThreadStack> parseFaulthandlerText(const std::string& text) {
  std::vector<ThreadStack> threads;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // a line that was cut short
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    ThreadStack thread;
    StackFrame frame;
    if (parseThread(line, thread))
      threads.push_back(std::move(thread));
    else if (!threads.empty() && parseFrame(line, frame))
      threads.back().frames.push_back(std::move(frame));
  }
  std::erase_if(threads, [](const ThreadStack& thread) { return thread.frames.empty(); });
  return threads;
}

StackSnapshot takeStackSnapshot(const InterpreterApi::WithoutGil& api) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {{}, std::string("no snapshot could be taken: pipe: ") + std::strerror(errno)};
  const base::FileDescriptor readEnd(ends[0]);
  base::FileDescriptor writeEnd(ends[1]);
  const pid_t child = forkUnseen();
  if (child == 0) writeInChild(api, writeEnd.get());
  if (child < 0)
    return {{}, std::string("no snapshot could be taken: fork: ") + std::strerror(errno)};
  writeEnd.close();

  std::string text;
  int status = 0;
  bool ended = false;
  const bool complete = readUntilEnd(readEnd.get(), child, status, ended, text);
  if (!complete) ::kill(child, SIGKILL);
  if (!ended)
    while (::waitpid(child, &status, __WALL) < 0 && errno == EINTR) continue;
  StackSnapshot snapshot{parseFaulthandlerText(text), {}};
  if (!complete || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    snapshot.note = "the snapshot's stacks were changing while they were taken; some are missing";
  return snapshot;
}

}  // namespace multipy::runtime
