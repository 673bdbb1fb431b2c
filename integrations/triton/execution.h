// One call of execute(): the requests of one batch, from the server to Python and back.
//
// Every request that is taken is answered and given back, whatever happens: one whose inputs cannot
// be read gets an error and does not come to Python; where execute() raises, those that have no
// last response yet get that error; a decoupled model may answer later.
//
// Threads: used by the thread that executes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "integrations/triton/model_interpreter.h"
#include "integrations/triton/open_request.h"
#include "integrations/triton/responder.h"
#include "integrations/triton/statistics.h"

namespace multipy::triton {

class Execution {
 public:
  struct Model {
    bool decoupled;
    bool batches;     // its max_batch_size is not 0
    bool copyInputs;  // all of them (open_request.h)
  };

  /// The requests are still the server's: what this throws leaves them to it.
  Execution(TRITONBACKEND_Request** requests, std::uint32_t count, Model model);
  /// Takes the requests, has the model execute them, and answers what that has left unanswered.
  void run(ModelInterpreter& interpreter, const runtime::CallOptions& options) noexcept;
  /// Whether all clients have gone. From any thread while run() is under way.
  bool isCancelled() const;
  /// Tells the server how long it took, and gives back the requests that have been answered. After
  /// run().
  void finish(TRITONBACKEND_ModelInstance* instance) noexcept;
  /// Numbers of answered requests that Python still refers to, whose inputs are Triton's memory.
  std::vector<std::uint64_t> keptRequests() const;

 private:
  struct Part {
    std::shared_ptr<OpenRequest> request;
    std::shared_ptr<Responder> responder;
    std::uint64_t number = 0;  // in the RequestTable; 0: not in there
    std::uint64_t batchSize = 0;
  };

  RequestValues toPython() noexcept;
  void endAll(TRITONSERVER_Error* error) noexcept;

  const Model model_;
  std::vector<Part> parts_;
  ExecutionTimes times_;
};

}  // namespace multipy::triton
