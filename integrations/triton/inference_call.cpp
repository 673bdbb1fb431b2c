#include "integrations/triton/inference_call.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "integrations/triton/errors.h"
#include "integrations/triton/request_table.h"

namespace multipy::triton {
namespace {

struct DeleteRequest {
  void operator()(TRITONSERVER_InferenceRequest* request) const noexcept {
    logIfError(TRITONSERVER_InferenceRequestDelete(request), "delete a request");
  }
};
using OwnedRequest = std::unique_ptr<TRITONSERVER_InferenceRequest, DeleteRequest>;

struct DeleteTrace {
  void operator()(TRITONSERVER_InferenceTrace* trace) const noexcept {
    logIfError(TRITONSERVER_InferenceTraceDelete(trace), "delete a trace");
  }
};
using OwnedTrace = std::unique_ptr<TRITONSERVER_InferenceTrace, DeleteTrace>;

// (The texts are those of Triton's Python backend.)
void requireReady(TRITONSERVER_Server* server, const InferenceRequest& request) {
  bool ready = false;
  check(TRITONSERVER_ServerModelIsReady(server, request.model.c_str(), request.version, &ready),
        "ask whether a model is ready");
  if (!ready)
    throw TritonError(
        TRITONSERVER_ERROR_UNAVAILABLE,
        "Failed for execute the inference request. Model '" + request.model + "' is not ready.");
  std::uint32_t flags = 0;
  check(TRITONSERVER_ServerModelTransactionProperties(server, request.model.c_str(),
                                                      request.version, &flags, nullptr),
        "ask how many responses a model sends");
  if (!request.decoupled && (flags & TRITONSERVER_TXN_DECOUPLED) != 0)
    throw TritonError(TRITONSERVER_ERROR_UNSUPPORTED,
                      "Model " + request.model +
                          " is using the decoupled. The current BLS request call doesn't support "
                          "models using the decoupled transaction policy. Please use "
                          "'decoupled=True' argument to the 'exec' or 'async_exec' calls for "
                          "decoupled models.'");
}

void setParameter(TRITONSERVER_InferenceRequest* request, const std::string& key,
                  const ParameterValue& value) {
  TRITONSERVER_Error* error = nullptr;
  if (const auto* const text = std::get_if<std::string>(&value))
    error = TRITONSERVER_InferenceRequestSetStringParameter(request, key.c_str(), text->c_str());
  else if (const auto* const number = std::get_if<std::int64_t>(&value))
    error = TRITONSERVER_InferenceRequestSetIntParameter(request, key.c_str(), *number);
  else
    error =
        TRITONSERVER_InferenceRequestSetBoolParameter(request, key.c_str(), std::get<bool>(value));
  check(error, "set a parameter of a request");
}

OwnedRequest newRequest(TRITONSERVER_Server* server, const InferenceRequest& from) {
  TRITONSERVER_InferenceRequest* request = nullptr;
  check(TRITONSERVER_InferenceRequestNew(&request, server, from.model.c_str(), from.version),
        "make a request");
  OwnedRequest owned(request);
  check(TRITONSERVER_InferenceRequestSetId(request, from.id.c_str()), "set a request's id");
  if (const auto* const text = std::get_if<std::string>(&from.correlationId))
    check(TRITONSERVER_InferenceRequestSetCorrelationIdString(request, text->c_str()),
          "set a request's correlation id");
  else
    check(TRITONSERVER_InferenceRequestSetCorrelationId(
              request, std::get<std::uint64_t>(from.correlationId)),
          "set a request's correlation id");
  check(TRITONSERVER_InferenceRequestSetFlags(request, from.flags), "set a request's flags");
  check(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, from.timeout),
        "set a request's timeout");
  for (const auto& [key, value] : from.parameters) setParameter(request, key, value);
  for (const TensorRow& input : from.inputs) {
    check(TRITONSERVER_InferenceRequestAddInput(request, input.name.c_str(), input.type,
                                                input.shape.data(), input.shape.size()),
          "add an input to a request");
    check(TRITONSERVER_InferenceRequestAppendInputData(request, input.name.c_str(), input.data,
                                                       input.size, TRITONSERVER_MEMORY_CPU, 0),
          "give an input's memory");
  }
  for (const std::string& output : from.outputs)
    check(TRITONSERVER_InferenceRequestAddRequestedOutput(request, output.c_str()),
          "ask for an output");
  return owned;
}

OwnedTrace traceFor(const InferenceRequest& request) {
  if (request.traceOf == 0) return nullptr;
  const auto open = RequestTable::instance().findRequest(request.traceOf);
  return OwnedTrace(open == nullptr ? nullptr : open->spawnTrace());
}

int copyOf(int descriptor) {
  if (descriptor < 0) return -1;
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    throw TritonError(TRITONSERVER_ERROR_UNAVAILABLE,
                      std::string("no descriptor to wake a coroutine by: ") + std::strerror(errno));
  return copy;
}

}  // namespace

