#include "integrations/triton/execution.h"

#include <algorithm>

#include "integrations/triton/errors.h"
#include "integrations/triton/request_table.h"
#include "integrations/triton/request_values.h"

namespace multipy::triton {

Execution::Execution(TRITONBACKEND_Request** requests, std::uint32_t count, Model model)
    : model_(model) {
  times_.executeStart = nanoseconds();
  parts_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i)
    parts_.push_back({std::make_shared<OpenRequest>(requests[i]),
                      std::make_shared<Responder>(requests[i], model.decoupled)});
}

void Execution::run(ModelInterpreter& interpreter, const runtime::CallOptions& options) noexcept {
  for (Part& part : parts_) part.request->adopt();
  try {
    RequestValues requests = toPython();
    times_.computeStart = nanoseconds();
    if (!requests.empty()) interpreter.execute(std::move(requests), options);
  } catch (...) {
    endAll(currentError().get());
  }
  for (Part& part : parts_) {
    if (part.request->isRescheduled()) part.responder->abandon();
    part.responder->endExecution();
  }
  times_.executeEnd = nanoseconds();
}

RequestValues Execution::toPython() noexcept {
  RequestValues requests;
  for (Part& part : parts_) {
    try {
      part.number = RequestTable::instance().add(part.request, part.responder);
      const std::uint64_t batchSize = requests.add(*part.request, part.number, model_.copyInputs);
      part.batchSize = model_.batches ? batchSize : 1;
    } catch (...) {
      part.responder->fail(currentError().get());
      RequestTable::instance().takeRequest(part.number);
      RequestTable::instance().takeResponder(part.number);
    }
  }
  return requests;
}

// What Python still has of them, it has in vain from now on.
void Execution::endAll(TRITONSERVER_Error* error) noexcept {
  for (Part& part : parts_) {
    part.request->reschedule(false);
    part.responder->fail(error);
    RequestTable::instance().takeResponder(part.number);
    // (A call that was not made has left nothing in Python that would let go of it.)
    if (!part.request->isAccepted()) RequestTable::instance().takeRequest(part.number);
  }
}

bool Execution::isCancelled() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) {
    return part.responder->isClosed() || part.responder->isCancelled();
  });
}

void Execution::finish(TRITONBACKEND_ModelInstance* instance) noexcept {
  times_.computeEnd = times_.executeEnd;
  std::uint64_t inferences = 0;
  for (const Part& part : parts_) {
    const std::uint64_t sent = part.responder->firstSent();
    if (sent >= times_.computeStart) times_.computeEnd = std::min(times_.computeEnd, sent);
    inferences += part.batchSize;
  }
  for (const Part& part : parts_)
    reportRequest(instance, part.request->get(), !part.responder->hasFailed(), times_);
  reportBatch(instance, inferences, times_);
  for (const Part& part : parts_) {
    if (part.responder->isClosed()) part.request->answered();
    part.request->endExecution();
  }
}

std::vector<std::uint64_t> Execution::keptRequests() const {
  std::vector<std::uint64_t> kept;
  for (const Part& part : parts_)
    if (part.request->showsTritonsMemory() && part.responder->isClosed() &&
        RequestTable::instance().findRequest(part.number) != nullptr)
      kept.push_back(part.number);
  return kept;
}

}  // namespace multipy::triton
