#include "torch_bridge/state/cuda_captures.h"

#include <chrono>

#include "abi/torch_routes.h"
#include "torch_bridge/state/capture_turns.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

// cudaStreamCaptureMode
constexpr int kGlobal = 0, kThreadLocal = 1;

// Of all devices together.
CaptureTurns& turns() {
  static auto* const all = new CaptureTurns(std::chrono::minutes(1));
  return *all;
}

void beginCapture(InterpreterId, void* graph, unsigned long long pool,
                  unsigned long long poolOfUser, int mode) {
  static auto* const begin =
      findTorchCudaFunction<void(void*, unsigned long long, unsigned long long, int)>(
          cudaSymbols().captureBegin);
  turns().beginCapture(graph);
  try {
    begin(graph, pool, poolOfUser, mode == kGlobal ? kThreadLocal : mode);
  } catch (...) {
    turns().endCapture(graph);
    throw;
  }
}

struct CaptureEnds {
  const void* graph;
  ~CaptureEnds() { turns().endCapture(graph); }
};

template <auto symbol>
void endCapture(InterpreterId, void* graph) {
  static auto* const end = findTorchCudaFunction<void(void*)>(cudaSymbols().*symbol);
  const CaptureEnds ends{graph};
  end(graph);
}

struct Wait {
  Wait() { turns().beginWait(); }
  ~Wait() { turns().endWait(); }
};

void synchronize() {
  static auto* const wait = findTorchCudaFunction<void()>(cudaSymbols().synchronize);
  const Wait waiting;
  wait();
}

}  // namespace

void addCudaCaptureRoutes(TorchRoutes& routes) {
  routes.beginCapture = beginCapture;
  routes.endCapture = endCapture<&CudaSymbols::captureEnd>;
  routes.endCaptureFirst = endCapture<&CudaSymbols::captureEndFirst>;
  routes.synchronizeDevice = [](InterpreterId) { synchronize(); };
}

ImportRedirections cudaCaptureRedirections() {
  return {redirection(cudaSymbols().synchronize, synchronize)};
}

}  // namespace multipy::bridge
