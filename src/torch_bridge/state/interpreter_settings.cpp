#include "torch_bridge/state/interpreter_settings.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <c10/core/DefaultDtype.h>
#include <c10/util/typeid.h>

#include <atomic>
#include <bit>
#include <memory>

#include "abi/torch_routes.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

using caffe2::TypeMeta;

// ------------------------------------------------------- torch's own functions

// By their addresses in torch: our own references to them are redirected, too.
struct Originals {
  const SettingSymbols& symbols = settingSymbols();
  decltype(&at::detail::getDefaultCPUGenerator) generator =
      torchFunction<const at::Generator&()>(symbols.generator);
  decltype(&at::globalContext) context = torchFunction<at::Context&()>(symbols.context);
  TypeMeta (*dtype)() = torchFunction<TypeMeta()>(symbols.dtype);
  c10::ScalarType (*scalarType)() = torchFunction<c10::ScalarType()>(symbols.scalarType);
  TypeMeta (*complexDtype)() = torchFunction<TypeMeta()>(symbols.complexDtype);
  void (*setDtype)(TypeMeta) = torchFunction<void(TypeMeta)>(symbols.setDtype);

  static const Originals& get() {
    static const Originals all;
    return all;
  }
};

// ------------------------------------------------------- settings of one interpreter

// Copies what is there in this version of torch; all but the flags that say which
// devices are ready, and what belongs to mobile builds.
template <typename Context>
void inherit(const Context& from, Context& to) {
#define MULTIPY_INHERIT(member) \
  if constexpr (requires { to.member; }) to.member = from.member
  MULTIPY_INHERIT(enabled_cudnn);
  MULTIPY_INHERIT(deterministic_cudnn);
  MULTIPY_INHERIT(deterministic_mkldnn);
  MULTIPY_INHERIT(_deterministic_algorithms);
  MULTIPY_INHERIT(_deterministic_algorithms_warn_only);
  MULTIPY_INHERIT(_deterministic_fill_uninitialized_memory);
  MULTIPY_INHERIT(sdp_priority_order);
  MULTIPY_INHERIT(enabled_flashSDP);
  MULTIPY_INHERIT(enabled_fa3SDP);
  MULTIPY_INHERIT(enabled_mem_efficientSDP);
  MULTIPY_INHERIT(enabled_mathSDP);
  MULTIPY_INHERIT(enabled_cudnnSDP);
  MULTIPY_INHERIT(enabled_overrideable);
  MULTIPY_INHERIT(allow_fp16_bf16_reduction_mathSDP);
  MULTIPY_INHERIT(benchmark_cudnn);
  MULTIPY_INHERIT(immediate_miopen);
  MULTIPY_INHERIT(float32_matmul_precision);
  MULTIPY_INHERIT(benchmark_limit_cudnn);
  MULTIPY_INHERIT(allow_tf32_cudnn);
  MULTIPY_INHERIT(allow_fp16_reduction_cublas);
  MULTIPY_INHERIT(allow_bf16_reduction_cublas);
  MULTIPY_INHERIT(allow_fp16_accumulation_cublas);
  MULTIPY_INHERIT(sm_carveout);
  MULTIPY_INHERIT(enabled_mkldnn);
  MULTIPY_INHERIT(allow_tf32_onednn);
  MULTIPY_INHERIT(enabled_nnpack);
  MULTIPY_INHERIT(depthwise_kernel_cudnn);
  MULTIPY_INHERIT(linalg_preferred_backend);
  MULTIPY_INHERIT(blas_preferred_backend);
  MULTIPY_INHERIT(rocm_fa_preferred_backend);
  MULTIPY_INHERIT(release_original_weights);
  MULTIPY_INHERIT(display_vmap_fallback_warnings_);
  MULTIPY_INHERIT(warn_on_accumulate_grad_stream_mismatch_);
  MULTIPY_INHERIT(override_stale_capture_stream_);
  MULTIPY_INHERIT(enable_sparse_tensor_invariant_checks);
  MULTIPY_INHERIT(allow_fp16_reduction_cpu);
  MULTIPY_INHERIT(fp32_precision);
#undef MULTIPY_INHERIT
  to.setQEngine(from.qEngine());
}

struct Settings {
  Settings()
      : generator(
            at::make_generator<at::CPUGeneratorImpl>(c10::detail::getNonDeterministicRandom())),
        dtype(Originals::get().dtype()),
        complexDtype(Originals::get().complexDtype()) {
    inherit(Originals::get().context(), context);
  }

