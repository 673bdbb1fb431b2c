// How often each act was done, how long it took, and what went wrong in it.
//
// Threads: every member from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "acts.h"

namespace multipy::soak {

class Tally {
 public:
  explicit Tally(const Acts& acts);

  /// Does the act, counts it, and prints the first few errors of each type to stderr.
  void perform(std::size_t act, World& world, std::uint64_t seed);
  /// Counts what went wrong outside of acts, and prints it.
  void failed(std::string_view where, const std::exception& error);

  long done() const;
  long wrong() const;  // answers and errors
  /// "wrong answer 3, PythonException RuntimeError 1", or empty.
  std::string errorsByType() const;
  /// A line for each act: how often, mean and longest time, errors.
  std::string table() const;

 private:
  using Duration = std::chrono::duration<double, std::milli>;
  struct Row {
    long done = 0, wrong = 0;
    Duration total{}, longest{};
  };
  void count(std::size_t act, Duration duration, bool wrong);
  void note(const std::string& where, const std::string& type, const std::string& text);

  const Acts& acts_;
  mutable std::mutex mutex_;
  std::vector<Row> rows_;              // guarded by mutex_
  std::map<std::string, long> types_;  // guarded by mutex_
};

}  // namespace multipy::soak
