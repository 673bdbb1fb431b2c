// How far a piece of work is: a bar that is redrawn where standard error is a
// terminal, a line at each quarter where it is a file or a pipe.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace sentence_search {

/// Threads: advance() from any. Ends its line when it is destroyed.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();

 private:
  void draw();

  const std::string what_;
  const std::size_t total_;
  const bool terminal_;
  std::mutex mutex_;
  std::size_t done_ = 0;        // guarded by mutex_
  std::size_t drawnSteps_ = 0;  // guarded by mutex_
};

}  // namespace sentence_search
