#include "multipy/runtime/stacks.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/fork_guard.h"
#include "runtime/gil.h"
#include "runtime/interpreter_core.h"
#include "runtime/stack_snapshot.h"

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
    std::unique_lock lock(mutex_);
    answered_.wait_until(lock, deadline, [&] { return answer_ != nullptr; });
    if (!answer_) givenUp_ = true;
    return std::move(answer_);
  }
  /// With the GIL.
  void collect(const InterpreterApi& api) {
    {
      const std::lock_guard lock(mutex_);
      if (givenUp_) return;
    }
    auto answer = std::make_unique<std::vector<ThreadStack>>();
    api.collectStacks(answer.get());
    const std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
    answered_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable answered_;
  std::unique_ptr<std::vector<ThreadStack>> answer_;  // guarded by mutex_
  bool givenUp_ = false;                              // guarded by mutex_
};

/// Interpreters that a thread is waiting for: those that have been busy since an earlier
/// dump. A further thread would wait no better.
class Waiting {
 public:
  bool begin(const InterpreterCore* core) {
    const std::lock_guard lock(mutex_);
    return cores_.insert(core).second;
  }
  void end(const InterpreterCore* core) {
    const std::lock_guard lock(mutex_);
    cores_.erase(core);
  }
  static Waiting& instance() {
    static auto* const one = new Waiting;  // threads may outlive the static destructors
    return *one;
  }

 private:
  std::mutex mutex_;
  std::set<const InterpreterCore*> cores_;  // guarded by mutex_
};

void answer(const Core& core, const std::shared_ptr<Request>& request) {
  // Shut down meanwhile: nobody needs an answer.
  if (core->tryBeginOperation()) {
    const Entered inside(*core, Entered::GatePassed{});
    request->collect(core->api());
  }
  Waiting::instance().end(core.get());
}

/// Null if it is being waited for already, or no thread could be had.
std::shared_ptr<Request> ask(const Core& core) {
  if (!Waiting::instance().begin(core.get())) return nullptr;
  auto request = std::make_shared<Request>();
  try {
    std::thread([core, request] { answer(core, request); }).detach();
  } catch (const std::system_error&) {
    Waiting::instance().end(core.get());
    return nullptr;
  }
  return request;
}

void addSnapshot(const Core& core, InterpreterStacks& stacks) {
  if (!core->tryBeginOperation()) {
    stacks.note = "it is being shut down";
    return;
  }
  StackSnapshot snapshot = takeStackSnapshot(core->api());
  core->endOperation();
  stacks.threads = std::move(snapshot.threads);
  stacks.note = std::move(snapshot.note);
}

}  // namespace

std::vector<InterpreterStacks> dumpStacks(const StackDumpOptions& options) {
  refuseInForkedChild("dump the stacks of interpreters");
  const GilReleased outside;
  const Deadline deadline = std::chrono::steady_clock::now() + options.patience;
  const std::vector<Core> cores = InterpreterCore::live();
  std::vector<std::shared_ptr<Request>> requests;
  for (const Core& core : cores) requests.push_back(ask(core));

  std::vector<InterpreterStacks> all;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    InterpreterStacks stacks;
    stacks.interpreter = cores[i]->slot();
    if (auto answer = requests[i] ? requests[i]->answerBy(deadline) : nullptr) {
      stacks.threads = std::move(*answer);
    } else {
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
      for (const StackFrame& frame : thread.frames)
        text += "    File \"" + frame.file + "\", line " + std::to_string(frame.line) + ", in " +
                frame.function + "\n";
    }
  }
  return text;
}

}  // namespace multipy::runtime
