#include "progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace sentence_search {
namespace {
constexpr std::size_t kBarWidth = 30;
constexpr std::size_t kLines = 4;
}  // namespace

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO) == 1) {
  if (terminal_) draw();
}

Progress::~Progress() {
  if (terminal_) std::fputc('\n', stderr);
}

void Progress::advance() {
  const std::lock_guard lock(mutex_);
  ++done_;
  const std::size_t steps = done_ * (terminal_ ? kBarWidth : kLines) / total_;
  if (steps == drawnSteps_) return;
  drawnSteps_ = steps;
  draw();
}

void Progress::draw() {
  if (terminal_) {
    std::string bar(drawnSteps_, '#');
    bar.resize(kBarWidth, '.');
    std::fprintf(stderr, "\r%-32s [%s] %zu/%zu", what_.c_str(), bar.c_str(), done_, total_);
  } else {
    std::fprintf(stderr, "%s: %zu/%zu\n", what_.c_str(), done_, total_);
  }
  std::fflush(stderr);
}

}  // namespace sentence_search