  // (Both one after the other, as torch sets them.)
  void setDtype(TypeMeta newDtype) {
    const c10::ScalarType scalar = newDtype.toScalarType();
    TORCH_CHECK_TYPE(c10::isFloatingType(scalar),
                     "only floating-point types are supported as the default type");
    complexDtype = TypeMeta::fromScalarType(c10::toComplexType(scalar));
    dtype = newDtype;
  }

  at::Context context;
  const at::Generator generator;
  std::atomic<TypeMeta> dtype;
  std::atomic<TypeMeta> complexDtype;
};

PerInterpreter<std::atomic<Settings*>>& allSettings() {
  static auto* const all = new PerInterpreter<std::atomic<Settings*>>{};
  return *all;
}

Settings& makeSettings(std::atomic<Settings*>& place) {
  auto made = std::make_unique<Settings>();
  Settings* expected = nullptr;
  // Two threads may be the first at once; one of them is.
  return place.compare_exchange_strong(expected, made.get()) ? *made.release() : *expected;
}

// Null: the process's own.
Settings* settingsOf(InterpreterId slot) {
  if (!slot.isInterpreter()) return nullptr;
  std::atomic<Settings*>& place = allSettings()[slot];
  Settings* const settings = place.load(std::memory_order_acquire);
  return settings ? settings : &makeSettings(place);
}

// ------------------------------------------------------- the getters

const at::Generator& generatorOf(InterpreterId slot) {
  Settings* const settings = settingsOf(slot);
  return settings ? settings->generator : Originals::get().generator();
}
at::Context& contextOf(InterpreterId slot) {
  Settings* const settings = settingsOf(slot);
  return settings ? settings->context : Originals::get().context();
}
TypeMeta dtypeOf(InterpreterId slot) {
  Settings* const settings = settingsOf(slot);
  return settings ? settings->dtype.load() : Originals::get().dtype();
}
c10::ScalarType scalarTypeOf(InterpreterId slot) {
  Settings* const settings = settingsOf(slot);
  return settings ? settings->dtype.load().toScalarType() : Originals::get().scalarType();
}
TypeMeta complexDtypeOf(InterpreterId slot) {
  Settings* const settings = settingsOf(slot);
  return settings ? settings->complexDtype.load() : Originals::get().complexDtype();
}
void setDtypeOf(InterpreterId slot, TypeMeta dtype) {
  Settings* const settings = settingsOf(slot);
  settings ? settings->setDtype(dtype) : Originals::get().setDtype(dtype);
}

// In shared libraries: those of the interpreter that the thread has entered. (Not
// of the one whose GIL it may hold: that would be looked for by every thread of
// torch's pools, and these functions are called by most operators.)
const at::Generator& currentGenerator() { return generatorOf(process::Ownership::entered()); }
at::Context& currentContext() { return contextOf(process::Ownership::entered()); }
TypeMeta currentDtype() { return dtypeOf(process::Ownership::entered()); }
c10::ScalarType currentScalarType() { return scalarTypeOf(process::Ownership::entered()); }
TypeMeta currentComplexDtype() { return complexDtypeOf(process::Ownership::entered()); }
void setCurrentDtype(TypeMeta dtype) { setDtypeOf(process::Ownership::entered(), dtype); }

}  // namespace

void addSettingsRoutes(TorchRoutes& routes) {
  routes.defaultGenerator = [](InterpreterId slot) -> const void* { return &generatorOf(slot); };
  routes.globalContext = [](InterpreterId slot) -> void* { return &contextOf(slot); };
  routes.defaultDtype = [](InterpreterId slot) {
    return std::bit_cast<std::uint16_t>(dtypeOf(slot));
  };
  routes.defaultScalarType = [](InterpreterId slot) {
    return static_cast<std::int8_t>(scalarTypeOf(slot));
  };
  routes.defaultComplexDtype = [](InterpreterId slot) {
    return std::bit_cast<std::uint16_t>(complexDtypeOf(slot));
  };
  routes.setDefaultDtype = [](InterpreterId slot, std::uint16_t dtype) {
    setDtypeOf(slot, std::bit_cast<TypeMeta>(dtype));
  };
}

ImportRedirections settingRedirections() {
  const SettingSymbols& symbols = Originals::get().symbols;  // found before we take their place
  return {
      redirection(symbols.generator, currentGenerator),
      redirection(symbols.context, currentContext),
      redirection(symbols.dtype, currentDtype),
      redirection(symbols.scalarType, currentScalarType),
      redirection(symbols.complexDtype, currentComplexDtype),
      redirection(symbols.setDtype, setCurrentDtype),
  };
}

at::Context& processContext() { return Originals::get().context(); }

void forgetSettings(InterpreterId slot) noexcept {
  if (!slot.isInterpreter()) return;
  delete allSettings()[slot].exchange(nullptr);
}

}  // namespace multipy::bridge
