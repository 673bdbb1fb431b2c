// Python stacks in torch's error messages and memory snapshots.
//
// torch keeps a list of unwinders and asks every one of them, each of which
// takes its interpreter's GIL: with several interpreters a thread would wait for
// all GILs in turn, holding its own. Here torch has one unwinder, which asks the
// interpreter that the thread is in; frames go back to the one they came from.
#include <torch/csrc/lazy/core/debug_util.h>
#include <torch/csrc/lazy/core/ir_metadata.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/state/process_slots.h"
#include "torch_bridge/symbols/features/tracebacks.h"

namespace multipy::bridge {
namespace {

using Unwinder = torch::CapturedTraceback::Python;
using Frames = std::vector<torch::CapturedTraceback::PyFrame>;

PerInterpreter<std::atomic<Unwinder*>>& unwinders() {
  static auto* const table = new PerInterpreter<std::atomic<Unwinder*>>{};
  return *table;
}

class RoutedUnwinder final : public feature::UnwinderBase<RoutedUnwinder> {
 public:
  static Unwinder* current() { return of(process::Ownership::instance().currentPython()); }
  Frames gather() override {
    Unwinder* const unwinder = current();
    return unwinder ? unwinder->gather() : Frames{};
  }
  void release(Frames& frames) override {
    if (Unwinder* const unwinder = ownerOf(frames)) unwinder->release(frames);
  }
  // Called with the GIL of the interpreter that the thread is in, whose code
  // objects alone may be touched. torch wants one entry per frame: those of other
  // interpreters stay empty.
  void appendSymbolized(const Frames& frames, torch::SymbolizedTracebacks& into) override {
    const process::Ownership& ownership = process::Ownership::instance();
    const InterpreterId slot = ownership.currentPython();
    Unwinder* const unwinder = of(slot);
    for (auto begin = frames.begin(); begin != frames.end();) {
      const bool mine = unwinder && ownership.ownerOf(begin->code) == slot;
      const auto end = std::find_if(begin, frames.end(), [&](const auto& frame) {
        return (unwinder && ownership.ownerOf(frame.code) == slot) != mine;
      });
      if (mine)
        unwinder->appendSymbolized(Frames(begin, end), into);
      else
        into.tracebacks.resize(into.tracebacks.size() + static_cast<std::size_t>(end - begin));
      begin = end;
    }
  }
  int traverse(Frames& frames, torch::CapturedTraceback::visitproc visit, void* argument) override {
    Unwinder* const unwinder = ownerOf(frames);
    return unwinder ? unwinder->traverse(frames, visit, argument) : 0;
  }
  int clear(Frames& frames) override {
    Unwinder* const unwinder = ownerOf(frames);
    return unwinder ? unwinder->clear(frames) : 0;
  }

 private:
  static Unwinder* of(InterpreterId slot) {
    return process::Ownership::instance().isLive(slot) ? unwinders()[slot].load() : nullptr;
  }
  // All frames of one traceback come from one interpreter.
  static Unwinder* ownerOf(const Frames& frames) {
    for (const auto& frame : frames)
      if (frame.code) return of(process::Ownership::instance().ownerOf(frame.code));
    return current();
  }
};

// torch keeps a list; what was in it already is the program's own.
void installUnwinder() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto* const routed = new RoutedUnwinder;
    torch::CapturedTraceback::addPythonUnwinder(routed);
    if (Unwinder* const programs = std::exchange(routed->next_, nullptr))
      unwinders()[InterpreterId::program()].store(programs);
  });
}

void addUnwinder(InterpreterId slot, void* unwinder) {
  if (!slot.isInterpreter()) return;
  unwinders()[slot].store(static_cast<Unwinder*>(unwinder));
  installUnwinder();
}

// std::functions are not atomic, and their code goes away with the library that
// set them: each call holds its own reference, replacing is under the lock.
struct Fetchers {
  using Fetcher = std::function<std::string()>;
  base::ForkMutex lock;
  PerInterpreter<std::shared_ptr<const Fetcher>> bySlot MULTIPY_GUARDED_BY(lock);
  static Fetchers& process() {
    static auto* const one = new Fetchers;
    return *one;
  }
  void set(InterpreterId slot, std::shared_ptr<const Fetcher> fetcher) {
    const base::Lock guard(lock);
    bySlot[slot].swap(fetcher);
  }
  std::shared_ptr<const Fetcher> get(InterpreterId slot) {
    const base::Lock guard(lock);
    return bySlot[slot];
  }
};

std::string fetchStack() {
  const InterpreterId slot = process::Ownership::instance().currentPython();
  const auto fetcher = slot == InterpreterId::none() ? nullptr : Fetchers::process().get(slot);
  return fetcher && *fetcher ? (*fetcher)() : std::string();
}

void setStackFetcher(InterpreterId slot, std::function<std::string()>* fetcher) {
  if (!slot.isInterpreter()) return;
  // The program's can be replaced and not asked for. It serves all: what it asks is routed.
  if (process::Ownership::instance().isLive(InterpreterId::program())) return;
  Fetchers::process().set(slot, std::make_shared<const Fetchers::Fetcher>(std::move(*fetcher)));
  static std::once_flag once;
  std::call_once(once, [] { c10::SetStackTraceFetcher(std::function<std::string()>(fetchStack)); });
}

// torch hands out its std::function to be assigned to; each interpreter gets one
// of its own, and torch's calls the current interpreter's.
using LazyFrames = std::function<std::vector<torch::lazy::SourceLocation>()>;

PerInterpreterAndProcess<LazyFrames>& lazyFrames() {
  static auto* const table = new PerInterpreterAndProcess<LazyFrames>;
  return *table;
}

void* lazyFramesOf(InterpreterId slot) {
  static std::once_flag once;
  std::call_once(once, [] {
    // (Where the program has a Python of its own, what is there is that one's.)
    lazyFrames()[InterpreterId::program()] = std::move(torch::lazy::GetPythonFramesFunction());
    torch::lazy::GetPythonFramesFunction() = [] {
      const InterpreterId current = process::Ownership::instance().currentPython();
      const LazyFrames* const frames = current.isInterpreter() ? &lazyFrames()[current] : nullptr;
      return frames && *frames ? (*frames)() : std::vector<torch::lazy::SourceLocation>{};
    };
  });
  return &lazyFrames()[slot];
}

}  // namespace

void addTracebackRoutes(TorchRoutes& routes) {
  routes.unwinder = addUnwinder;
  routes.stackFetcher = setStackFetcher;
  routes.lazyFrames = lazyFramesOf;
}

void adoptTracebacks() {
  installUnwinder();
  lazyFramesOf(InterpreterId::program());
}

void purgeTracebacks(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  unwinders()[slot].store(nullptr);
  Fetchers::process().set(slot, nullptr);
  lazyFrames()[slot] = nullptr;
}

}  // namespace multipy::bridge
