// The functions for requests to other models.
#include <chrono>
#include <cstdint>
#include <string_view>

#include "integrations/triton/inference_call.h"
#include "integrations/triton/inference_request.h"
#include "integrations/triton/numbered.h"
#include "integrations/triton/python_functions.h"

namespace multipy::triton {
namespace {

using std::chrono::milliseconds;

// (Never destroyed: Python's threads may still ask when the process ends.)
Numbered<InferenceCall>& calls() {
  static auto* const all = new Numbered<InferenceCall>("the request");
  return *all;
}

Numbered<ReceivedResponse>& responses() {
  static auto* const all = new Numbered<ReceivedResponse>("the response");
  return *all;
}

// --- each is what the Python function of its name calls

const char* sendCall(TRITONSERVER_Server* server, const char* bytes, std::uint64_t size, int wakes,
                     std::uint64_t* number) noexcept {
  return told([&] {
    const InferenceRequest request = readInferenceRequest(std::string_view(bytes, size));
    *number = calls().add(InferenceCall::send(server, request, wakes));
  });
}

// Number 0: none came in this time.
const char* nextResponse(std::uint64_t call, std::uint32_t patience, std::uint64_t* number,
                         const char** row, std::uint64_t* size) noexcept {
  return told([&] {
    *number = 0;
    const auto response = calls().get(call)->next(milliseconds(patience));
    if (response == nullptr) return;
    *row = response->row().data();
    *size = response->row().size();
    *number = responses().add(response);
  });
}

const char* cancelCall(std::uint64_t call) noexcept {
  return told([&] { calls().get(call)->cancel(); });
}

// 1: it has gone; 0: the server still has its inputs, and is asked to end it.
int dropCall(std::uint64_t number, std::uint32_t patience) noexcept {
  const auto call = calls().find(number);
  if (call == nullptr) return 1;
  call->cancel();
  if (!call->isReleased(milliseconds(patience))) return 0;
  calls().take(number);
  return 1;
}

void dropResponse(std::uint64_t number) noexcept { responses().take(number); }

}  // namespace

FunctionTable callFunctions() {
  return {named("send_call", sendCall), named("next_response", nextResponse),
          named("cancel_call", cancelCall), named("drop_call", dropCall),
          named("drop_response", dropResponse)};
}

}  // namespace multipy::triton
