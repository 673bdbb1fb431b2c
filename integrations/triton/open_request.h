// A request between the moment in which the server gives it to us and the one in which it is given
// back, which is when it has been answered and execute() has returned, or nothing in Python refers
// to it any more.
//
// Until then its inputs' memory stays where it is, and Python looks at it without a copy. The
// server's front ends use that memory again once the answer is out, so nothing would be won by
// keeping the request for longer: a model that keeps an input then has memory that is used for
// another request. Therefore small inputs are copied, which costs nothing that could be measured,
// and all of them from the first time on that a model was seen to keep one (instance.cpp). Copies
// stay as long as Python wants.
//
// Threads: construction, input(), requestedOutputs() and adopt() by the thread that executes; the
// rest from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "integrations/triton/rows.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class OpenRequest {
 public:
  /// Refers to the request, which is still the server's.
  explicit OpenRequest(TRITONBACKEND_Request* request) noexcept : request_(request) {}
  OpenRequest(const OpenRequest&) = delete;
  OpenRequest& operator=(const OpenRequest&) = delete;
  /// Gives it back, if it was adopted.
  ~OpenRequest();

  /// From now on it is ours to give back.
  void adopt() noexcept { adopted_ = true; }
  TRITONBACKEND_Request* get() const noexcept { return request_; }
  /// It has its last response; and the execution needs it no more. After both it is given back:
  /// copies of inputs stay, and nothing else can be asked any more.
  void answered() noexcept;
  void endExecution() noexcept;

  /// An input, in one piece: Triton's own memory, or a copy that is kept here: where it comes in
  /// several pieces, is small, or `copy` says so. TritonError for memory of a GPU.
  TensorRow input(std::uint32_t index, bool copy);
  /// Whether one of them was Triton's own memory.
  bool showsTritonsMemory() const noexcept { return shows_; }
  /// Names of the outputs that are asked for; none: all are.
  std::vector<std::string> requestedOutputs() const;

  /// Whether, instead of an answer, the server is to give it to the model again.
  void reschedule(bool wanted) noexcept { rescheduled_ = wanted; }
  bool isRescheduled() const noexcept { return rescheduled_; }

  /// Python has objects for it, the last of which lets go of it. Until then the execution does.
  void accept() noexcept { accepted_ = true; }
  bool isAccepted() const noexcept { return accepted_; }

  /// TritonError where it has been given back, as for the next.
  bool isCancelled() const;
  /// The context of the trace that the client has begun; empty without one.
  std::string traceContext() const;
  /// A part of that trace, for a request that is made for this one; the caller's to delete, or the
  /// server's with the request. Null without a trace, or if this has been given back.
  TRITONSERVER_InferenceTrace* spawnTrace() const;

 private:
  void release() noexcept;                              // under mutex_
  std::unique_lock<std::mutex> held() const;            // throws where it has been given back
  TRITONSERVER_InferenceTrace* trace() const noexcept;  // under mutex_

  mutable std::mutex mutex_;  // of giving it back
  TRITONBACKEND_Request* const request_;
  bool adopted_ = false;
  bool answered_ = false;
  bool executing_ = true;
  bool released_ = false;
  bool shows_ = false;
  std::atomic<bool> rescheduled_{false};
  std::atomic<bool> accepted_{false};
  std::vector<std::unique_ptr<char[]>> copies_;
};

}  // namespace multipy::triton
