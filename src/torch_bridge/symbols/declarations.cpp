// What src/torch_bridge takes for granted of torch's headers, for the compiler to verify:
// nothing here is run. A mangled name says nothing of what a function returns, nor
// how large a class is that is passed in registers; the shims and routes rely on
// both (abi/torch_routes.h). They also use members that torch keeps private.
//
// Compiled by the tests against the torch that multipy is built for, and while cmake
// configures against one that it does not know: each error is then a difference
// (cmake/MultipyTorchCheck.cmake). Each assertion is one fact, so that an error names it.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/PythonOpRegistrationTrampoline.h>
#include <ATen/core/class_type.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/RefcountedDeleter.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/util/Logging.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/forward_grad.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/decomposition_registry.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/lazy/core/debug_util.h>
#include <torch/csrc/profiler/combined_traceback.h>
#include <torch/csrc/profiler/orchestration/python_tracer.h>
#include <torch/custom_class.h>
#include <torch/library.h>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
// Debian does not ship this one; there, that the symbol exists is all that is compared.
#if __has_include(<torch/csrc/distributed/c10d/control_plane/Handlers.hpp>)
#include <torch/csrc/distributed/c10d/control_plane/Handlers.hpp>
#define MULTIPY_DECLARES_HANDLERS
#endif

#include "torch_bridge/symbols/features/computed_kernels.h"
#include "torch_bridge/symbols/features/engine_threads.h"
#include "torch_bridge/symbols/features/interpreter_table.h"
#include "torch_bridge/symbols/features/nodes.h"
#include "torch_bridge/symbols/features/object_conversion.h"
#include "torch_bridge/symbols/features/python_objects.h"
#include "torch_bridge/symbols/features/tracebacks.h"
#include "torch_bridge/symbols/features/tracers.h"

// From torch 2.15 on. A header that gives it another result contradicts this one.
namespace c10d {
bool is_process_group_registered(const std::string& name);
}

