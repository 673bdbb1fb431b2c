// What the interpreters print, for the act that looks for it.
//
// Threads: any.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "multipy/runtime/interpreter_options.h"

namespace multipy::soak {

class PrintedLines {
 public:
  using Lines = std::vector<std::string>;

  /// For OutputHook. A line is kept if it begins with kMark; others go to stderr.
  void add(runtime::OutputStream stream, std::string_view line);
  /// Removes and gives the lines that begin with `token`, once there are `count` of them, or
  /// those that have come after ten seconds.
  Lines take(runtime::OutputStream stream, const std::string& token, std::size_t count);

  static constexpr std::string_view kMark =
      "soak-line ";  // tokens begin with it, and have no space more

 private:
  using Key = std::pair<runtime::OutputStream, std::string>;
  std::size_t count(const Key& key);

  std::mutex mutex_;
  std::map<Key, Lines> lines_;  // guarded by mutex_
};

}  // namespace multipy::soak
