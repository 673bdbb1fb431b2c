#include "multipy/runtime/stacks.h"

#include <exception>
#include <map>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "process/fork_guard.h"
#include "runtime/interpreter/gil.h"
#include "runtime/interpreter/interpreter_core.h"
#include "runtime/interpreter/stack_snapshot.h"
#include "runtime/interpreter/visit.h"

namespace multipy::runtime {
namespace {

using Deadline = std::chrono::steady_clock::time_point;
using Core = std::shared_ptr<InterpreterCore>;

/// One interpreter is asked for its stacks by a thread of its own, since there is no way
/// to wait for a GIL for a limited time. Who asked may have gone when the answer comes.
class Request {
 public:
  /// The answer, or null if it does not come in time: then the thread leaves the
  /// interpreter at once when it gets in.
  std::unique_ptr<std::vector<ThreadStack>> answerBy(Deadline deadline) {
    const base::Lock lock(mutex_);
    while (!answer_ && answered_.waitUntil(mutex_, deadline)) {
    }
    if (!answer_) givenUp_ = true;
    return std::move(answer_);
  }
  void collect(const Entered& inside) {
    {
      const base::Lock lock(mutex_);
      if (givenUp_) return;
    }
    auto answer = std::make_unique<std::vector<ThreadStack>>();
    inside.python().collectStacks(answer.get());
    const base::Lock lock(mutex_);
    answer_ = std::move(answer);
    answered_.notifyAll();
  }

 private:
  base::Mutex mutex_;
  base::Condition answered_;
  std::unique_ptr<std::vector<ThreadStack>> answer_ MULTIPY_GUARDED_BY(mutex_);
  bool givenUp_ MULTIPY_GUARDED_BY(mutex_) = false;
};

/// Interpreters for whose GIL a thread is waiting, and the requests that it will answer
/// once it has it: those of later dumps join, as a further thread would wait no better.
class Waiting {
 public:
  /// True if the caller has to start the thread.
  bool join(const InterpreterCore* core, const std::shared_ptr<Request>& request) {
    const base::Lock lock(mutex_);
    const auto [place, isFirst] = requests_.try_emplace(core);
    place->second.push_back(request);
    return isFirst;
  }
  /// Whose dump has given up.
  void leave(const InterpreterCore* core, const std::shared_ptr<Request>& request) {
    const base::Lock lock(mutex_);
    const auto place = requests_.find(core);
    if (place != requests_.end()) std::erase(place->second, request);
  }
  std::vector<std::shared_ptr<Request>> end(const InterpreterCore* core) {
    const base::Lock lock(mutex_);
    auto node = requests_.extract(core);
    return node ? std::move(node.mapped()) : std::vector<std::shared_ptr<Request>>();
  }
  static Waiting& instance() {
    static auto* const one = new Waiting;  // threads may outlive the static destructors
    return *one;
  }

 private:
  base::Mutex mutex_;
  std::map<const InterpreterCore*, std::vector<std::shared_ptr<Request>>> requests_
      MULTIPY_GUARDED_BY(mutex_);
};

// On a thread of its own.
void answer(const Core& core) noexcept {
  // Shut down meanwhile: no answer is needed.
  if (!core->tryBeginOperation()) {
    Waiting::instance().end(core.get());
    return;
  }
  try {
    const Entered inside(*core, Entered::GatePassed{}, Entered::Priority::High);
    for (const auto& request : Waiting::instance().end(core.get())) request->collect(inside);
  } catch (const std::bad_alloc&) {
    Waiting::instance().end(core.get());  // no answer: their patience ends
  }
}

/// Null if no thread could be had.
std::shared_ptr<Request> ask(const Core& core) {
  auto request = std::make_shared<Request>();
  if (!Waiting::instance().join(core.get(), request)) return request;
  try {
    std::thread([core] { answer(core); }).detach();
  } catch (const std::exception&) {  // no thread, or no memory for one
    Waiting::instance().end(core.get());
    return nullptr;
  }
  return request;
}

void addSnapshot(const Core& core, InterpreterStacks& stacks) {
  const Visit visit(*core);
  if (!visit) {
    stacks.note = "it is being shut down";
    return;
  }
  StackSnapshot snapshot = takeStackSnapshot(core->api());
  stacks.threads = std::move(snapshot.threads);
  stacks.note = std::move(snapshot.note);
}

}  // namespace

std::vector<InterpreterStacks> dumpStacks(const StackDumpOptions& options) {
  process::refuseInForkedChild("dump the stacks of interpreters");
  const GilReleased outside;
  const Deadline deadline = std::chrono::steady_clock::now() + options.patience;
  const std::vector<Core> cores = InterpreterCore::live();
  std::vector<std::shared_ptr<Request>> requests;
  for (const Core& core : cores) requests.push_back(ask(core));

  std::vector<InterpreterStacks> all;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    InterpreterStacks stacks;
    stacks.interpreter = cores[i]->slot().number();
    if (auto answer = requests[i] ? requests[i]->answerBy(deadline) : nullptr) {
      stacks.threads = std::move(*answer);
    } else {
      if (requests[i]) Waiting::instance().leave(cores[i].get(), requests[i]);
      stacks.busy = true;
      if (options.snapshots)
        addSnapshot(cores[i], stacks);
      else
        stacks.note = "its GIL was not had in time";
    }
    all.push_back(std::move(stacks));
  }
  return all;
}

std::string toText(const StackFrame& frame) {
  return "File \"" + frame.file + "\", line " + std::to_string(frame.line) + ", in " +
         frame.function;
}

std::string toText(const std::vector<InterpreterStacks>& all) {
  std::string text;
  for (const InterpreterStacks& stacks : all) {
    text += "interpreter " + std::to_string(stacks.interpreter);
    if (stacks.busy) text += " (busy: its GIL was not had in time)";
    if (stacks.threads.empty()) text += ": no thread in Python code";
    text += stacks.note.empty() ? "\n" : " (" + stacks.note + ")\n";
    for (const ThreadStack& thread : stacks.threads) {
      text += "  thread " + std::to_string(thread.thread);
      text += thread.name.empty() ? "\n" : " " + thread.name + "\n";
      for (const StackFrame& frame : thread.frames) text += "    " + toText(frame) + "\n";
    }
  }
  return text;
}

}  // namespace multipy::runtime
