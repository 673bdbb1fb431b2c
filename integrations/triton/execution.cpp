#include "integrations/triton/execution.h"

#include "integrations/triton/errors.h"
#include "integrations/triton/request_table.h"
#include "integrations/triton/request_values.h"

namespace multipy::triton {

Execution::Execution(TRITONBACKEND_Request** requests, std::uint32_t count, Model model)
    : model_(model), batch_(requests, count, model.decoupled), numbers_(count) {
  times_.executeStart = nanoseconds();
}

void Execution::run(ModelInterpreter& interpreter, const runtime::CallOptions& options) noexcept {
  batch_.adopt();
  try {
    RequestValues requests = toPython();
    times_.computeStart = nanoseconds();
    if (!requests.empty()) interpreter.execute(std::move(requests), options);
  } catch (...) {
    // As users of Triton's Python backend know it.
    endAll(currentError("Failed to process the request(s) for model '" + model_.instance +
                        "', message: ")
               .get());
  }
  for (const RequestBatch::Part& part : batch_.parts()) {
    if (part.request->isRescheduled()) part.responder->abandon();
    part.responder->endExecution();
  }
  times_.executeEnd = nanoseconds();
}

RequestValues Execution::toPython() noexcept {
  RequestValues requests;
  RequestTable& table = RequestTable::instance();
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    RequestBatch::Part& part = batch_.parts()[i];
    try {
      numbers_[i] = table.add(part.request, part.responder);
      const std::uint64_t size = requests.add(*part.request, numbers_[i], model_.copyInputs);
      part.size = model_.batches ? size : 1;
    } catch (...) {
      part.responder->fail(currentError().get());
      table.takeRequest(numbers_[i]);
      table.takeResponder(numbers_[i]);
    }
  }
  return requests;
}

// What Python still has of them, it has in vain from now on.
void Execution::endAll(TRITONSERVER_Error* error) noexcept {
  RequestTable& table = RequestTable::instance();
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const RequestBatch::Part& part = batch_.parts()[i];
    part.request->reschedule(false);
    part.responder->fail(error);
    table.takeResponder(numbers_[i]);
    // (A call that was not made has left nothing in Python that would let go of it.)
    if (!part.request->isAccepted()) table.takeRequest(numbers_[i]);
  }
}

std::vector<std::uint64_t> Execution::keptRequests() const {
  std::vector<std::uint64_t> kept;
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const RequestBatch::Part& part = batch_.parts()[i];
    if (part.request->showsTritonsMemory() && part.responder->isClosed() &&
        RequestTable::instance().findRequest(numbers_[i]) != nullptr)
      kept.push_back(numbers_[i]);
  }
  return kept;
}

}  // namespace multipy::triton
