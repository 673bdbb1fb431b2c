// A request of a model to another one, from the moment in which it is sent.
//
// It belongs to the server, too, which answers and releases it in its own time: until it has been
// released, its inputs' memory, which is Python's, has to stay where it is. So Python asks for that
// before it lets go of them (python/_multipy_triton_calls.py).
//
// Threads: every member from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "integrations/triton/inference_request.h"
#include "integrations/triton/received_response.h"
#include "integrations/triton/triton_api.h"

namespace multipy::triton {

class InferenceCall {
 public:
  /// Sends it. `wakes`: an eventfd that is written to for each response, of which a copy is kept;
  /// or -1. TritonError: the model is not ready, or does not take such a request; nothing has been
  /// sent then.
  static std::shared_ptr<InferenceCall> send(TRITONSERVER_Server* server,
                                             const InferenceRequest& request, int wakes);
  explicit InferenceCall(int wakes);  // for send()
  InferenceCall(const InferenceCall&) = delete;
  InferenceCall& operator=(const InferenceCall&) = delete;
  ~InferenceCall();

  /// The next response, for which it is waited for so long; null if there is none until then.
  /// TritonError: one has been lost, since there was no memory for it.
  std::shared_ptr<ReceivedResponse> next(std::chrono::milliseconds patience);

  /// Asks the model to end it, unless it has its last response; it is answered all the same.
  void cancel() noexcept;

  /// Whether the server has released it, for which it is waited for so long.
  bool isReleased(std::chrono::milliseconds patience) const;

 private:
  struct Callbacks;
  void released() noexcept;
  void answered(std::shared_ptr<ReceivedResponse> response);
  void lost(bool wasLast) noexcept;
  void wake() noexcept;

  const int wakes_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  TRITONSERVER_InferenceRequest* request_ = nullptr;  // null: it is the server's no more
  std::deque<std::shared_ptr<ReceivedResponse>> responses_;
  bool isOver_ = false;  // the last one has come
  bool hasLost_ = false;
};

}  // namespace multipy::triton