// What the server calls; `ours` is a pointer to a shared one, which lives until the last call with
// it.
struct InferenceCall::Callbacks {
  using Shared = std::shared_ptr<InferenceCall>;

  static void release(TRITONSERVER_InferenceRequest* request, std::uint32_t, void* ours) {
    const std::unique_ptr<Shared> call(static_cast<Shared*>(ours));
    (*call)->released();
    const OwnedRequest deleted(request);
  }

  static void respond(TRITONSERVER_InferenceResponse* response, std::uint32_t flags, void* ours) {
    auto* const call = static_cast<Shared*>(ours);
    const bool isLast = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
    const std::unique_ptr<Shared> last(isLast ? call : nullptr);
    try {
      (*call)->answered(std::make_shared<ReceivedResponse>(response, isLast));
    } catch (...) {
      logIfError(currentError().release(), "take a response");
      (*call)->lost(isLast);
    }
  }
};

InferenceCall::InferenceCall(int wakes) : wakes_(copyOf(wakes)) {}

InferenceCall::~InferenceCall() {
  if (wakes_ >= 0) ::close(wakes_);
}

std::shared_ptr<InferenceCall> InferenceCall::send(TRITONSERVER_Server* server,
                                                   const InferenceRequest& request, int wakes) {
  try {
    requireReady(server, request);
    auto call = std::make_shared<InferenceCall>(wakes);
    OwnedRequest sent = newRequest(server, request);
    OwnedTrace trace = traceFor(request);
    auto forRelease = std::make_unique<Callbacks::Shared>(call);
    auto forResponses = std::make_unique<Callbacks::Shared>(call);
    check(TRITONSERVER_InferenceRequestSetReleaseCallback(sent.get(), Callbacks::release,
                                                          forRelease.get()),
          "say who is told of a request's end");
    check(TRITONSERVER_InferenceRequestSetResponseCallback(sent.get(), responseAllocator(), nullptr,
                                                           Callbacks::respond, forResponses.get()),
          "say who gets a request's responses");
    // (Before it is sent: it may be released at once.)
    call->request_ = sent.get();
    if (TRITONSERVER_Error* const error =
            TRITONSERVER_ServerInferAsync(server, sent.get(), trace.get())) {
      call->request_ = nullptr;
      check(error, "send a request");
    }
    static_cast<void>(sent.release());
    static_cast<void>(trace.release());
    static_cast<void>(forRelease.release());
    static_cast<void>(forResponses.release());
    return call;
  } catch (const TritonError& error) {
    throw TritonError(error.code(), "Model " + request.model +
                                        " - Error when running inference: " + error.what());
  }
}

void InferenceCall::released() noexcept {
  const std::lock_guard lock(mutex_);
  request_ = nullptr;
  changed_.notify_all();
}

void InferenceCall::answered(std::shared_ptr<ReceivedResponse> response) {
  {
    const std::lock_guard lock(mutex_);
    isOver_ = response->isLast();
    responses_.push_back(std::move(response));
  }
  wake();
}

void InferenceCall::lost(bool wasLast) noexcept {
  {
    const std::lock_guard lock(mutex_);
    hasLost_ = true;
    isOver_ = wasLast;
  }
  wake();
}

void InferenceCall::wake() noexcept {
  changed_.notify_all();
  const std::uint64_t one = 1;
  // (That it cannot count any further is no harm: it is readable then.)
  if (wakes_ >= 0) static_cast<void>(!::write(wakes_, &one, sizeof one));
}

std::shared_ptr<ReceivedResponse> InferenceCall::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return !responses_.empty() || hasLost_; }))
    return nullptr;
  if (responses_.empty())
    throw TritonError(TRITONSERVER_ERROR_UNAVAILABLE, "no memory for a response");
  auto out = std::move(responses_.front());
  responses_.pop_front();
  return out;
}

void InferenceCall::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  if (request_ != nullptr && !isOver_)
    logIfError(TRITONSERVER_InferenceRequestCancel(request_), "cancel a request");
}

bool InferenceCall::isReleased(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return request_ == nullptr; });
}

}  // namespace multipy::triton
