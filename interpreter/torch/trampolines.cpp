// The functions that private torch libraries call in place of torch's own: each
// adds this interpreter's number and asks the host (torch_routes.h). They hold
// no state and define no types, so exceptions of torch pass through them.
//
// Names are those of the table in src/torch_bridge/symbols/redirected_symbols.cpp; parameters
// are as the C++ ABI passes them to the function replaced.
#include "abi/torch_routes.h"

#include <ATen/core/operator_name.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpreter/common/host_connection.h"
#include "interpreter/common/reference.h"

namespace {

using multipy::host;
using multipy::Reference;

int slot() noexcept { return host()->slot; }
const multipy::TorchRoutes& routes() noexcept { return *host()->routes; }

// ------------------------------------------------------- torch.ops objects
// torch keeps the Python object of an operator (torch.ops.aten.add.Tensor) in
// the operator itself, once per process. Here each interpreter has its own.

struct ApiFunctions {
  std::unordered_map<const void*, PyObject*> objects;  // each holds a reference
  std::uint64_t generation = 0;
};

// Guarded by the GIL.
ApiFunctions& apiFunctions() {
  static auto* const cache = new ApiFunctions;
  return *cache;
}

void dropApiFunctions() {
  const auto old = std::exchange(apiFunctions().objects, {});
  for (const auto& [identity, object] : old) Py_DECREF(object);
}

// "aten::add", "Tensor" → torch.ops.aten.add.Tensor; null with a Python error.
Reference findApiFunction(const std::string& name, const std::string& overload) {
  const std::size_t colons = name.find("::");
  if (colons == std::string::npos) {
    PyErr_Format(PyExc_RuntimeError, "operator name %s has no namespace", name.c_str());
    return {};
  }
  Reference object = Reference::take(PyImport_ImportModule("torch"));
  for (const std::string& part :
       {std::string("ops"), name.substr(0, colons), name.substr(colons + 2),
        overload.empty() ? std::string("default") : overload}) {
    if (!object) break;
    object = Reference::take(PyObject_GetAttrString(object.get(), part.c_str()));
  }
  return object;
}

// Takes the pending Python error as text.
std::string takeErrorText() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const auto ownedType = Reference::take(type), ownedValue = Reference::take(value),
             ownedTraceback = Reference::take(traceback);
  const auto text = Reference::take(value ? PyObject_Str(value) : nullptr);
  const char* const utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string result = type ? reinterpret_cast<PyTypeObject*>(type)->tp_name : "unknown error";
  result += utf8 ? std::string(": ") + utf8 : "";
  PyErr_Clear();
  return result;
}

}  // namespace

#define MULTIPY_ROUTE extern "C" __attribute__((visibility("default")))

// extern "C" gives these functions their names alone: those that call them are C++, and
// expect what C++ would return.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif

// --- torch::Library
MULTIPY_ROUTE void multipy_route_library_construct(void* library, int kind, std::string* ns,
                                                   std::uint32_t key, const char* file,
                                                   std::uint32_t line) {
  routes().libraryConstruct(slot(), library, kind, ns, key, file, line);
}
MULTIPY_ROUTE void* multipy_route_library_define(void* library, void* schema, void* nameOut,
                                                 const void* tags, int verify) {
  return routes().libraryDefine(slot(), library, schema, nameOut, tags, verify);
}
MULTIPY_ROUTE void* multipy_route_library_define_with_kernel(void* library, void* nameOrSchema,
                                                             void* kernel, const void* tags) {
  return routes().libraryDefineWithKernel(slot(), library, nameOrSchema, kernel, tags);
}
MULTIPY_ROUTE void* multipy_route_library_implement(void* library, const char* name, void* kernel,
                                                    int verify) {
  return routes().libraryImplement(slot(), library, name, kernel, verify);
}
MULTIPY_ROUTE void* multipy_route_library_fallback(void* library, void* kernel) {
  return routes().libraryFallback(slot(), library, kernel);
}
MULTIPY_ROUTE bool multipy_route_has_kernel(const void* entry, std::uint16_t key) {
  return routes().hasKernel(slot(), entry, key);
}
MULTIPY_ROUTE bool multipy_route_has_any_kernel(const void* entry, std::uint64_t keys) {
  return routes().hasAnyKernel(slot(), entry, keys);
}

// Each interpreter registers its own Python kernels, so each is "in the hot
// seat", as torch calls it.
MULTIPY_ROUTE bool multipy_route_register_interpreter(void*) { return true; }

