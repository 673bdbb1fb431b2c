// What Python has of requests: numbers. A number that is of nothing any more is an error in Python,
// and not a use of freed memory.
//
// Threads: every member from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "integrations/triton/open_request.h"
#include "integrations/triton/responder.h"

namespace multipy::triton {

class RequestTable {
 public:
  /// The process's one: numbers are never used again.
  static RequestTable& instance();

  std::uint64_t add(std::shared_ptr<OpenRequest> request, std::shared_ptr<Responder> responder);

  /// TritonError (INTERNAL) if Python has let go of it, or the execution has ended with an error.
  std::shared_ptr<OpenRequest> request(std::uint64_t number) const;
  std::shared_ptr<Responder> responder(std::uint64_t number) const;

  /// What is returned is dropped by the caller, who holds no lock then. Null: it has gone already.
  std::shared_ptr<OpenRequest> takeRequest(std::uint64_t number);
  std::shared_ptr<Responder> takeResponder(std::uint64_t number);

  /// Null: Python has let go of it.
  std::shared_ptr<OpenRequest> findRequest(std::uint64_t number) const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<OpenRequest>> requests_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Responder>> responders_;
};

}  // namespace multipy::triton
