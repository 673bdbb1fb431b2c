// Shows a manager's pool to `multipy top`, in another terminal of the same user.
//
//   const StatsSocket shown(manager, "encoder");
//   $ multipy top encoder
//
// Nothing is shown unless a program makes one. It is a socket of the file system,
// `<folder>/<process id>-<name>`, of mode 0600 in a folder of mode 0700: $XDG_RUNTIME_DIR/multipy,
// else `/run/user/<uid>/multipy`, else `/tmp/multipy-<uid>`. Who connects gets the page as text
// once a second, each ended by a form feed, and sends nothing.
//
// Life: it may outlive the manager, and shows then that this has gone. The destructor closes it and
// removes the file, not so in a child of fork().
//
// Threads: made and destroyed by any thread; a thread of its own serves those who connect. That
// takes no GIL.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace multipy::runtime {

class InterpreterManager;

class StatsSocket {
 public:
  /// `name`: letters, digits, '_', '.', '-'; one of the same name in this process is replaced only
  /// once it has gone. Throws InvalidArgument, and EnvironmentError where the folder or the socket
  /// cannot be made.
  explicit StatsSocket(const InterpreterManager& manager, const std::string& name = "pool");
  ~StatsSocket();
  StatsSocket(const StatsSocket&) = delete;
  StatsSocket& operator=(const StatsSocket&) = delete;

  const std::filesystem::path& path() const noexcept;  // of the socket

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace multipy::runtime
