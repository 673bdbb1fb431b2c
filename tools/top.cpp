// multipy top: shows the pool of a program that runs (StatsSocket).
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "base/file_descriptor.h"
#include "multipy/runtime/Exception.h"
#include "runtime/pool/stats_folder.h"
#include "tools/command.h"
#include "tools/options.h"

namespace multipy::tools {
namespace {

namespace fs = std::filesystem;

// Takes the screen that was there before away.
constexpr const char* kClear = "\033[H\033[2J";

/// A connection to a program, if one answers there.
class Connection {
 public:
  explicit Connection(const fs::path& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = runtime::socketAddress(path);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    if (socket_ && ::connect(socket_.get(), generic, sizeof address) == 0) return;
    isStale_ = errno == ECONNREFUSED;
    socket_ = {};
  }

  bool isOpen() const noexcept { return static_cast<bool>(socket_); }
  /// Its program has ended without removing it.
  bool isStale() const noexcept { return isStale_; }

  /// The next page. Empty: the program has ended, or has closed it.
  std::string page() {
    for (;;) {
      if (const auto end = received_.find('\f'); end != std::string::npos) {
        std::string page = received_.substr(0, end);
        received_.erase(0, end + 1);
        return page;
      }
      char some[4096];
      const ssize_t n = ::recv(socket_.get(), some, sizeof some, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return {};
      received_.append(some, static_cast<std::size_t>(n));
    }
  }

 private:
  base::FileDescriptor socket_;
  bool isStale_ = false;
  std::string received_;
};

/// Those that answer. What programs have left that have ended is removed.
std::vector<fs::path> shownPools() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runtime::statsFolder(), error)) {
    if (!entry.is_socket(error)) continue;
    const Connection tried(entry.path());
    if (tried.isOpen()) found.push_back(entry.path());
    if (tried.isStale()) ::unlink(entry.path().c_str());
  }
  std::ranges::sort(found);
  return found;
}

/// "1234-encoder" by "1234", "encoder" or "1234-encoder".
bool isMeant(const fs::path& socket, const std::string& word) {
  const std::string name = socket.filename();
  const auto dash = name.find('-');
  return word == name || word == name.substr(0, dash) ||
         (dash != std::string::npos && word == name.substr(dash + 1));
}

std::string listOf(const std::vector<fs::path>& sockets) {
  std::string text;
  for (const fs::path& each : sockets) text += "  " + each.filename().string() + "\n";
  return text;
}

fs::path chosen(const Words& words) {
  if (words.size() > 1) throw UsageError("expected one name, found " + words[1] + " as well");
  std::vector<fs::path> shown = shownPools();
  if (shown.empty())
    throw runtime::EnvironmentError(
        "no program of this user shows its pool (looked in " + runtime::statsFolder().string() +
        "); a program does so by a multipy::runtime::StatsSocket, docs/operations.md tells how");
  std::vector<fs::path> meant = shown;
  if (!words.empty())
    std::erase_if(meant, [&](const fs::path& p) { return !isMeant(p, words[0]); });
  if (meant.size() == 1) return meant[0];
  if (meant.empty())
    throw UsageError("nothing is called '" + words[0] + "'; there are\n" + listOf(shown));
  throw UsageError("which one?\n" + listOf(meant));
}

int top(const Words& words) {
  const Options options(words, {{"--once", false}, {"--list", false}});
  if (options.has("--list")) {
    std::cout << listOf(shownPools());
    return kDone;
  }
  Connection connection(chosen(options.words()));
  if (!connection.isOpen())
    throw runtime::EnvironmentError("the program has ended just now; choose another one");
  const bool once = options.has("--once");
  const bool isTerminal = ::isatty(STDOUT_FILENO) == 1 && !once;
  if (once) connection.page();  // rates are those since an earlier one
  for (std::string page = connection.page(); !page.empty(); page = connection.page()) {
    std::cout << (isTerminal ? kClear : "") << page << std::flush;
    if (once) return kDone;
    if (!isTerminal) std::cout << "\n";
    if (!std::cout) return kFailed;
  }
  std::cout << "the program shows its pool no more\n";
  return once ? kFailed : kDone;
}

}  // namespace

const Command kTopCommand = {"top", "shows what the pool of a program that runs is doing",
                             R"(usage: multipy top [NAME] [--once] [--list]

Shows the pool of a program of this user that offers it (a StatsSocket), anew each
second until it ends or Ctrl-C: each interpreter, what it does and for how long, the
rates of calls and errors since the page before, times in line, for the GIL and running.

  NAME    the pool's name, or the process's number; not needed if there is only one
  --once  one page, after a second, and no more
  --list  the names of those that there are
)",
                             /*makesInterpreters=*/false, top};

}  // namespace multipy::tools
