#include "integrations/triton/python_functions.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "integrations/triton/errors.h"
#include "integrations/triton/log.h"
#include "integrations/triton/request_table.h"
#include "integrations/triton/response_reader.h"

namespace multipy::triton {
namespace {

// Why the last function of this thread failed, for ctypes to make an object of at once: it returns
// to Python in the same thread.
thread_local std::string failure;

/// Null, or the text of what `work` throws.
template <typename Work>
const char* told(const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (...) {
    const OwnedError error = currentError();
    failure = TRITONSERVER_ErrorMessage(error.get());
    return failure.c_str();
  }
}

RequestTable& table() { return RequestTable::instance(); }

// --- each is what the Python function of its name calls

void writeLog(int level, const char* file, int line, const char* message) noexcept {
  logIfError(
      TRITONSERVER_LogMessage(static_cast<TRITONSERVER_LogLevel>(level), file, line, message),
      "write to the log");
}

int isLogged(int level) noexcept {
  return TRITONSERVER_LogIsEnabled(static_cast<TRITONSERVER_LogLevel>(level)) ? 1 : 0;
}

const char* accept(const std::uint64_t* numbers, std::uint64_t count) noexcept {
  return told([&] {
    for (std::uint64_t i = 0; i < count; ++i) table().request(numbers[i])->accept();
  });
}

const char* sendResponse(std::uint64_t number, const char* bytes, std::uint64_t size,
                         std::uint32_t flags) noexcept {
  return told(
      [&] { table().responder(number)->send(readResponse(std::string_view(bytes, size)), flags); });
}

const char* sendError(std::uint64_t number, int code, const char* message,
                      std::uint32_t flags) noexcept {
  return told([&] {
    table().responder(number)->sendError(static_cast<TRITONSERVER_Error_Code>(code), message,
                                         flags);
  });
}

const char* sendLast(std::uint64_t number, std::uint32_t flags) noexcept {
  return told([&] { table().responder(number)->sendLast(flags); });
}

const char* requestIsCancelled(std::uint64_t number, int* cancelled) noexcept {
  return told([&] { *cancelled = table().request(number)->isCancelled() ? 1 : 0; });
}

const char* responderIsCancelled(std::uint64_t number, int* cancelled) noexcept {
  return told([&] { *cancelled = table().responder(number)->isCancelled() ? 1 : 0; });
}

const char* setReleaseFlags(std::uint64_t number, std::uint32_t flags) noexcept {
  return told([&] {
    table().request(number)->reschedule(flags == TRITONSERVER_REQUEST_RELEASE_RESCHEDULE);
  });
}

const char* traceContext(std::uint64_t number, const char** context) noexcept {
  return told([&] {
    failure = table().request(number)->traceContext();
    *context = failure.c_str();
  });
}

void dropRequest(std::uint64_t number) noexcept { table().takeRequest(number); }

// The last one that could answer has gone: the client is not to wait for ever.
void dropResponder(std::uint64_t number) noexcept {
  const auto responder = table().takeResponder(number);
  if (responder == nullptr || responder->isClosed()) return;
  const OwnedError error(TRITONSERVER_ErrorNew(
      TRITONSERVER_ERROR_INTERNAL,
      "the model has dropped the request without a last response: execute() returned none for it, "
      "or its response sender has gone before TRITONSERVER_RESPONSE_COMPLETE_FINAL was sent"));
  responder->fail(error.get());
}

template <typename Function>
std::int64_t address(Function* function) {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(function));
}

}  // namespace

at::IValue pythonFunctions() {
  c10::Dict<std::string, std::int64_t> out;
  out.insert("write_log", address(writeLog));
  out.insert("is_logged", address(isLogged));
  out.insert("accept", address(accept));
  out.insert("send_response", address(sendResponse));
  out.insert("send_error", address(sendError));
  out.insert("send_last", address(sendLast));
  out.insert("request_is_cancelled", address(requestIsCancelled));
  out.insert("responder_is_cancelled", address(responderIsCancelled));
  out.insert("set_release_flags", address(setReleaseFlags));
  out.insert("trace_context", address(traceContext));
  out.insert("drop_request", address(dropRequest));
  out.insert("drop_responder", address(dropResponder));
  return out;
}

}  // namespace multipy::triton
