// One call of execute(): the requests of one batch, from the server to Python and back.
//
// A request whose inputs cannot be read gets an error and does not come to Python; where execute()
// raises, those that have no last response yet get that error; a decoupled model may answer later.
//
// Threads: used by the thread that executes.
#pragma once

#include <cstdint>
#include <vector>

#include "integrations/triton/model_interpreter.h"
#include "integrations/triton/request_batch.h"
#include "integrations/triton/statistics.h"

namespace multipy::triton {

class Execution {
 public:
  struct Model {
    bool decoupled;
    bool batches;                 // its max_batch_size is not 0
    bool copyInputs;              // all of them (open_request.h)
    const std::string& instance;  // its name; outlives the execution
  };

  /// The requests are still the server's: what this throws leaves them to it.
  Execution(TRITONBACKEND_Request** requests, std::uint32_t count, Model model);
  /// Takes the requests, has the model execute them, and answers what that has left unanswered.
  void run(ModelInterpreter& interpreter, const runtime::CallOptions& options) noexcept;
  /// After run().
  void finish(TRITONBACKEND_ModelInstance* instance) noexcept { batch_.finish(instance, times_); }
  const RequestBatch& batch() const noexcept { return batch_; }
  /// Numbers of answered requests that Python still refers to, whose inputs are Triton's memory.
  std::vector<std::uint64_t> keptRequests() const;

 private:
  RequestValues toPython() noexcept;
  void endAll(TRITONSERVER_Error* error) noexcept;

  const Model model_;
  RequestBatch batch_;
  std::vector<std::uint64_t> numbers_;  // of each part in the RequestTable; 0: not in there
  ExecutionTimes times_;
};

}  // namespace multipy::triton
