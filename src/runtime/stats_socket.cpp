#include "multipy/runtime/stats_socket.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "multipy/runtime/Exception.h"
#include "multipy/runtime/interpreter_manager.h"
#include "process/fork_guard.h"
#include "runtime/manager_state.h"
#include "runtime/pool/pool_page.h"
#include "runtime/pool/stats_folder.h"

namespace multipy::runtime {
namespace {

using namespace std::chrono_literals;
using base::FileDescriptor;
using Clock = std::chrono::steady_clock;

constexpr auto kBetweenPages = 1s;

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw EnvironmentError("cannot show a pool's figures at " + path.string() + ": " +
                         std::strerror(errno) +
                         "; make room and have the folder writable, or set XDG_RUNTIME_DIR to "
                         "another one");
}

std::filesystem::path pathFor(const std::string& name) {
  process::refuseInForkedChild("show a pool's figures");
  const auto isGood = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  if (name.empty() || !std::ranges::all_of(name, isGood))
    throw InvalidArgument("StatsSocket: the name is '" + name +
                          "', expected letters, digits, '_', '.' and '-'");
  return madeStatsFolder() / (std::to_string(::getpid()) + "-" + name);
}

FileDescriptor listening(const std::filesystem::path& path) {
  const sockaddr_un address = socketAddress(path);
  FileDescriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) fail(path);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  // A file that an earlier process with this number has left does not answer; one that this process
  // listens at is kept.
  const FileDescriptor tried(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!tried) fail(path);
  if (::connect(tried.get(), generic, sizeof address) == 0)
    throw InvalidArgument("StatsSocket: there is one at " + path.string() +
                          " already; give each pool of a process a name of its own");
  if (errno == ECONNREFUSED) ::unlink(path.c_str());
  if (::bind(made.get(), generic, sizeof address) != 0) fail(path);
  // Until it listens none can connect.
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(made.get(), 16) != 0) {
    const int why = errno;
    ::unlink(path.c_str());
    errno = why;
    fail(path);
  }
  return made;
}

}  // namespace

class StatsSocket::Server {
 public:
  Server(std::shared_ptr<ManagerState> manager, const std::string& name)
      : manager_(std::move(manager)),
        path_(pathFor(name)),
        title_(name + ", process " + std::to_string(::getpid())),
        socket_(listening(path_)),
        end_(::eventfd(0, EFD_CLOEXEC)) {
    try {
      if (!end_) fail(path_);
      thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
      ::unlink(path_.c_str());
      throw EnvironmentError("cannot show a pool's figures at " + path_.string() +
                             ": no thread is to be had: " + error.what() +
                             "; raise the limit of threads (ulimit -u)");
    } catch (...) {
      ::unlink(path_.c_str());
      throw;
    }
  }
  ~Server() {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(end_.get(), &one, sizeof one));
    thread_.join();
    ::unlink(path_.c_str());
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void serve() noexcept {
    for (;;) try {
        if (!serveOnce()) return;
      } catch (const std::bad_alloc&) {
        clients_.clear();  // they may come again
      }
  }

  /// Until something happens. False: it is the end.
  bool serveOnce() {
    std::vector<pollfd> waited{{end_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
    for (const FileDescriptor& client : clients_) waited.push_back({client.get(), POLLIN, 0});
    int patience = -1;
    if (!clients_.empty())
      patience = static_cast<int>(std::max<std::int64_t>(
          std::chrono::ceil<std::chrono::milliseconds>(next_ - Clock::now()).count(), 0));
    if (::poll(waited.data(), waited.size(), patience) < 0 && errno != EINTR) return false;
    if (waited[0].revents != 0) return false;
    // What a client sends is of no account; one that has gone has nothing more to send.
    for (std::size_t i = waited.size(); i-- > 2;) {
      char ignored[64];
      if (waited[i].revents != 0 &&
          ::recv(waited[i].fd, ignored, sizeof ignored, MSG_DONTWAIT) <= 0)
        clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i - 2));
    }
    if (waited[1].revents != 0) accept();
    if (!clients_.empty() && Clock::now() >= next_) showAll();
    return true;
  }

  void accept() {
    FileDescriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) return;
    const bool isFirst = clients_.empty();
    clients_.push_back(std::move(client));
    if (!isFirst) return;
    before_.reset();
    next_ = Clock::now();
  }

  void showAll() {
    next_ = Clock::now() + kBetweenPages;
    std::string page = title_ + ": ";
    if (manager_->isOver()) {
      page += "its InterpreterManager has been destroyed\n";
    } else {
      PoolMoment now{manager_->stats(), manager_->health(), Clock::now()};
      page += poolPage(now, before_ ? &*before_ : nullptr);
      before_ = std::move(now);
    }
    page += '\f';
    // One that does not read is let go: nothing waits for it.
    std::erase_if(clients_, [&](const FileDescriptor& client) {
      return ::send(client.get(), page.data(), page.size(), MSG_NOSIGNAL) !=
             static_cast<ssize_t>(page.size());
    });
  }

  const std::shared_ptr<ManagerState> manager_;
  const std::filesystem::path path_;
  const std::string title_;
  const FileDescriptor socket_, end_;

  // --- of the thread
  std::vector<FileDescriptor> clients_;
  std::optional<PoolMoment> before_;
  Clock::time_point next_;
  std::thread thread_;
};

StatsSocket::StatsSocket(const InterpreterManager& manager, const std::string& name)
    : server_(std::make_unique<Server>(manager.state_, name)) {}

StatsSocket::~StatsSocket() {
  if (process::inForkedChild()) static_cast<void>(server_.release());  // all of it is the parent's
}

const std::filesystem::path& StatsSocket::path() const noexcept { return server_->path(); }

}  // namespace multipy::runtime