// With the GIL. Returns a borrowed reference, as a pybind11::handle is returned:
// in a register.
MULTIPY_ROUTE PyObject* multipy_route_torch_api_function(const void* operatorHandle) {
  const auto facts = routes().operatorFacts(operatorHandle);
  ApiFunctions& cache = apiFunctions();
  if (cache.generation != facts.generation) {
    if (cache.generation == 0) routes().onPurge(slot(), dropApiFunctions);
    cache.generation = facts.generation;
    dropApiFunctions();
  }
  if (const auto found = cache.objects.find(facts.identity); found != cache.objects.end())
    return found->second;

  Reference object = findApiFunction(*facts.name, *facts.overload);
  if (!object) {
    const std::string message = "looking up the Python object of operator " + *facts.name +
                                (facts.overload->empty() ? "" : "." + *facts.overload) +
                                " in torch.ops: " + takeErrorText();
    routes().fail(message.c_str());
  }
  // The look-up ran Python code, so another thread may have been here meanwhile.
  // torch.ops holds the object too: what is not cached remains valid.
  PyObject* const borrowed = object.get();
  if (cache.generation == facts.generation &&
      cache.objects.emplace(facts.identity, borrowed).second)
    object.release();
  return borrowed;
}

// --- PyInterpreter
MULTIPY_ROUTE void* multipy_route_hooks_registry() { return routes().hooksRegistry(slot()); }
MULTIPY_ROUTE void multipy_route_gpu_trace(const void* interpreter) {
  routes().gpuTrace(slot(), interpreter);
}

// --- once per process
MULTIPY_ROUTE void multipy_route_custom_class(void* self, const std::string* ns,
                                              const std::string* name, std::string* doc,
                                              const std::type_info* pointer,
                                              const std::type_info* capsule) {
  routes().customClass(slot(), self, ns, name, doc, pointer, capsule);
}
MULTIPY_ROUTE void multipy_route_add_method(void* classType, void* function) {
  routes().addMethod(slot(), classType, function);
}
MULTIPY_ROUTE void multipy_route_custom_class_method(void* uniquePointer) {
  routes().customClassMethod(slot(), uniquePointer);
}
MULTIPY_ROUTE void multipy_route_register_operator(void* operation) {
  routes().registerOperator(slot(), operation);
}
MULTIPY_ROUTE void multipy_route_register_handler(const std::string* name, void* handler) {
  routes().registerHandler(slot(), name, handler);
}
MULTIPY_ROUTE void multipy_route_register_opaque_type(const std::string* name) {
  routes().registerOpaqueType(slot(), name);
}
MULTIPY_ROUTE void multipy_route_unregister_opaque_type(const std::string* name) {
  routes().unregisterOpaqueType(slot(), name);
}

// --- autograd's engine
MULTIPY_ROUTE void multipy_route_engine(void* stub) { routes().engine(slot(), stub); }
MULTIPY_ROUTE c10::intrusive_ptr<c10::ivalue::Future> multipy_route_execute_graph_task(
    void* engine, const void* task, void* root, void* inputs) {
  return routes().executeGraphTask(slot(), engine, task, root, inputs);
}
MULTIPY_ROUTE void multipy_route_engine_thread(void* engine, const void* task) {
  routes().engineThread(slot(), engine, task);
}

// --- the profiler
MULTIPY_ROUTE void multipy_route_prepare_profiler(const void* config, const void* activities,
                                                  const void* filter) {
  routes().prepareProfiler(slot(), config, activities, filter);
}
MULTIPY_ROUTE void multipy_route_enable_profiler(const void* config, const void* activities,
                                                 const void* scopes) {
  routes().enableProfiler(slot(), config, activities, scopes);
}
MULTIPY_ROUTE multipy::TorchRoutes::OwnedPointer multipy_route_disable_profiler() {
  return routes().disableProfiler(slot());
}
MULTIPY_ROUTE void multipy_route_tracer(void* make) { routes().tracer(slot(), make); }
MULTIPY_ROUTE void multipy_route_memory_tracer(void* make) { routes().memoryTracer(slot(), make); }

// --- compiled autograd
MULTIPY_ROUTE void multipy_route_compiled_autograd(void* function) {
  routes().compiledAutograd(slot(), function);
}
MULTIPY_ROUTE std::vector<at::Tensor> multipy_route_engine_execute(void* engine, const void* roots,
                                                                   const void* inputs,
                                                                   bool keepGraph, bool createGraph,
                                                                   bool accumulate,
                                                                   const void* outputs) {
  return routes().engineExecute(slot(), engine, roots, inputs, keepGraph, createGraph, accumulate,
                                outputs);
}
MULTIPY_ROUTE void multipy_route_begin_compiling(void*, void* interface) {
  routes().beginCompiling(slot(), interface);
}
MULTIPY_ROUTE void multipy_route_end_compiling(void*) { routes().endCompiling(slot()); }
MULTIPY_ROUTE const void* multipy_route_compiler_interface() {
  return routes().compilerInterface(slot());
}

