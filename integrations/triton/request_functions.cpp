#include "integrations/triton/python_functions.h"

#include <cstdint>
#include <string_view>

#include "integrations/triton/log.h"
#include "integrations/triton/request_table.h"
#include "integrations/triton/response_reader.h"

namespace multipy::triton {
namespace {

RequestTable& table() { return RequestTable::instance(); }

/// Has the responder send something, and tells the request if that was the last of it.
template <typename Send>
const char* toldOfSending(std::uint64_t number, const Send& send) noexcept {
  return told([&] {
    const auto responder = table().responder(number);
    send(*responder);
    if (!responder->isClosed()) return;
    if (const auto request = table().findRequest(number)) request->answered();
  });
}

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
  return toldOfSending(number, [&](Responder& responder) {
    responder.send(readResponse(std::string_view(bytes, size)), flags);
  });
}

const char* sendError(std::uint64_t number, int code, const char* message,
                      std::uint32_t flags) noexcept {
  return toldOfSending(number, [&](Responder& responder) {
    responder.sendError(static_cast<TRITONSERVER_Error_Code>(code), message, flags);
  });
}

const char* sendLast(std::uint64_t number, std::uint32_t flags) noexcept {
  return toldOfSending(number, [&](Responder& responder) { responder.sendLast(flags); });
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
    toldText() = table().request(number)->traceContext();
    *context = toldText().c_str();
  });
}

void dropRequest(std::uint64_t number) noexcept { table().takeRequest(number); }

void dropResponder(std::uint64_t number) noexcept {
  if (const auto responder = table().takeResponder(number)) responder->drop();
}

}  // namespace

std::string& toldText() noexcept {
  thread_local std::string text;
  return text;
}

FunctionTable requestFunctions() {
  return {named("write_log", writeLog),
          named("is_logged", isLogged),
          named("accept", accept),
          named("send_response", sendResponse),
          named("send_error", sendError),
          named("send_last", sendLast),
          named("request_is_cancelled", requestIsCancelled),
          named("responder_is_cancelled", responderIsCancelled),
          named("set_release_flags", setReleaseFlags),
          named("trace_context", traceContext),
          named("drop_request", dropRequest),
          named("drop_responder", dropResponder)};
}

}  // namespace multipy::triton
