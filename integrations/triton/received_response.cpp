#include "integrations/triton/received_response.h"

#include <cstdlib>
#include <optional>
#include <vector>

#include "integrations/triton/errors.h"
#include "integrations/triton/rows.h"

namespace multipy::triton {
namespace {

TensorRow outputOf(TRITONSERVER_InferenceResponse* response, std::uint32_t index) {
  const char* name = nullptr;
  TensorRow out;
  const std::int64_t* shape = nullptr;
  std::uint64_t dimensions = 0;
  size_t size = 0;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  std::int64_t memoryId = 0;
  void* ours = nullptr;
  check(TRITONSERVER_InferenceResponseOutput(response, index, &name, &out.type, &shape, &dimensions,
                                             &out.data, &size, &memory, &memoryId, &ours),
        "get an output of a response");
  out.name = name;
  out.shape.assign(shape, shape + dimensions);
  out.size = size;
  return out;
}

std::pair<std::string, ParameterValue> parameterOf(TRITONSERVER_InferenceResponse* response,
                                                   std::uint32_t index) {
  const char* name = nullptr;
  TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
  const void* value = nullptr;
  check(TRITONSERVER_InferenceResponseParameter(response, index, &name, &type, &value),
        "get a parameter of a response");
  return {name, parameterValue(name, type, value)};
}

struct Content {
  std::vector<TensorRow> outputs;
  Parameters parameters;
  std::optional<TritonError> error;
};

Content contentOf(TRITONSERVER_InferenceResponse* response) {
  Content out;
  if (response == nullptr) return out;
  // (The error is the response's.)
  if (TRITONSERVER_Error* const error = TRITONSERVER_InferenceResponseError(response)) {
    out.error.emplace(TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
    return out;
  }
  std::uint32_t count = 0;
  check(TRITONSERVER_InferenceResponseOutputCount(response, &count), "count a response's outputs");
  for (std::uint32_t i = 0; i < count; ++i) out.outputs.push_back(outputOf(response, i));
  check(TRITONSERVER_InferenceResponseParameterCount(response, &count),
        "count a response's parameters");
  for (std::uint32_t i = 0; i < count; ++i) out.parameters.push_back(parameterOf(response, i));
  return out;
}

std::string rowOf(const Content& content, bool isLast, bool isNothingElse) {
  constexpr std::uint32_t kLast = 1, kNothingElse = 2;
  RowWriter out;
  out.number(static_cast<std::uint32_t>(content.outputs.size()));
  out.number(static_cast<std::uint32_t>(content.parameters.size()));
  out.number((isLast ? kLast : 0) | (isNothingElse ? kNothingElse : 0));
  out.number(static_cast<std::uint32_t>(content.error.has_value()));
  out.number(static_cast<std::uint64_t>(content.error ? content.error->code() : 0));
  out.text(content.error ? content.error->what() : "");
  for (const TensorRow& output : content.outputs) out.tensor(output);
  for (const auto& [key, value] : content.parameters) out.parameter(key, value);
  return std::move(out).take();
}

// --- the allocator's functions

// As many as the widest instructions take at once.
constexpr std::size_t kAlignment = 64;

TRITONSERVER_Error* allocate(TRITONSERVER_ResponseAllocator*, const char* name, size_t size,
                             TRITONSERVER_MemoryType, std::int64_t, void*, void** buffer,
                             void** ours, TRITONSERVER_MemoryType* memory, std::int64_t* memoryId) {
  *memory = TRITONSERVER_MEMORY_CPU;
  *memoryId = 0;
  *ours = nullptr;
  *buffer = nullptr;
  if (size == 0) return nullptr;
  const std::size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  *buffer = rounded < size ? nullptr : std::aligned_alloc(kAlignment, rounded);
  if (*buffer != nullptr) return nullptr;
  return guarded([&] {
    throw TritonError(TRITONSERVER_ERROR_UNAVAILABLE, "no memory for the " + std::to_string(size) +
                                                          " bytes of output '" + name + "'");
  });
}

TRITONSERVER_Error* release(TRITONSERVER_ResponseAllocator*, void* buffer, void*, size_t,
                            TRITONSERVER_MemoryType, std::int64_t) {
  std::free(buffer);
  return nullptr;
}

TRITONSERVER_Error* tellMemory(TRITONSERVER_ResponseAllocator*, void*, const char*, size_t*,
                               TRITONSERVER_MemoryType* memory, std::int64_t* memoryId) {
  *memory = TRITONSERVER_MEMORY_CPU;
  *memoryId = 0;
  return nullptr;
}

TRITONSERVER_ResponseAllocator* newAllocator() {
  TRITONSERVER_ResponseAllocator* made = nullptr;
  check(TRITONSERVER_ResponseAllocatorNew(&made, allocate, release, nullptr),
        "make an allocator for responses");
  check(TRITONSERVER_ResponseAllocatorSetQueryFunction(made, tellMemory),
        "say where responses are wanted");
  return made;
}

}  // namespace

ReceivedResponse::ReceivedResponse(TRITONSERVER_InferenceResponse* response, bool isLast)
    : response_(response), isLast_(isLast) {
  Content content;
  try {
    content = contentOf(response);
  } catch (const TritonError& error) {
    content = {};
    content.error = error;
  }
  row_ = rowOf(content, isLast, response == nullptr);
}

void ReceivedResponse::Delete::operator()(TRITONSERVER_InferenceResponse* response) const noexcept {
  logIfError(TRITONSERVER_InferenceResponseDelete(response), "delete a response");
}

TRITONSERVER_ResponseAllocator* responseAllocator() {
  static TRITONSERVER_ResponseAllocator* const allocator = newAllocator();
  return allocator;
}

}  // namespace multipy::triton
