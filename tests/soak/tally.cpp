#include "tally.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <typeinfo>

#include "checks.h"

namespace multipy::soak {
namespace {

constexpr long kPrinted = 10;  // of each type of error

std::string typeOf(const std::exception& error) {
  if (dynamic_cast<const WrongAnswer*>(&error)) return "wrong answer";
  if (const auto* raised = dynamic_cast<const runtime::PythonException*>(&error))
    return "PythonException " + raised->type();
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() : typeid(error).name();
}

}  // namespace

Tally::Tally(const Acts& acts) : acts_(acts), rows_(acts.size()) {}

void Tally::perform(std::size_t act, World& world, std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  bool wrong = false;
  try {
    Random random(seed);
    acts_[act].perform(world, random);
  } catch (const std::exception& error) {
    wrong = true;
    note(std::string(acts_[act].name) + ", seed " + std::to_string(seed), typeOf(error),
         error.what());
  }
  count(act, std::chrono::steady_clock::now() - start, wrong);
}

void Tally::failed(std::string_view where, const std::exception& error) {
  note(std::string(where), typeOf(error), error.what());
}

void Tally::count(std::size_t act, Duration duration, bool wrong) {
  const std::lock_guard lock(mutex_);
  Row& row = rows_[act];
  ++row.done;
  row.wrong += wrong;
  row.total += duration;
  row.longest = std::max(row.longest, duration);
}

void Tally::note(const std::string& where, const std::string& type, const std::string& text) {
  const std::lock_guard lock(mutex_);
  const long count = ++types_[type];
  if (count <= kPrinted)
    std::fprintf(stderr, "%s: %s: %.3000s\n%s", where.c_str(), type.c_str(), text.c_str(),
                 count == kPrinted ? "(further ones of this type are only counted)\n" : "");
}

long Tally::done() const {
  const std::lock_guard lock(mutex_);
  long done = 0;
  for (const Row& row : rows_) done += row.done;
  return done;
}

long Tally::wrong() const {
  const std::lock_guard lock(mutex_);
  long wrong = 0;
  for (const auto& [type, count] : types_) wrong += count;
  return wrong;
}

std::string Tally::errorsByType() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [type, count] : types_)
    text += (text.empty() ? "" : ", ") + type + " " + std::to_string(count);
  return text;
}

std::string Tally::table() const {
  const std::lock_guard lock(mutex_);
  std::string text = "act                                  done     wrong   mean ms longest ms\n";
  for (std::size_t act = 0; act < acts_.size(); ++act) {
    const Row& row = rows_[act];
    char line[160];
    std::snprintf(line, sizeof line, "%-32s %9ld %9ld %9.2f %10.0f\n",
                  std::string(acts_[act].name).c_str(), row.done, row.wrong,
                  row.done ? row.total.count() / static_cast<double>(row.done) : 0,
                  row.longest.count());
    text += line;
  }
  return text;
}

}  // namespace multipy::soak
