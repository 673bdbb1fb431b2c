// Where a private libtorch_python's redirected calls end up.
//
// libtorch_python calls some forty functions that change state which
// libtorch_cpu has once per process. In private copies those calls are renamed
// to functions of libinterpreter.so (trampolines.cpp), which know their
// interpreter's number statically and pass it on to this table, implemented by
// the router in the host (src/torch_bridge). src/torch_bridge/symbols/redirected_symbols.cpp says
// which name goes where.
//
// Arguments stand as the C++ ABI passes them (Itanium, System V): a class that
// is not trivially copyable goes by address, also where the function takes it by
// value; such a temporary remains its caller's.
//
// Threads: as the functions of torch that they stand for. No function waits for
// a GIL. The functions may throw c10::Error, where torch's own would.
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

struct _object;
namespace c10 {
struct FunctionSchema;
struct OperatorName;
}  // namespace c10

namespace multipy {

struct TorchRoutes {
  // --- torch::Library: schemas are shared, kernels are each interpreter's own
  /// Library::Library(Kind, std::string ns, std::optional<DispatchKey>, file, line)
  void (*libraryConstruct)(int slot, void* library, int kind, std::string* ns, std::uint32_t key,
                           const char* file, std::uint32_t line);
  /// Library::_def(FunctionSchema&&, OperatorName*, const std::vector<Tag>&, RegisterOrVerify)
  void* (*libraryDefine)(int slot, void* library, void* schema, void* nameOut, const void* tags,
                         int verify);
  /// Library::_def(std::variant<OperatorName, FunctionSchema>&&, CppFunction&&, tags)
  void* (*libraryDefineWithKernel)(int slot, void* library, void* nameOrSchema, void* kernel,
                                   const void* tags);
  /// Library::_impl(const char*, CppFunction&&, RegisterOrVerify)
  void* (*libraryImplement)(int slot, void* library, const char* name, void* kernel, int verify);
  /// Library::_fallback(CppFunction&&)
  void* (*libraryFallback)(int slot, void* library, void* kernel);
  /// OperatorEntry::hasKernelForDispatchKey(DispatchKey) const
  bool (*hasKernel)(int slot, const void* entry, std::uint16_t key);
  /// OperatorEntry::hasKernelForAnyDispatchKey(DispatchKeySet) const
  bool (*hasAnyKernel)(int slot, const void* entry, std::uint64_t keys);

  // --- the Python object of an operator, cached per interpreter by the shims
  struct OperatorFacts {
    const void* identity;      // the same for all handles of one operator
    std::uint64_t generation;  // raised when an identity may get another meaning
    const std::string* name;   // "aten::add"
    const std::string* overload;
  };
  OperatorFacts (*operatorFacts)(const void* operatorHandle);
  /// What purge() shall call, with the GIL, to drop such caches.
  void (*onPurge)(int slot, void (*dropCaches)());
  /// Throws c10::Error with this text.
  void (*fail)(const char* message);

  // --- PyInterpreter
  /// A PyInterpreterHooksRegistry of this copy's own.
  void* (*hooksRegistry)(int slot);
  /// GPUTrace::set_trace(const PyInterpreter*)
  void (*gpuTrace)(int slot, const void* interpreter);

  // --- once per process
  /// class_base::class_base(const std::string& ns, const std::string& name, std::string doc,
  ///                        const std::type_info&, const std::type_info&)
  void (*customClass)(int slot, void* self, const std::string* ns, const std::string* name,
                      std::string* doc, const std::type_info* pointer,
                      const std::type_info* capsule);
  /// ClassType::addMethod(jit::Function*)
  void (*addMethod)(int slot, void* classType, void* function);
  /// registerCustomClassMethod(std::unique_ptr<jit::Function>)
  void (*customClassMethod)(int slot, void* uniquePointer);
  /// jit::registerOperator(Operator&&)
  void (*registerOperator)(int slot, void* operation);
  /// control_plane::registerHandler(const std::string&, HandlerFunc)
  void (*registerHandler)(int slot, const std::string* name, void* handler);
  /// jit::registerOpaqueType(const std::string&), jit::unregisterOpaqueType(...)
  void (*registerOpaqueType)(int slot, const std::string* name);
  void (*unregisterOpaqueType)(int slot, const std::string* name);

  // --- autograd's engine, one per interpreter
  void (*engine)(int slot, void* stub);  // autograd::set_default_engine_stub
  /// Engine::execute_with_graph_task(const std::shared_ptr<GraphTask>&,
  ///                                 c10::intrusive_ptr<Node>, InputBuffer&&)
  c10::intrusive_ptr<c10::ivalue::Future> (*executeGraphTask)(int slot, void* engine,
                                                              const void* task, void* root,
                                                              void* inputs);
  /// Engine::thread_main(const std::shared_ptr<GraphTask>&)
  void (*engineThread)(int slot, void* engine, const void* task);

  // --- compiled autograd (compiled_autograd.h)
  void (*compiledAutograd)(int slot, void* function);  // Engine::set_compiled_autograd
  /// Engine::execute(const edge_list&, const variable_list&, bool, bool, bool, const edge_list&)
  std::vector<at::Tensor> (*engineExecute)(int slot, void* engine, const void* roots,
                                           const void* inputs, bool keepGraph, bool createGraph,
                                           bool accumulate, const void* outputs);
  /// PyCompilerGuard(std::unique_ptr<PyCompilerInterface>&&), ~PyCompilerGuard(),
  /// getPyCompilerInterface(): const std::unique_ptr<PyCompilerInterface>&
  void (*beginCompiling)(int slot, void* interface);
  void (*endCompiling)(int slot);
  const void* (*compilerInterface)(int slot);

