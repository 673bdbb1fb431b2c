// The way back of one request: its responses, until the last one.
//
// It outlives the request itself where a model keeps the request's response sender: responses need
// only the factory that Triton made for them. Exactly one response is the last; a request that gets
// none is one that a client waits for in vain, so fail() is called before a Responder is dropped.
//
// Threads: every member from any thread. Responses of one request go out one after the other.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "integrations/triton/rows.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

/// The outputs' bytes belong to Python and stay until send() has returned.
struct ResponseContent {
  std::vector<TensorRow> outputs;
  Parameters parameters;
};

class Responder {
 public:
  /// TritonError where Triton makes no factory.
  Responder(TRITONBACKEND_Request* request, bool decoupled);
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  ~Responder();

  /// Sends a response with outputs, which are written into the memory that Triton gives for them.
  /// `flags`: TRITONSERVER_RESPONSE_COMPLETE_FINAL or 0. TritonError, and nothing was sent: it was
  /// the last one before, a second one of a model that is not decoupled, or Triton refuses it.
  void send(const ResponseContent& content, std::uint32_t flags);
  /// The same of an error.
  void sendError(TRITONSERVER_Error_Code code, const std::string& message, std::uint32_t flags);
  /// Says that there are no more responses. `flags` have to be
  /// TRITONSERVER_RESPONSE_COMPLETE_FINAL.
  void sendLast(std::uint32_t flags);

  /// The last response, an error, unless the last one has been sent. What Triton says against that
  /// goes to the log.
  void fail(TRITONSERVER_Error* error) noexcept;
  /// No more responses, without a last one: the request is rescheduled.
  void abandon() noexcept;
  /// Nothing in Python can answer any more. Without a last response that is an error: while
  /// execute() runs, it is left to endExecution(), since what execute() raises says more.
  void drop() noexcept;
  /// execute() has returned. (Made, a Responder is in an execution.)
  void endExecution() noexcept;

  /// Whether the client has gone, or has cancelled the request.
  bool isCancelled() const;
  bool isClosed() const;            // the last one has been sent
  bool hasFailed() const;           // one of them was an error
  std::uint64_t firstSent() const;  // when the first one was begun, as statistics count; 0: never

 private:
  void admit(bool withResponse, std::uint32_t flags);  // under mutex_
  void sent(std::uint32_t flags);                      // under mutex_
  void failNow(TRITONSERVER_Error* error) noexcept;    // under mutex_
  void failIfDropped() noexcept;                       // under mutex_
  void close() noexcept;                               // under mutex_

  mutable std::mutex mutex_;
  // Ours, and null once this is closed: Triton does not unload a model of which there is one, and
  // Python code may keep its requests.
  TRITONBACKEND_ResponseFactory* factory_ = nullptr;
  const bool decoupled_;
  bool closed_ = false;
  bool cancelled_ = false;  // when it was closed
  bool failed_ = false;
  bool executing_ = true;
  bool dropped_ = false;
  std::uint64_t count_ = 0;
  std::uint64_t firstSent_ = 0;
};

}  // namespace multipy::triton
