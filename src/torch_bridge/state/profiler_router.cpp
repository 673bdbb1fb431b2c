// torch's profiler records a trace with kineto, which has one trace per process
// and does not expect two threads to begin or end one at the same moment (it
// crashes). In a process of its own an interpreter's GIL sees to that; here one
// interpreter at a time may profile, and others get an error that says so. Nor does
// it expect a trace to begin that was not prepared (it crashes), as one would whose
// preparation was refused: leaving its `with` block begins and ends it.
#include "torch_bridge/state/profiler_router.h"

#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/profiler/kineto_shim.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/interpreter_id.h"
#include "process/function_per_interpreter.h"
#include "torch_bridge/symbols/features/tracers.h"
#include "torch_bridge/symbols/replaced_words.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/symbols/torch_functions.h"

namespace multipy::bridge {
namespace {

namespace profiling = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using Activities = std::set<ActivityType>;
using Scopes = std::unordered_set<at::RecordScope>;

// ------------------------------------------------------- one trace at a time

std::string nameOf(InterpreterId slot) {
  return slot == InterpreterId::program() ? "the program's own Python"
                                          : "interpreter " + std::to_string(slot.number());
}

class Trace {
 public:
  static Trace& process() {
    static auto* const one = new Trace;
    return *one;
  }

  // Throws if another interpreter has it, or if this one was to have it and has not.
  void take(InterpreterId slot, bool hasPrepared) {
    InterpreterId other = InterpreterId::none();
    {
      const base::Lock guard(lock_);
      if (slot == InterpreterId::program() && std::exchange(programMayHavePrepared_, false))
        hasPrepared = false;
      if (holder_ == slot || (holder_ == InterpreterId::none() && !hasPrepared)) {
        holder_ = slot;
        return;
      }
      other = holder_;
    }
    TORCH_CHECK(other != InterpreterId::none(), "starting the profiler in ", nameOf(slot),
                ": its trace was not prepared, which was refused while another interpreter of this "
                "process was profiling. torch has one profiler trace per process: profile in one "
                "interpreter at a time");
    TORCH_CHECK(false, "starting the profiler in ", nameOf(slot), ": ", nameOf(other),
                " of this process is profiling. torch has one profiler trace per process: profile "
                "in one interpreter at a time");
  }
  void begun(InterpreterId slot) {
    const base::Lock guard(lock_);
    if (holder_ == slot) ++running_;
  }
  // One of the holder's traces has ended, or has not begun.
  void ended(InterpreterId slot, bool wasRunning) {
    const base::Lock guard(lock_);
    if (holder_ != slot) return;
    if (wasRunning && running_ > 0) --running_;
    if (running_ == 0) holder_ = InterpreterId::none();
  }
  bool isOnlyPreparedBy(InterpreterId slot) {
    const base::Lock guard(lock_);
    return holder_ == slot && running_ == 0;
  }
  void release(InterpreterId slot) {
    const base::Lock guard(lock_);
    if (holder_ != slot) return;
    holder_ = InterpreterId::none();
    running_ = 0;
  }
  bool knows(InterpreterId slot) {
    const base::Lock guard(lock_);
    return slot != InterpreterId::program() || knowsProgram_;
  }
  void admitProgram() {
    const base::Lock guard(lock_);
    knowsProgram_ = programMayHavePrepared_ = true;
  }

