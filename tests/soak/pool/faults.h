// What was not as it should be, by its kind.
//
// Threads: every member from any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace multipy::soak::pool {

class Faults {
 public:
  /// Counts one, and prints the first few of each kind to stderr.
  void note(const std::string& kind, const std::string& text);
  /// "wrong answer 3, lost call 1", or empty.
  std::string byKind() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, long> kinds_;  // guarded by mutex_
};

}  // namespace multipy::soak::pool
