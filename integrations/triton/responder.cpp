#include "integrations/triton/responder.h"

#include <cstring>
#include <memory>
#include <utility>

#include "integrations/triton/errors.h"
#include "integrations/triton/statistics.h"

namespace multipy::triton {
namespace {

struct DeleteResponse {
  void operator()(TRITONBACKEND_Response* response) const noexcept {
    logIfError(TRITONBACKEND_ResponseDelete(response), "delete a response");
  }
};
using OwnedResponse = std::unique_ptr<TRITONBACKEND_Response, DeleteResponse>;

OwnedResponse newResponse(TRITONBACKEND_ResponseFactory* factory) {
  TRITONBACKEND_Response* response = nullptr;
  check(TRITONBACKEND_ResponseNewFromFactory(&response, factory), "make a response");
  return OwnedResponse(response);
}

void writeOutput(TRITONBACKEND_Response* response, const TensorRow& tensor) {
  TRITONBACKEND_Output* output = nullptr;
  check(TRITONBACKEND_ResponseOutput(response, &output, tensor.name.c_str(), tensor.type,
                                     tensor.shape.data(),
                                     static_cast<std::uint32_t>(tensor.shape.size())),
        "add an output");
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  std::int64_t memoryId = 0;
  check(TRITONBACKEND_OutputBuffer(output, &buffer, tensor.size, &memory, &memoryId),
        "get memory for an output");
  if (tensor.size == 0) return;
  if (memory == TRITONSERVER_MEMORY_GPU)
    throw TritonError(TRITONSERVER_ERROR_UNSUPPORTED,
                      "output '" + tensor.name +
                          "' is wanted in a GPU's memory; this backend writes to the CPU's only");
  std::memcpy(buffer, tensor.data, tensor.size);
}

void setParameter(TRITONBACKEND_Response* response, const std::string& name,
                  const ParameterValue& value) {
  TRITONSERVER_Error* error = nullptr;
  if (const auto* const text = std::get_if<std::string>(&value))
    error = TRITONBACKEND_ResponseSetStringParameter(response, name.c_str(), text->c_str());
  else if (const auto* const number = std::get_if<std::int64_t>(&value))
    error = TRITONBACKEND_ResponseSetIntParameter(response, name.c_str(), *number);
  else
    error = TRITONBACKEND_ResponseSetBoolParameter(response, name.c_str(), std::get<bool>(value));
  check(error, "set a parameter of a response");
}

}  // namespace

Responder::Responder(TRITONBACKEND_Request* request, bool decoupled) : decoupled_(decoupled) {
  check(TRITONBACKEND_ResponseFactoryNew(&factory_, request), "make a request's response factory");
}

Responder::~Responder() { close(); }

void Responder::close() noexcept {
  closed_ = true;
  if (factory_ == nullptr) return;
  logIfError(TRITONBACKEND_ResponseFactoryIsCancelled(factory_, &cancelled_),
             "ask whether a request is cancelled");
  logIfError(TRITONBACKEND_ResponseFactoryDelete(std::exchange(factory_, nullptr)),
             "delete a request's response factory");
}

// The texts are those that users of Triton's Python backend know.
void Responder::admit(bool withResponse, std::uint32_t flags) {
  const auto refuse = [](const char* why) {
    throw TritonError(TRITONSERVER_ERROR_INTERNAL, std::string("Unable to send response. ") + why);
  };
  if (flags != 0 && flags != TRITONSERVER_RESPONSE_COMPLETE_FINAL)
    refuse("Unsupported flag provided.");
  if (!withResponse && flags == 0)
    refuse("Inference Response object must be provided when the response flags is set to zero.");
  if (!decoupled_ && withResponse && count_ > 0)
    refuse("Non-decoupled model cannot send more than one response.");
  if (!decoupled_ && !withResponse && count_ == 0)
    refuse("Non-decoupled model cannot send complete final before sending a response.");
  if (closed_) refuse("Response sender has been closed.");
  if (firstSent_ == 0) firstSent_ = nanoseconds();
}

void Responder::sent(std::uint32_t flags) {
  ++count_;
  if (flags == TRITONSERVER_RESPONSE_COMPLETE_FINAL) close();
}

void Responder::send(const ResponseContent& content, std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  admit(true, flags);
  OwnedResponse response = newResponse(factory_);
  for (const auto& [name, value] : content.parameters) setParameter(response.get(), name, value);
  for (const TensorRow& tensor : content.outputs) writeOutput(response.get(), tensor);
  // (Triton takes the response whatever it answers.)
  check(TRITONBACKEND_ResponseSend(response.release(), flags, nullptr), "send a response");
  sent(flags);
}

void Responder::sendError(TRITONSERVER_Error_Code code, const std::string& message,
                          std::uint32_t flags) {
  const OwnedError error(TRITONSERVER_ErrorNew(code, message.c_str()));
  const std::lock_guard lock(mutex_);
  admit(true, flags);
  check(TRITONBACKEND_ResponseSend(newResponse(factory_).release(), flags, error.get()),
        "send an error");
  failed_ = true;
  sent(flags);
}

void Responder::sendLast(std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  admit(false, flags);
  check(TRITONBACKEND_ResponseFactorySendFlags(factory_, flags),
        "say that there are no more responses");
  sent(flags);
}

void Responder::fail(TRITONSERVER_Error* error) noexcept {
  const std::lock_guard lock(mutex_);
  failNow(error);
}

void Responder::drop() noexcept {
  const std::lock_guard lock(mutex_);
  dropped_ = true;
  failIfDropped();
}

void Responder::endExecution() noexcept {
  const std::lock_guard lock(mutex_);
  executing_ = false;
  failIfDropped();
}

// Its client is not to wait for ever.
void Responder::failIfDropped() noexcept {
  if (!dropped_ || executing_ || closed_) return;
  // Its client has been told of an error, and more would be too much where that ends the gRPC
  // stream (header triton_grpc_error): Triton 2.51 crashes then.
  if (failed_) return close();
  const OwnedError error(TRITONSERVER_ErrorNew(
      TRITONSERVER_ERROR_INTERNAL,
      "the model has dropped the request without a last response: execute() returned none for it, "
      "or its response sender has gone before TRITONSERVER_RESPONSE_COMPLETE_FINAL was sent"));
  failNow(error.get());
}

void Responder::failNow(TRITONSERVER_Error* error) noexcept {
  if (closed_) return;
  failed_ = true;
  try {
    // A model that is not decoupled may have sent its one response already, and not the flag.
    if (!decoupled_ && count_ > 0)
      logIfError(
          TRITONBACKEND_ResponseFactorySendFlags(factory_, TRITONSERVER_RESPONSE_COMPLETE_FINAL),
          "say that there are no more responses");
    else
      logIfError(TRITONBACKEND_ResponseSend(newResponse(factory_).release(),
                                            TRITONSERVER_RESPONSE_COMPLETE_FINAL, error),
                 "send an error");
  } catch (...) {
    logIfError(currentError().release(), "tell a request's error to its client");
  }
  close();
}

void Responder::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  close();
}

bool Responder::isCancelled() const {
  const std::lock_guard lock(mutex_);
  if (factory_ == nullptr) return cancelled_;
  bool cancelled = false;
  check(TRITONBACKEND_ResponseFactoryIsCancelled(factory_, &cancelled),
        "ask whether a request is cancelled");
  return cancelled;
}

bool Responder::isClosed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool Responder::hasFailed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

std::uint64_t Responder::firstSent() const {
  const std::lock_guard lock(mutex_);
  return firstSent_;
}

}  // namespace multipy::triton
