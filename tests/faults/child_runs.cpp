#include "child_runs.h"

#include <dirent.h>
#include <execinfo.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace multipy::testing_support {
namespace {

constexpr int kThrown = 99;

void writeStack() {
  std::array<void*, 60> frames;
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), frames.size()), STDERR_FILENO);
}

void crashed(int number) {
  static const char text[] = "\ncrashed:\n";
  [[maybe_unused]] const auto done = ::write(STDERR_FILENO, text, sizeof text - 1);
  writeStack();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

[[noreturn]] void terminated() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    std::fprintf(stderr, "\nstd::terminate\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "\nstd::terminate: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "\nstd::terminate: a foreign exception\n");
  }
  std::abort();
}

[[noreturn]] void child(const std::function<int()>& work, unsigned seconds, int output) {
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::close(output);
  std::array<void*, 1> frame;
  ::backtrace(frame.data(), frame.size());  // loads what it needs while there is memory
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) ::signal(number, crashed);
  std::set_terminate(terminated);
  ::alarm(seconds);
  int status = kThrown;
  try {
    status = work();
  } catch (const std::exception& error) {  // it must not come back to who runs the tests
    std::fprintf(stdout, "thrown: %s\n", error.what());
  }
  std::fflush(stdout);
  std::fflush(stderr);
  ::_exit(status);
}

std::size_t countEntries(const char* directory) {
  DIR* const open = ::opendir(directory);
  if (!open) throw std::runtime_error(std::string("cannot read ") + directory);
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(open)) count += entry->d_name[0] != '.';
  ::closedir(open);
  return count;
}

}  // namespace

bool ChildRun::succeeded() const { return exitedWith(0); }

testing::AssertionResult ChildRun::exitedWith(int wanted) const {
  if (WIFEXITED(status) && WEXITSTATUS(status) == wanted) return testing::AssertionSuccess();
  return testing::AssertionFailure() << ending() << "\n" << text;
}

std::string ChildRun::ending() const {
  if (WIFEXITED(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

ChildRun runInChild(const std::function<int()>& work, unsigned seconds) {
  std::fflush(stdout);
  std::fflush(stderr);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t id = ::fork();
  if (id < 0) throw std::runtime_error("no child");
  if (id == 0) {
    ::close(ends[0]);
    child(work, seconds, ends[1]);
  }
  ::close(ends[1]);
  ChildRun run;
  std::array<char, 4096> buffer;
  for (ssize_t got; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    run.text.append(buffer.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(id, &run.status, 0);
  return run;
}

std::size_t openDescriptors() { return countEntries("/proc/self/fd") - 1; }  // its own
std::string listDescriptors() {
  std::string list;
  for (int file = 0; file < 4096; ++file) {
    std::array<char, 4096> target;
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
    if (length >= 0) list += std::to_string(file) + " " + std::string(target.data(), length) + "\n";
  }
  return list;
}
std::size_t runningThreads() { return countEntries("/proc/self/task"); }

bool threadsEndUntil(std::size_t most) {
  for (int left = 2000; left > 0; --left) {
    if (runningThreads() <= most) return true;
    ::usleep(1000);
  }
  return false;
}

}  // namespace multipy::testing_support