 private:
  base::ForkMutex lock_;
  InterpreterId holder_ MULTIPY_GUARDED_BY(lock_) = InterpreterId::none();
  int running_ MULTIPY_GUARDED_BY(lock_) = 0;  // traces of the holder's threads
  bool knowsProgram_ MULTIPY_GUARDED_BY(lock_) = false;
  bool programMayHavePrepared_ MULTIPY_GUARDED_BY(lock_) = false;  // before it was known
};

// Holds the trace for `slot` if `begin` succeeds.
template <typename Begin>
void beginTrace(InterpreterId slot, bool hasPrepared, const Begin& begin) {
  if (!slot.isInterpreter() || !Trace::process().knows(slot)) return begin();
  Trace::process().take(slot, hasPrepared);
  try {
    begin();
  } catch (...) {
    Trace::process().ended(slot, false);
    throw;
  }
}

// What torch's own takes, all by reference: the configuration, the activities and, where it has
// more, a filter and extensions. (By its symbol: each torch declares one of them.)
template <typename... Arguments>
void prepare(const char* function, InterpreterId slot, Arguments... arguments) {
  beginTrace(slot, false, [&] { torchFunction<void(Arguments...)>(function)(arguments...); });
}

// The other ways to profile have nothing to prepare.
bool isKinetos(const ProfilerConfig& config) {
  using torch::profiler::impl::ProfilerState;
  return config.state == ProfilerState::KINETO ||
         config.state == ProfilerState::KINETO_GPU_FALLBACK ||
         config.state == ProfilerState::KINETO_PRIVATEUSE1_FALLBACK;
}

void enable(InterpreterId slot, const void* configAddress, const void* activities,
            const void* scopes) {
  const auto& config = *static_cast<const ProfilerConfig*>(configAddress);
  beginTrace(slot, isKinetos(config), [&] {
    profiling::enableProfiler(config, *static_cast<const Activities*>(activities),
                              *static_cast<const Scopes*>(scopes));
  });
  Trace::process().begun(slot);
  // All its events are of this interpreter's threads. In chrome://tracing: metadata.
  if (slot.isInterpreter() && slot != InterpreterId::program())
    profiling::addMetadataJson("multipy_interpreter", std::to_string(slot.number()));
}

OwnedPointer disable(InterpreterId slot) {
  static_assert(sizeof(std::unique_ptr<profiling::ProfilerResult>) == sizeof(OwnedPointer));
  struct Ended {
    ~Ended() { Trace::process().ended(slot, true); }
    const InterpreterId slot;
  } const ended{slot};
  return OwnedPointer(profiling::disableProfiler().release());
}

// There are kinetos that refuse every further trace after one that was prepared and never
// begun: it is given what it waits for.
void abandonPrepared(InterpreterId slot) {
  if (!Trace::process().isOnlyPreparedBy(slot)) return;
  try {
    profiling::enableProfiler(ProfilerConfig(torch::profiler::impl::ProfilerState::KINETO),
                              {ActivityType::CPU}, {at::RecordScope::FUNCTION});
    profiling::disableProfiler();
  } catch (const c10::Error&) {
    // This thread of the program profiles already: that trace is not the interpreter's.
  }
}

// ------------------------------------------------------- Python's stack and memory

namespace tracing = feature::tracing;

process::FunctionPerInterpreter<tracing::MakeFn>& tracers() {
  static auto* const table = new process::FunctionPerInterpreter<tracing::MakeFn>;
  return *table;
}
process::FunctionPerInterpreter<feature::MakeMemoryTracer>& memoryTracers() {
  static auto* const table = new process::FunctionPerInterpreter<feature::MakeMemoryTracer>;
  return *table;
}

std::unique_ptr<tracing::PythonTracerBase> makeTracer(torch::profiler::impl::RecordQueue* queue) {
  const auto make = tracers().current();
  return make ? make(queue) : std::make_unique<feature::NoTracer>();
}

std::unique_ptr<feature::MemoryTracer> makeMemoryTracer() {
  const auto make = memoryTracers().current();
  return make ? make() : std::make_unique<feature::NoMemoryTracer>();
}

}  // namespace

void addProfilerRoutes(TorchRoutes& routes) {
  routes.prepareProfiler = [](InterpreterId slot, const void* config, const void* activities) {
    prepare(prepareSymbols().plain, slot, config, activities);
  };
  routes.prepareFiltered = [](InterpreterId slot, const void* config, const void* activities,
                              const void* filter) {
    prepare(prepareSymbols().filtered, slot, config, activities, filter);
  };
  routes.prepareExtended = [](InterpreterId slot, const void* config, const void* activities,
                              const void* filter, const void* extensions) {
    prepare(prepareSymbols().extended, slot, config, activities, filter, extensions);
  };
  routes.enableProfiler = enable;
  routes.disableProfiler = disable;
  routes.tracer = [](InterpreterId slot, void* make) {
    tracers().set(slot, make);
    process::installOnce<tracing::registerTracer, makeTracer>();
  };
  routes.memoryTracer = [](InterpreterId slot, void* make) {
    memoryTracers().set(slot, make);
    process::installOnce<feature::registerMemoryTracer, makeMemoryTracer>();
  };
}

void adoptProfiler(const ReplacedWords& before) {
  installOver<tracing::registerTracer, makeTracer>(before, tracers(), "registerTracer");
  if constexpr (feature::kHasMemoryTracer)
    installOver<feature::registerMemoryTracer, makeMemoryTracer>(before, memoryTracers(),
                                                                 "registerMemoryTracer");
}

void admitProgramsProfiler() { Trace::process().admitProgram(); }

void purgeProfiler(InterpreterId slot) {
  if (!slot.isInterpreter()) return;
  abandonPrepared(slot);
  Trace::process().release(slot);
  tracers().clear(slot);
  memoryTracers().clear(slot);
}

}  // namespace multipy::bridge
