#include "torch_bridge/autograd/anomaly_mode.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "abi/torch_routes.h"
#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "multipy/runtime/Exception.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/features/nodes.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

using torch::autograd::AnomalyMetadata;
using torch::autograd::AnomalyMode;
using torch::autograd::DetectAnomalyGuard;
using torch::autograd::Node;

// ------------------------------------------------------- who has it on

enum class Mode : std::uint8_t { Off, On, OnWithNanCheck };

Mode modeOf(bool enabled, bool checkNan) {
  return !enabled ? Mode::Off : checkNan ? Mode::OnWithNanCheck : Mode::On;
}

// Has libtorch_cpu read these variables: torch's own, or one that is true.
void leadReadsTo(const void* enabled, const void* checkNan) {
  const AnomalySymbols& symbols = anomalySymbols();
  redirectOperators(std::array{loader::ImportRedirection{symbols.enabled, enabled},
                               loader::ImportRedirection{symbols.checkNan, checkNan}});
}

class Modes {
 public:
  static Modes& process() {
    static auto* const one = new Modes;
    return *one;
  }

  void set(InterpreterId slot, Mode mode) {
    if (!slot.isInterpreter()) return;  // no thread is ever in the resident copy
    const base::Lock guard(lock_);
    modes_[slot] = mode;
    const bool on = std::ranges::any_of(modes_, [](const auto& each) { return each != Mode::Off; });
    if (std::exchange(on_, on) == on) return;
    static constinit bool always = true;  // written by guards that are not redirected
    if (on)
      leadReadsTo(&always, &always);
    else
      leadReadsTo(enabled_, checkNan_);
  }

  // Asked only while torch reads that it is on.
  Mode ofThread() const {
    const InterpreterId slot = process::Ownership::instance().current();
    return slot != InterpreterId::none()
               ? modes_[slot].load()
               : modeOf(AnomalyMode::is_enabled(), AnomalyMode::should_check_nan());
  }

 private:
  // Torch's own: the first that there is, since a program that is linked without -fPIE and reads
  // one has it in its own memory; libtorch_cpu's, where that was not loaded for all to see.
  static const void* variable(const char* symbol) {
    const void* const first = ::dlsym(RTLD_DEFAULT, symbol);
    return first ? first : torchFunction(symbol);
  }

  const void* const enabled_ = variable(anomalySymbols().enabled);
  const void* const checkNan_ = variable(anomalySymbols().checkNan);
  base::ForkMutex lock_;  // held to write
  PerInterpreter<std::atomic<Mode>> modes_{};
  bool on_ MULTIPY_GUARDED_BY(lock_) = false;  // in any interpreter
};

// ------------------------------------------------------- torch's own functions

// Where in memory the engine checks gradients.
struct Code {
  explicit Code(const char* symbol)
      : begin(reinterpret_cast<std::uintptr_t>(torchFunction(symbol))) {
    Dl_info info;
    ElfW(Sym)* entry = nullptr;
    if (::dladdr1(reinterpret_cast<void*>(begin), &info, reinterpret_cast<void**>(&entry),
                  RTLD_DL_SYMENT) == 0 ||
        !entry || entry->st_size == 0)
      throw runtime::InternalError(std::string("looking for the end of ") + symbol +
                                   " in libtorch_cpu of this process: its symbol has no size "
                                   "(expected a library as torch's build leaves it)");
    end = begin + entry->st_size;
  }
  bool contains(const void* address) const {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    return place >= begin && place < end;
  }
  std::uintptr_t begin, end = 0;
};

struct Originals {
  const AnomalySymbols& symbols = anomalySymbols();
  AnomalyMetadata* (*metadata)(Node*) = torchFunction<AnomalyMetadata*(Node*)>(symbols.metadata);
  at::Tensor (*isNan)(const at::Tensor&) =
      torchFunction<at::Tensor(const at::Tensor&)>(symbols.isNan);
  at::Tensor (*isAnyTrue)(const at::Tensor&) =
      torchFunction<at::Tensor(const at::Tensor&)>(symbols.isAnyTrue);
  bool (*itemOfBool)(const at::Tensor*) =
      torchFunction<bool(const at::Tensor*)>(symbols.itemOfBool);
  const Code evaluate = Code(symbols.evaluateFunction);

  static const Originals& all() {
    static const auto* const all = new Originals;
    return *all;
  }
};

// ------------------------------------------------------- in torch's shared libraries

struct KeepsNothing final : AnomalyMetadata {
  void store_stack() override {}
  void print_stack(const std::string&) override {}
  void assign_parent(const feature::NodePointer&) override {}
};

AnomalyMetadata* metadata(Node* node) {
  static auto* const nothing = new KeepsNothing;
  return Modes::process().ofThread() == Mode::Off ? nothing : Originals::all().metadata(node);
}

// Stands for "no element is NaN" on its way through the engine's three questions.
const at::Tensor& no() {
  static const auto* const tensor = new at::Tensor(c10::make_intrusive<c10::TensorImpl>(
      c10::DispatchKeySet(), caffe2::TypeMeta::Make<bool>(), c10::Device(c10::kCPU)));
  return *tensor;
}

at::Tensor isNan(const at::Tensor& tensor) {
  const bool engineAsks = Originals::all().evaluate.contains(__builtin_return_address(0));
  if (engineAsks && Modes::process().ofThread() != Mode::OnWithNanCheck) return no();
  return Originals::all().isNan(tensor);
}
at::Tensor isAnyTrue(const at::Tensor& tensor) {
  return tensor.is_same(no()) ? no() : Originals::all().isAnyTrue(tensor);
}
bool itemOfBool(const at::Tensor* tensor) {
  return !tensor->is_same(no()) && Originals::all().itemOfBool(tensor);
}

// libtorch_cpu's own write where it reads.
struct Guard {
  bool checkedNan;
};
static_assert(sizeof(Guard) == sizeof(DetectAnomalyGuard));

void openGuard(Guard* guard, bool checkNan) {
  TORCH_WARN_ONCE("Anomaly detection is on: it makes every operation slower");
  guard->checkedNan = AnomalyMode::should_check_nan();
  AnomalyMode::set_enabled(true, checkNan);
}
void closeGuard(const Guard* guard) { AnomalyMode::set_enabled(false, guard->checkedNan); }

}  // namespace

void addAnomalyModeRoutes(TorchRoutes& routes) {
  routes.setAnomalyMode = [](InterpreterId slot, bool enabled, bool checkNan) {
    Modes::process().set(slot, modeOf(enabled, checkNan));
  };
}

ImportRedirections anomalyModeRedirections() {
  const AnomalySymbols& symbols = Originals::all().symbols;  // found before we take their place
  return {
      redirection(symbols.metadata, metadata),   redirection(symbols.isNan, isNan),
      redirection(symbols.isAnyTrue, isAnyTrue), redirection(symbols.itemOfBool, itemOfBool),
      redirection(symbols.openGuard, openGuard), redirection(symbols.closeGuard, closeGuard),
  };
}

void purgeAnomalyMode(InterpreterId slot) { Modes::process().set(slot, Mode::Off); }

}  // namespace multipy::bridge
