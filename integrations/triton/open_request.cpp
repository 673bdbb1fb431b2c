#include "integrations/triton/open_request.h"

#include <cstring>
#include <utility>

#include "integrations/triton/errors.h"

namespace multipy::triton {
namespace {

// (A twentieth of what it takes Python to make an object of it.)
constexpr std::uint64_t kSmall = 4096;

struct Piece {
  const void* data = nullptr;
  std::uint64_t size = 0;
};

Piece pieceOf(TRITONBACKEND_Input* input, std::uint32_t index, const std::string& name) {
  Piece piece;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;  // what we would like
  std::int64_t memoryId = 0;
  check(TRITONBACKEND_InputBuffer(input, index, &piece.data, &piece.size, &memory, &memoryId),
        "get an input's memory");
  if (memory == TRITONSERVER_MEMORY_GPU)
    throw TritonError(
        TRITONSERVER_ERROR_UNSUPPORTED,
        "input '" + name + "' is in a GPU's memory; this backend reads inputs in the CPU's only");
  return piece;
}

}  // namespace

OpenRequest::~OpenRequest() { release(); }

void OpenRequest::answered() noexcept {
  const std::lock_guard lock(mutex_);
  answered_ = true;
  if (!executing_) release();
}

void OpenRequest::endExecution() noexcept {
  const std::lock_guard lock(mutex_);
  executing_ = false;
  if (answered_) release();
}

void OpenRequest::release() noexcept {
  if (!adopted_ || std::exchange(released_, true)) return;
  if (rescheduled_) {
    TRITONSERVER_Error* const refused =
        TRITONBACKEND_RequestRelease(request_, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE);
    if (refused == nullptr) return;
    // It is ours still: the scheduler of this model cannot do that.
    logIfError(refused, "reschedule a request");
  }
  logIfError(TRITONBACKEND_RequestRelease(request_, TRITONSERVER_REQUEST_RELEASE_ALL),
             "give a request back");
}

std::unique_lock<std::mutex> OpenRequest::held() const {
  std::unique_lock lock(mutex_);
  if (released_) throw TritonError(TRITONSERVER_ERROR_INTERNAL, "the request has ended");
  return lock;
}

TensorRow OpenRequest::input(std::uint32_t index, bool copy) {
  TRITONBACKEND_Input* input = nullptr;
  check(TRITONBACKEND_RequestInputByIndex(request_, index, &input), "get an input");
  const char* name = nullptr;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  const std::int64_t* shape = nullptr;
  std::uint32_t dimensions = 0;
  std::uint64_t size = 0;
  std::uint32_t buffers = 0;
  check(TRITONBACKEND_InputProperties(input, &name, &type, &shape, &dimensions, &size, &buffers),
        "get an input's properties");
  TensorRow out{name, type, {shape, shape + dimensions}, nullptr, size};
  if (size == 0) return out;
  if (buffers == 1 && !copy && size > kSmall) {
    shows_ = true;
    out.data = pieceOf(input, 0, out.name).data;
    return out;
  }
  std::unique_ptr<char[]> whole(new char[size]);
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < buffers; ++i) {
    const Piece piece = pieceOf(input, i, out.name);
    if (piece.size > size - at)
      throw TritonError(TRITONSERVER_ERROR_INTERNAL,
                        "the pieces of input '" + out.name + "' are longer than the " +
                            std::to_string(size) + " bytes that Triton gives as its size");
    std::memcpy(whole.get() + at, piece.data, piece.size);
    at += piece.size;
  }
  if (at != size)
    throw TritonError(TRITONSERVER_ERROR_INTERNAL,
                      "the pieces of input '" + out.name + "' have " + std::to_string(at) +
                          " bytes; Triton gives " + std::to_string(size) + " as its size");
  out.data = whole.get();
  copies_.push_back(std::move(whole));
  return out;
}

std::vector<std::string> OpenRequest::requestedOutputs() const {
  std::uint32_t count = 0;
  check(TRITONBACKEND_RequestOutputCount(request_, &count), "count a request's outputs");
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    check(TRITONBACKEND_RequestOutputName(request_, i, &name),
          "get the name of a requested output");
    names.emplace_back(name);
  }
  return names;
}

bool OpenRequest::isCancelled() const {
  const auto lock = held();
  bool cancelled = false;
  check(TRITONBACKEND_RequestIsCancelled(request_, &cancelled),
        "ask whether a request is cancelled");
  return cancelled;
}

TRITONSERVER_InferenceTrace* OpenRequest::trace() const noexcept {
  TRITONSERVER_InferenceTrace* trace = nullptr;
  // (An error, from a server that was built without tracing, means none as well.)
  const OwnedError none{TRITONBACKEND_RequestTrace(request_, &trace)};
  return none ? nullptr : trace;
}

TRITONSERVER_InferenceTrace* OpenRequest::spawnTrace() const {
  const std::lock_guard lock(mutex_);
  TRITONSERVER_InferenceTrace* const whole = released_ ? nullptr : trace();
  if (whole == nullptr) return nullptr;
  TRITONSERVER_InferenceTrace* part = nullptr;
  check(TRITONSERVER_InferenceTraceSpawnChildTrace(whole, &part), "make a part of a trace");
  return part;
}

std::string OpenRequest::traceContext() const {
  const auto lock = held();
  TRITONSERVER_InferenceTrace* const trace = this->trace();
  if (trace == nullptr) return {};
  const char* context = nullptr;
  check(TRITONSERVER_InferenceTraceContext(trace, &context), "get a trace's context");
  return context == nullptr ? std::string() : std::string(context);
}

}  // namespace multipy::triton