// --- operators by name
MULTIPY_ROUTE std::vector<std::shared_ptr<void>> multipy_route_all_operators() {
  return routes().allOperators(slot());
}
MULTIPY_ROUTE const void* multipy_route_operators_for(std::uint32_t symbol) {
  return routes().operatorsFor(slot(), symbol);
}
MULTIPY_ROUTE std::vector<std::shared_ptr<void>> multipy_route_sorted_operators_for(
    std::uint32_t symbol) {
  return routes().sortedOperatorsFor(slot(), symbol);
}
MULTIPY_ROUTE std::shared_ptr<void> multipy_route_find_operator(const c10::OperatorName* name) {
  return routes().findOperator(slot(), name);
}

MULTIPY_ROUTE std::vector<c10::OperatorName> multipy_route_all_operator_names(void* dispatcher) {
  return routes().allOperatorNames(slot(), dispatcher);
}
MULTIPY_ROUTE std::vector<c10::OperatorName> multipy_route_registrations(const void* dispatcher,
                                                                         std::uint32_t key) {
  return routes().registrations(slot(), dispatcher, key);
}

// --- process groups by name
MULTIPY_ROUTE void multipy_route_register_process_group(const std::string* name,
                                                        const void* group) {
  routes().registerProcessGroup(slot(), name, group);
}
MULTIPY_ROUTE multipy::TorchRoutes::OwnedPointer multipy_route_resolve_process_group(
    const std::string* name) {
  return routes().resolveProcessGroup(slot(), name);
}
MULTIPY_ROUTE void multipy_route_unregister_process_group(const std::string* name) {
  routes().unregisterProcessGroup(slot(), name);
}
MULTIPY_ROUTE void multipy_route_unregister_all_process_groups() {
  routes().unregisterAllProcessGroups(slot());
}

// --- settings
MULTIPY_ROUTE const void* multipy_route_default_generator() {
  return routes().defaultGenerator(slot());
}
MULTIPY_ROUTE void* multipy_route_global_context() { return routes().globalContext(slot()); }
MULTIPY_ROUTE std::uint16_t multipy_route_default_dtype() { return routes().defaultDtype(slot()); }
MULTIPY_ROUTE std::uint16_t multipy_route_default_complex_dtype() {
  return routes().defaultComplexDtype(slot());
}
MULTIPY_ROUTE std::int8_t multipy_route_default_scalar_type() {
  return routes().defaultScalarType(slot());
}
MULTIPY_ROUTE void multipy_route_set_default_dtype(std::uint16_t dtype) {
  routes().setDefaultDtype(slot(), dtype);
}
MULTIPY_ROUTE void multipy_route_set_num_threads(int number) {
  routes().setNumThreads(slot(), number);
}
MULTIPY_ROUTE void multipy_route_init_num_threads() { routes().initNumThreads(slot()); }

// --- decompositions
MULTIPY_ROUTE void multipy_route_register_decomposition(const c10::FunctionSchema* schema,
                                                        std::shared_ptr<void>* graph) {
  routes().registerDecomposition(slot(), schema, graph);
}
MULTIPY_ROUTE std::optional<std::shared_ptr<void>> multipy_route_get_decomposition(
    const c10::FunctionSchema* schema) {
  return routes().getDecomposition(slot(), schema);
}

// --- levels of forward-mode autograd
MULTIPY_ROUTE std::shared_ptr<void> multipy_route_find_forward_level(std::uint64_t index) {
  return routes().findForwardLevel(slot(), index);
}

// --- the last writer wins
MULTIPY_ROUTE void multipy_route_print_handler(void* function) {
  routes().printHandler(slot(), function);
}
MULTIPY_ROUTE void multipy_route_callstack(void* function) { routes().callstack(slot(), function); }
MULTIPY_ROUTE void multipy_route_source_location(void* function) {
  routes().sourceLocation(slot(), function);
}
MULTIPY_ROUTE void multipy_route_warn(void* function) { routes().warn(slot(), function); }
MULTIPY_ROUTE void multipy_route_stack_fetcher(std::function<std::string()>* fetcher) {
  routes().stackFetcher(slot(), fetcher);
}
MULTIPY_ROUTE void multipy_route_object_conversion(void* conversion) {
  routes().objectConversion(slot(), conversion);
}
MULTIPY_ROUTE void* multipy_route_lazy_frames() { return routes().lazyFrames(slot()); }
MULTIPY_ROUTE void multipy_route_unwinder(void* unwinder) { routes().unwinder(slot(), unwinder); }

#undef MULTIPY_ROUTE