namespace multipy::bridge::feature {
namespace {

using std::string;
using torch::Library;
using torch::autograd::Engine;
using torch::autograd::ForwardADLevel;
using torch::autograd::GraphTask;
using torch::jit::Operator;
using Tags = std::vector<at::Tag>;
using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
using Operators = std::vector<std::shared_ptr<Operator>>;
using Config = torch::profiler::impl::ProfilerConfig;
using Activities = std::set<torch::profiler::impl::ActivityType>;
using torch::autograd::edge_list;
using torch::autograd::variable_list;

/// True if it compiles: a function or member that can be named as a `Type`.
template <typename Type>
constexpr bool is(Type) {
  return true;
}

/// The same for a function with one declaration, which is another one in other torches.
template <typename... Types>
constexpr bool isOneOf(auto function) {
  return (std::is_same_v<Types, decltype(function)> || ...);
}

// ------------------------------------------------------- functions that are redirected

static_assert(is<Library& (Library::*)(c10::FunctionSchema&&, c10::OperatorName*, const Tags&,
                                       torch::_RegisterOrVerify) &>(&Library::_def));
static_assert(is<Library& (Library::*)(std::variant<c10::OperatorName, c10::FunctionSchema>&&,
                                       torch::CppFunction&&, const Tags&)&>(&Library::_def));
static_assert(is<Library& (Library::*)(const char*, torch::CppFunction&&,
                                       torch::_RegisterOrVerify) &>(&Library::_impl));
static_assert(is<Library& (Library::*)(torch::CppFunction&&)&>(&Library::_fallback));
static_assert(is<bool (c10::impl::OperatorEntry::*)(c10::DispatchKey) const>(
    &c10::impl::OperatorEntry::hasKernelForDispatchKey));
static_assert(is<bool (c10::impl::OperatorEntry::*)(c10::DispatchKeySet) const>(
    &c10::impl::OperatorEntry::hasKernelForAnyDispatchKey));
static_assert(is<bool (c10::impl::OperatorEntry::*)(c10::DispatchKey) const>(
    &c10::impl::OperatorEntry::hasComputedKernelForDispatchKey));
#if MULTIPY_TORCH_COMPUTED_KERNELS
static_assert(is<c10::SafeKernelFunction (c10::impl::OperatorEntry::*)(c10::DispatchKey) const>(
    &c10::impl::OperatorEntry::getComputedKernelForDispatchKey));
#endif
static_assert(is<bool (*)(c10::impl::PyInterpreter*)>(
    &at::impl::PythonOpRegistrationTrampoline::registerInterpreter));
static_assert(is<void (*)(const c10::impl::PyInterpreter*)>(&c10::impl::GPUTrace::set_trace));
static_assert(is<void (c10::ClassType::*)(torch::jit::Function*)>(&c10::ClassType::addMethod));
static_assert(
    is<void (*)(std::unique_ptr<torch::jit::Function>)>(&torch::registerCustomClassMethod));
static_assert(is<void (*)(Operator&&)>(&torch::jit::registerOperator));
#ifdef MULTIPY_DECLARES_HANDLERS
static_assert(is<void (*)(const string&, c10d::control_plane::HandlerFunc)>(
    &c10d::control_plane::registerHandler));
#endif

static_assert(is<void (*)(Engine& (*)())>(&torch::autograd::set_default_engine_stub));
static_assert(is<void (*)(Engine::compiled_autograd_fn)>(&Engine::set_compiled_autograd));
static_assert(is<variable_list (Engine::*)(const edge_list&, const variable_list&, bool, bool, bool,
                                           const edge_list&)>(&Engine::execute));
static_assert(is<c10::intrusive_ptr<at::ivalue::Future> (Engine::*)(
                  const std::shared_ptr<GraphTask>&, NodePointer, torch::autograd::InputBuffer&&)>(
    &Engine::execute_with_graph_task));
static_assert(is<void (Engine::*)(const std::shared_ptr<GraphTask>&)>(&Engine::thread_main));
static_assert(is<std::uint64_t (*)()>(&ForwardADLevel::get_next_idx));
static_assert(is<void (*)(std::uint64_t)>(&ForwardADLevel::release_idx));
static_assert(is<std::shared_ptr<ForwardADLevel> (*)(std::uint64_t)>(&ForwardADLevel::get_by_idx));
static_assert(
    is<std::shared_ptr<ForwardADLevel> (*)(std::uint64_t)>(&ForwardADLevel::try_get_by_idx));

static_assert(
    is<void (*)(const Config&, const Activities&, const std::unordered_set<at::RecordScope>&)>(
        &torch::autograd::profiler::enableProfiler));
static_assert(is<std::unique_ptr<torch::autograd::profiler::ProfilerResult> (*)()>(
    &torch::autograd::profiler::disableProfiler));
static_assert(is<void (*)(std::unique_ptr<tracing::PythonTracerBase> (*)(
                  torch::profiler::impl::RecordQueue*))>(&tracing::registerTracer));

static_assert(is<void (*)(void (*)(const string&))>(&torch::jit::setPrintHandler));
static_assert(is<void (*)(std::vector<torch::jit::StackEntry> (*)())>(
    &torch::jit::tracer::setPythonCallstack));
static_assert(
    is<void (*)(void (*)(torch::jit::Node*))>(&torch::jit::tracer::setRecordSourceLocation));
static_assert(is<void (*)(void (*)(const string&))>(&torch::jit::tracer::setWarn));
static_assert(is<void (*)(std::function<string()>)>(&c10::SetStackTraceFetcher));
static_assert(is<std::function<std::vector<torch::lazy::SourceLocation>()>& (*)()>(
    &torch::lazy::GetPythonFramesFunction));
static_assert(
    is<void (*)(torch::CapturedTraceback::Python*)>(&torch::CapturedTraceback::addPythonUnwinder));

static_assert(is<void (*)(const c10::FunctionSchema&, std::shared_ptr<torch::jit::Graph>)>(
    &torch::jit::RegisterDecomposition));
static_assert(is<std::optional<std::shared_ptr<torch::jit::Graph>> (*)(const c10::FunctionSchema&)>(
    &torch::jit::GetDecomposition));
static_assert(is<const Operators (*)()>(&torch::jit::getAllOperators));
static_assert(is<const Operators& (*)(c10::Symbol)>(&torch::jit::getAllOperatorsFor));
static_assert(is<Operators (*)(c10::Symbol)>(&torch::jit::getAllSortedOperatorsFor));
static_assert(
    is<std::shared_ptr<Operator> (*)(const c10::OperatorName&)>(&torch::jit::findOperatorFor));

static_assert(isOneOf<void (*)(const string&, const Group&), void (*)(const string&, Group)>(
    &c10d::register_process_group));
static_assert(is<Group (*)(const string&)>(&c10d::resolve_process_group));
static_assert(is<void (*)(const string&)>(&c10d::unregister_process_group));
static_assert(is<void (*)()>(&c10d::unregister_all_process_groups));

static_assert(is<const at::Generator& (*)()>(&at::detail::getDefaultCPUGenerator));
static_assert(is<at::Context& (*)()>(&at::globalContext));
static_assert(is<const caffe2::TypeMeta (*)()>(&c10::get_default_dtype));
static_assert(is<const caffe2::TypeMeta (*)()>(&c10::get_default_complex_dtype));
static_assert(is<c10::ScalarType (*)()>(&c10::get_default_dtype_as_scalartype));
static_assert(is<void (*)(caffe2::TypeMeta)>(&c10::set_default_dtype));

// ------------------------------------------------------- how arguments are passed

template <typename Type>
constexpr bool goesInRegisters = std::is_trivially_copyable_v<Type>;

static_assert(sizeof(std::underlying_type_t<Library::Kind>) == sizeof(int));
static_assert(sizeof(std::underlying_type_t<torch::_RegisterOrVerify>) == sizeof(int));
static_assert(sizeof(c10::DispatchKey) == sizeof(std::uint16_t));
static_assert(sizeof(c10::DispatchKeySet) == sizeof(std::uint64_t) &&
              goesInRegisters<c10::DispatchKeySet>);
static_assert(sizeof(std::optional<c10::DispatchKey>) == sizeof(std::uint32_t) &&
              goesInRegisters<std::optional<c10::DispatchKey>>);
static_assert(sizeof(caffe2::TypeMeta) == sizeof(std::uint16_t) &&
              goesInRegisters<caffe2::TypeMeta>);
static_assert(sizeof(c10::ScalarType) == sizeof(std::int8_t));
static_assert(sizeof(c10::Symbol) == sizeof(std::uint32_t) && goesInRegisters<c10::Symbol>);
static_assert(sizeof(Group) == sizeof(void*) && !goesInRegisters<Group>);
static_assert(sizeof(std::unique_ptr<torch::autograd::profiler::ProfilerResult>) == sizeof(void*));

// ------------------------------------------------------- private members that we use

static_assert(
    is<std::shared_ptr<Engine::ThreadPoolShared> Engine::*>(&Engine::thread_pool_shared_));
static_assert(is<void (Engine::*)()>(&Engine::start_device_threads));
static_assert(
    is<std::shared_ptr<c10::Dispatcher::Guard> c10::Dispatcher::*>(&c10::Dispatcher::guard_));
static_assert(sizeof(c10::Dispatcher::backendFallbackKernels_) > 0);
static_assert(sizeof(c10::impl::OperatorEntry::kernels_) > 0);
static_assert(is<c10::OperatorName c10::impl::OperatorEntry::*>(&c10::impl::OperatorEntry::name_));
static_assert(
    is<c10::Dispatcher::OperatorDef * c10::OperatorHandle::*>(&c10::OperatorHandle::operatorDef_));
static_assert(sizeof(Operator::op_) > 0 && sizeof(Operator::JitOnlyOperator) > 0);
static_assert(is<string torch::detail::class_base::*>(&torch::detail::class_base::qualClassName));
static_assert(
    is<c10::ClassTypePtr torch::detail::class_base::*>(&torch::detail::class_base::classTypePtr));
static_assert(is<Library::Kind Library::*>(&Library::kind_));
static_assert(is<const char * Library::*>(&Library::file_));
static_assert(is<std::uint32_t Library::*>(&Library::line_));
static_assert(is<std::optional<string> Library::*>(&Library::ns_));
static_assert(is<std::optional<c10::DispatchKey> Library::*>(&Library::dispatch_key_));
static_assert(
    is<std::optional<std::pair<const char*, const char*>> Library::*>(&Library::python_module_));
static_assert(is<std::vector<c10::RegistrationHandleRAII> Library::*>(&Library::registrars_));
static_assert(
    is<std::optional<c10::DispatchKey> torch::CppFunction::*>(&torch::CppFunction::dispatch_key_));
static_assert(is<c10::KernelFunction torch::CppFunction::*>(&torch::CppFunction::func_));
static_assert(
    is<std::unique_ptr<c10::FunctionSchema> torch::CppFunction::*>(&torch::CppFunction::schema_));
static_assert(is<c10::Storage c10::TensorImpl::*>(&c10::TensorImpl::storage_));
static_assert(is<c10::DispatchKeySet c10::TensorImpl::*>(&c10::TensorImpl::key_set_));
static_assert(is<c10::VariableVersion c10::TensorImpl::*>(&c10::TensorImpl::version_counter_));
static_assert(is<std::unique_ptr<c10::AutogradMetaInterface> c10::TensorImpl::*>(
    &c10::TensorImpl::autograd_meta_));
static_assert(
    is<std::unique_ptr<c10::ExtraMeta> c10::TensorImpl::*>(&c10::TensorImpl::extra_meta_));
static_assert(is<void (*)(const c10::TensorImpl*, c10::TensorImpl*)>(
    &c10::TensorImpl::copy_generic_tensor_metadata));
[[maybe_unused]] bool changesObject(c10::TensorImpl& tensor, PyObject* object) {
  leaveObject(tensor);
  enterObject(tensor, object);
  return isOnlyIn(tensor, object) && isOnlyOnes(*tensor.storage_.storage_impl_);
}
[[maybe_unused]] void* conversion() { return nullptr; }
[[maybe_unused]] void convertsObjects() { installObjectConversion<conversion>(); }
static_assert(is<c10::DataPtr c10::StorageImpl::*>(&c10::StorageImpl::data_ptr_));
static_assert(is<c10::detail::UniqueVoidPtr c10::DataPtr::*>(&c10::DataPtr::ptr_));
static_assert(is<std::unique_ptr<void, c10::DeleterFnPtr> c10::detail::UniqueVoidPtr::*>(
    &c10::detail::UniqueVoidPtr::ctx_));
static_assert(is<std::unique_ptr<void, c10::DeleterFnPtr> c10::RefcountedDeleterContext::*>(
    &c10::RefcountedDeleterContext::other_ctx));
static_assert(
    is<std::atomic_int c10::RefcountedDeleterContext::*>(&c10::RefcountedDeleterContext::refcount));
static_assert(
    is<c10::intrusive_ptr<c10::StorageImpl> c10::Storage::*>(&c10::Storage::storage_impl_));

}  // namespace
}  // namespace multipy::bridge::feature
