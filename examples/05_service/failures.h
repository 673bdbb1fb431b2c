// What a client is told when a request cannot be answered, and what the log is told.
//
//   400       no JSON; or the model's code raised an exception of a class BadInput
//   404, 413  no such path; more than 16 MiB
//   503       QueueFullError, with Retry-After: --waiting requests are in line
//   504       DeadlineExceededError, in line or while the model ran
//   500       the model's code raised another exception (its type is told), or anything else
//
// The body is {"error": {"type": ..., "message": ...}}. Stacks and tracebacks are for the log.
#pragma once

#include <exception>
#include <string>

namespace service {

struct Failure {
  int status = 500;
  std::string type;
  std::string message;  // for the client
  std::string log;      // empty if /metrics says it well enough
};

Failure toFailure(const std::exception_ptr& error);

/// {"error": {"type": ..., "message": ...}}
std::string bodyOf(const std::string& type, const std::string& message);

}  // namespace service
