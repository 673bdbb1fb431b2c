#include "torch_bridge/state/cuda_captures.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "abi/torch_routes.h"
#include "torch_bridge/symbols/supported_torch.h"

namespace multipy::bridge {
namespace {

constexpr std::chrono::seconds kPatience{60};

// cudaStreamCaptureMode
constexpr int kGlobal = 0, kThreadLocal = 1;

// Of all devices together.
class Captures {
 public:
  void begin(const void* graph) {
    std::unique_lock lock(lock_);
    changed_.wait_for(lock, kPatience, [&] { return waits_ == 0; });
    underWay_[graph] = std::this_thread::get_id();
  }
  void end(const void* graph) {
    const std::lock_guard lock(lock_);
    underWay_.erase(graph);
    changed_.notify_all();
  }

  void beginWait() {
    std::unique_lock lock(lock_);
    if (!changed_.wait_for(lock, kPatience, [&] { return noneOfOtherThreads(); }))
      std::erase_if(underWay_, [](const auto& capture) { return isOfOtherThread(capture); });
    ++waits_;
  }
  void endWait() {
    const std::lock_guard lock(lock_);
    --waits_;
    changed_.notify_all();
  }

  static Captures& instance() {
    static auto* const all = new Captures;
    return *all;
  }

 private:
  using Capture = std::pair<const void* const, std::thread::id>;

  // A thread that waits for the device while it captures itself gets CUDA's error for it.
  static bool isOfOtherThread(const Capture& capture) {
    return capture.second != std::this_thread::get_id();
  }
  bool noneOfOtherThreads() const { return std::ranges::none_of(underWay_, isOfOtherThread); }

  std::mutex lock_;
  std::condition_variable changed_;
  std::map<const void*, std::thread::id> underWay_;  // by their graphs
  int waits_ = 0;
};

void beginCapture(InterpreterId, void* graph, unsigned long long pool,
                  unsigned long long poolOfUser, int mode) {
  static auto* const begin =
      findTorchCudaFunction<void(void*, unsigned long long, unsigned long long, int)>(
          cudaSymbols().captureBegin);
  Captures::instance().begin(graph);
  try {
    begin(graph, pool, poolOfUser, mode == kGlobal ? kThreadLocal : mode);
  } catch (...) {
    Captures::instance().end(graph);
    throw;
  }
}

struct CaptureEnds {
  const void* graph;
  ~CaptureEnds() { Captures::instance().end(graph); }
};

void endCapture(InterpreterId, void* graph) {
  static auto* const end = findTorchCudaFunction<void(void*)>(cudaSymbols().captureEnd);
  const CaptureEnds ends{graph};
  end(graph);
}

struct Wait {
  Wait() { Captures::instance().beginWait(); }
  ~Wait() { Captures::instance().endWait(); }
};

void synchronize() {
  static auto* const wait = findTorchCudaFunction<void()>(cudaSymbols().synchronize);
  const Wait waiting;
  wait();
}

}  // namespace

void addCudaCaptureRoutes(TorchRoutes& routes) {
  routes.beginCapture = beginCapture;
  routes.endCapture = endCapture;
  routes.synchronizeDevice = [](InterpreterId) { synchronize(); };
}

ImportRedirections cudaCaptureRedirections() {
  return {redirection(cudaSymbols().synchronize, synchronize)};
}

}  // namespace multipy::bridge