  // --- operators by name (visible_operators.h): shared pointers to jit::Operator
  std::vector<std::shared_ptr<void>> (*allOperators)(int slot);  // jit::getAllOperators()
  /// jit::getAllOperatorsFor(Symbol): a reference; jit::getAllSortedOperatorsFor(Symbol)
  const void* (*operatorsFor)(int slot, std::uint32_t symbol);
  std::vector<std::shared_ptr<void>> (*sortedOperatorsFor)(int slot, std::uint32_t symbol);
  /// jit::findOperatorFor(const OperatorName&)
  std::shared_ptr<void> (*findOperator)(int slot, const c10::OperatorName* name);
  /// Dispatcher::getAllOpNames(); Dispatcher::getRegistrationsForDispatchKey(
  ///     std::optional<DispatchKey>) const
  std::vector<c10::OperatorName> (*allOperatorNames)(int slot, void* dispatcher);
  std::vector<c10::OperatorName> (*registrations)(int slot, const void* dispatcher,
                                                  std::uint32_t key);

  // --- the profiler, in one interpreter at a time
  /// A std::unique_ptr as it is returned: one pointer, through memory.
  struct OwnedPointer {
    explicit OwnedPointer(void* p) : pointer(p) {}
    OwnedPointer(const OwnedPointer&) = delete;
    ~OwnedPointer() {}
    void* pointer;
  };
  /// autograd::profiler::prepareProfiler(const ProfilerConfig&, const std::set<ActivityType>&,
  ///                                     const ActivityFilter&)
  void (*prepareProfiler)(int slot, const void* config, const void* activities, const void* filter);
  /// autograd::profiler::enableProfiler(..., const std::unordered_set<RecordScope>&)
  void (*enableProfiler)(int slot, const void* config, const void* activities, const void* scopes);
  /// autograd::profiler::disableProfiler(): std::unique_ptr<ProfilerResult>
  OwnedPointer (*disableProfiler)(int slot);
  void (*tracer)(int slot, void* make);        // python_tracer::registerTracer
  void (*memoryTracer)(int slot, void* make);  // python_tracer::registerMemoryTracer

  // --- process groups by name (process_groups.h)
  /// c10d::register_process_group(const std::string&, const c10::intrusive_ptr<ProcessGroup>&)
  void (*registerProcessGroup)(int slot, const std::string* name, const void* group);
  /// c10d::resolve_process_group(const std::string&): c10::intrusive_ptr<ProcessGroup>
  OwnedPointer (*resolveProcessGroup)(int slot, const std::string* name);
  void (*unregisterProcessGroup)(int slot, const std::string* name);
  void (*unregisterAllProcessGroups)(int slot);

  // --- settings, of which each interpreter has its own (interpreter_settings.h)
  const void* (*defaultGenerator)(int slot);  // detail::getDefaultCPUGenerator()
  void* (*globalContext)(int slot);           // at::globalContext()
  /// c10::get_default_dtype() and its like: a caffe2::TypeMeta as its number.
  std::uint16_t (*defaultDtype)(int slot);
  std::uint16_t (*defaultComplexDtype)(int slot);
  std::int8_t (*defaultScalarType)(int slot);  // get_default_dtype_as_scalartype()
  void (*setDefaultDtype)(int slot, std::uint16_t dtype);
  /// at::set_num_threads(int), at::init_num_threads() (thread_numbers.h)
  void (*setNumThreads)(int slot, int number);
  void (*initNumThreads)(int slot);
  /// AnomalyMode::set_enabled(bool, bool), after this interpreter's own variables have
  /// been set (anomaly_mode.h)
  void (*setAnomalyMode)(int slot, bool enabled, bool checkNan);

  // --- decompositions, of which each interpreter has its own (decompositions.h)
  /// jit::RegisterDecomposition(const FunctionSchema&, std::shared_ptr<Graph>)
  void (*registerDecomposition)(int slot, const c10::FunctionSchema* schema,
                                std::shared_ptr<void>* graph);
  /// jit::GetDecomposition(const FunctionSchema&): std::optional<std::shared_ptr<Graph>>
  std::optional<std::shared_ptr<void>> (*getDecomposition)(int slot,
                                                           const c10::FunctionSchema* schema);

  // --- levels of forward-mode autograd, of which each interpreter has its own
  /// ForwardADLevel::try_get_by_idx(uint64_t): std::shared_ptr<ForwardADLevel>
  std::shared_ptr<void> (*findForwardLevel)(int slot, std::uint64_t index);

  // --- the last writer wins in torch; here each interpreter has its own
  /// Functions without state, by address.
  void (*printHandler)(int slot, void* function);    // jit::setPrintHandler
  void (*callstack)(int slot, void* function);       // jit::tracer::setPythonCallstack
  void (*sourceLocation)(int slot, void* function);  // jit::tracer::setRecordSourceLocation
  void (*warn)(int slot, void* function);            // jit::tracer::setWarn
  /// c10::SetStackTraceFetcher(std::function<std::string()>)
  void (*stackFetcher)(int slot, std::function<std::string()>* fetcher);
  /// lazy::GetPythonFramesFunction(): this interpreter's std::function to assign to
  void* (*lazyFrames)(int slot);
  /// torch::detail::setPyObjectConversionImpl(const PyObjectConversionInterface*)
  void (*objectConversion)(int slot, void* conversion);
  /// CapturedTraceback::addPythonUnwinder(Python*)
  void (*unwinder)(int slot, void* unwinder);
};

}  // namespace multipy
