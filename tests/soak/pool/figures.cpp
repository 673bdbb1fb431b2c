#include "figures.h"

#include <cstdio>
#include <sstream>
#include <utility>

#include "../checks.h"
#include "forms.h"
#include "metrics_page.h"

namespace multipy::soak::pool {
namespace {

using runtime::InterpreterState;
using runtime::PoolStats;

std::uint64_t callsOf(const PoolStats& stats) {
  std::uint64_t calls = stats.callsOfRetired;
  for (const auto& each : stats.interpreters) calls += each.calls;
  return calls;
}

std::map<std::string, std::uint64_t> errorsOf(const PoolStats& stats) {
  auto errors = stats.errorsOfRetired;
  for (const auto& each : stats.interpreters)
    for (const auto& [type, count] : each.errors) errors[type] += count;
  return errors;
}

std::size_t howManyAre(InterpreterState state, const PoolStats& stats) {
  std::size_t count = 0;
  for (const auto& each : stats.interpreters) count += each.state == state;
  return count;
}

constexpr const char* kReasons[runtime::kReplacementReasons] = {
    "by hand", "calls", "age", "heap", "interrupted", "condemned", "broken"};

}  // namespace

void Figures::look() {
  ++looks_;
  last_ = pool_.manager->stats();
  checkStats(last_);
  checkPage(last_);
  const runtime::PoolHealth health = pool_.manager->health();
  notReady_ += !health.ready;
  for (const std::string& reason : health.reasons)
    if (reason.find("have a call that does not end") == std::string::npos)
      pool_.faults.note("health", reason);
  checkOldest();
}

void Figures::checkStats(const PoolStats& stats) {
  Counters now{{"calls", static_cast<double>(callsOf(stats))},
               {"failed replacements", static_cast<double>(stats.failedReplacements)},
               {"calls of those that are gone", static_cast<double>(stats.callsOfRetired)},
               {"queue full", static_cast<double>(stats.ended.queueFull)},
               {"deadlines in line", static_cast<double>(stats.ended.deadlineInLine)},
               {"cancelled in line", static_cast<double>(stats.ended.cancelledInLine)},
               {"deadlines running", static_cast<double>(stats.ended.deadlineRunning)},
               {"cancelled running", static_cast<double>(stats.ended.cancelledRunning)},
               {"sum of queue times", static_cast<double>(stats.queueTime.sum.count())},
               {"sum of run times", static_cast<double>(stats.runTime.sum.count())}};
  for (std::size_t i = 0; i < runtime::kReplacementReasons; ++i)
    now[std::string("replaced, ") + kReasons[i]] = static_cast<double>(stats.replacements[i]);
  for (std::size_t i = 0; i < stats.queueTime.counts.size(); ++i) {
    now["queue times " + std::to_string(i)] = static_cast<double>(stats.queueTime.counts[i]);
    now["run times " + std::to_string(i)] = static_cast<double>(stats.runTime.counts[i]);
  }
  for (const auto& [type, count] : errorsOf(stats))
    now["errors " + type] = static_cast<double>(count);
  mayNotFall(stats_, std::move(now), "stats()");
  const std::size_t serving = howManyAre(InterpreterState::Serving, stats);
  // While one takes another's place both are seen to serve.
  if (serving > most_ + 1)
    pool_.faults.note("figures", std::to_string(serving) + " interpreters serve at once");
  if (stats.failedReplacements > 0)
    pool_.faults.note("figures", "an interpreter could not be started");
}

void Figures::checkPage(const PoolStats& stats) {
  try {
    MetricsPage page(runtime::prometheusText(stats, "soak"));
    mayNotFall(page_, page.counters(), "prometheusText()");
  } catch (const WrongAnswer& wrong) {
    pool_.faults.note("prometheusText()", wrong.what());
  }
}

void Figures::mayNotFall(Counters& before, Counters now, const std::string& where) {
  for (const auto& [name, value] : now)
    if (const auto earlier = before.find(name); earlier != before.end() && value < earlier->second)
      pool_.faults.note("counter that went backwards", where + ": " + name + " from " +
                                                           std::to_string(earlier->second) +
                                                           " to " + std::to_string(value));
  before = std::move(now);
}

// Once for each call.
void Figures::checkOldest() {
  const auto oldest = pool_.ledger.oldest();
  if (!oldest || oldest->seconds < longest_ || oldest->id == lastOldest_) return;
  lastOldest_ = oldest->id;
  pool_.faults.note("call that does not end", std::to_string(oldest->id) + ", " + oldest->what +
                                                  ", for " + std::to_string(oldest->seconds) +
                                                  " s");
}

// A forgotten call was made, or it was cancelled in line.
void Figures::compareWithOutcomes() {
  last_ = pool_.manager->stats();
  const PoolStats& stats = last_;
  const Ledger::Counts book = pool_.ledger.counts();
  const Ledger::Ends sessions = Forms::sessionsNotHad();
  const auto of = [](const Ledger::Ends& ends, End end) {
    return ends[static_cast<std::size_t>(end)];
  };
  const auto compare = [&](const std::string& what, auto counted, long expected, long more = 0) {
    const long found = static_cast<long>(counted);
    if (found < expected || found > expected + more)
      pool_.faults.note("figures", what + ": the pool has counted " + std::to_string(found) +
                                       ", expected " + std::to_string(expected) +
                                       (more ? " to " + std::to_string(expected + more) : ""));
  };
  const auto notBegun = [&](End end) { return of(book.pool, end) + of(sessions, end); };
  compare("line full", stats.ended.queueFull, notBegun(End::QueueFull));
  compare("deadlines in line", stats.ended.deadlineInLine, notBegun(End::DeadlineInLine));
  compare("cancelled in line", stats.ended.cancelledInLine, notBegun(End::CancelledInLine),
          book.forgotten);
  compare("deadlines while running", stats.ended.deadlineRunning,
          of(book.pool, End::DeadlineRunning));
  compare("cancelled while running", stats.ended.cancelledRunning,
          of(book.pool, End::CancelledRunning), book.forgotten);
  auto errors = errorsOf(stats);
  compare("ValueErrors", errors["ValueError"], of(book.pool, End::Raised), book.forgotten);
  compare("types of errors", errors.size(), 1);
  long sessionsNotBegun = 0;
  for (const long count : sessions) sessionsNotBegun += count;
  const long notMade = static_cast<long>(stats.ended.queueFull + stats.ended.deadlineInLine +
                                         stats.ended.cancelledInLine) -
                       sessionsNotBegun;
  compare("calls", callsOf(stats), book.opened - notMade);
  compare("queue times", stats.queueTime.total(), book.opened - notMade);
  for (const std::size_t waiting : stats.waiting) compare("waiting", waiting, 0);
  for (const auto& each : stats.interpreters) {
    compare("users of an interpreter", each.users, 0);
    compare("calls under way in an interpreter", each.running.size(), 0);
  }
}

std::string Figures::summary() const {
  std::ostringstream text;
  text << howManyAre(InterpreterState::Serving, last_) << " serve, "
       << howManyAre(InterpreterState::Leaving, last_) << " leave, "
       << howManyAre(InterpreterState::Condemned, last_) << " condemned; "
       << last_.waiting[0] + last_.waiting[1] + last_.waiting[2] << " wait; " << pool_.ledger.open()
       << " open";
  return text.str();
}

std::string Figures::totals() const {
  const Ledger::Counts book = pool_.ledger.counts();
  std::ostringstream text;
  text << "outcomes of calls of the pool:";
  for (std::size_t end = 0; end < kEnds; ++end)
    text << (end ? ", " : " ") << nameOf(static_cast<End>(end)) << " " << book.pool[end];
  text << ", not waited for " << book.forgotten << "\nin sessions:";
  for (const End end : {End::Value, End::Raised})
    text << (end == End::Value ? " " : ", ") << nameOf(end) << " "
         << book.session[static_cast<std::size_t>(end)];
  long notHad = 0;
  for (const long count : Forms::sessionsNotHad()) notHad += count;
  text << "; sessions that were not had " << notHad << "\ninterpreters replaced:";
  for (std::size_t i = 0; i < runtime::kReplacementReasons; ++i)
    text << (i ? ", " : " ") << kReasons[i] << " " << last_.replacements[i];
  text << "\nlooked at the figures " << looks_ << " times, " << notReady_ << " times not ready";
  return text.str();
}

}  // namespace multipy::soak::pool
