#include "torch_bridge/autograd/anomaly_mode.h"

#include <ATen/core/Tensor.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/csrc/autograd/anomaly_mode.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

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
using torch::autograd::Node;

// ------------------------------------------------------- who has it on

enum class Mode : std::uint8_t { Off, On, OnWithNanCheck };

Mode modeOf(bool enabled, bool checkNan) {
  return !enabled ? Mode::Off : checkNan ? Mode::OnWithNanCheck : Mode::On;
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
    const Mode before = highest();
    if (before == Mode::Off && mode == Mode::Off) return;
    if (before == Mode::Off) {
      checksOutside_ = AnomalyMode::should_check_nan();
      outside_ = modeOf(AnomalyMode::is_enabled(), checksOutside_);
    } else if (!AnomalyMode::is_enabled()) {
      outside_ = Mode::Off;  // C++ code, or the program's own Python, has switched it off meanwhile
    }
    modes_[slot] = mode;
    const Mode now = highest();
    if (now == Mode::Off)
      return AnomalyMode::set_enabled(outside_.load() != Mode::Off, checksOutside_);
    AnomalyMode::set_enabled(true, std::max(now, outside_.load()) == Mode::OnWithNanCheck);
  }

  // Asked only while torch's own variable says that it is on somewhere.
  Mode ofThread() const {
    const InterpreterId slot = process::Ownership::instance().current();
    if (slot != InterpreterId::none()) return modes_[slot];
    // C++'s own, which torch's variables say where no interpreter has it on.
    return highest() == Mode::Off
               ? modeOf(AnomalyMode::is_enabled(), AnomalyMode::should_check_nan())
               : outside_.load();
  }

 private:
  Mode highest() const {
    Mode all = Mode::Off;
    for (const auto& mode : modes_) all = std::max(all, mode.load());
    return all;
  }

  base::ForkMutex lock_;  // held to write
  PerInterpreter<std::atomic<Mode>> modes_{};
  std::atomic<Mode> outside_{Mode::Off};  // C++'s, from when the first interpreter switched it on
  bool checksOutside_ MULTIPY_GUARDED_BY(lock_) = true;
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

}  // namespace

void addAnomalyModeRoutes(TorchRoutes& routes) {
  routes.setAnomalyMode = [](InterpreterId slot, bool enabled, bool checkNan) {
    Modes::process().set(slot, modeOf(enabled, checkNan));
  };
}

ImportRedirections anomalyModeRedirections() {
  const AnomalySymbols& symbols = Originals::all().symbols;  // found before we take their place
  return {
      redirection(symbols.metadata, metadata),
      redirection(symbols.isNan, isNan),
      redirection(symbols.isAnyTrue, isAnyTrue),
      redirection(symbols.itemOfBool, itemOfBool),
  };
}

void purgeAnomalyMode(InterpreterId slot) { Modes::process().set(slot, Mode::Off); }

}  // namespace multipy::bridge
