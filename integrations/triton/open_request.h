// A request between the moment in which the server gives it to us and the one in which it is given
// back: as long as that lasts, its inputs' memory stays where it is, so Python can look at it.
//
// It is given back when neither the execution nor anything in Python refers to it any more. An
// array or a tensor over an input refers to it, so a model that keeps one does not read freed
// memory: its request stays open for as long.
//
// Threads: construction, input() and adopt() by the thread that executes; the rest from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

  /// An input, in one piece: Triton's own memory, or a copy that is kept here where that comes in
  /// several. TritonError for memory of a GPU.
  struct Input {
    std::string name;
    TRITONSERVER_DataType type;
    std::vector<std::int64_t> shape;
    const void* data;  // null where there are no bytes
    std::uint64_t size;
  };
  Input input(std::uint32_t index);

  /// Whether, instead of an answer, the server is to give it to the model again.
  void reschedule(bool wanted) noexcept { rescheduled_ = wanted; }
  bool isRescheduled() const noexcept { return rescheduled_; }

  /// Python has objects for it, the last of which lets go of it. Until then the execution does.
  void accept() noexcept { accepted_ = true; }
  bool isAccepted() const noexcept { return accepted_; }

  bool isCancelled() const;
  /// The context of the trace that the client has begun; empty without one.
  std::string traceContext() const;

 private:
  TRITONBACKEND_Request* const request_;
  bool adopted_ = false;
  std::atomic<bool> rescheduled_{false};
  std::atomic<bool> accepted_{false};
  std::vector<std::unique_ptr<char[]>> joined_;
};

}  // namespace multipy::triton
