// What the profiler asks Python for: its stack and, from torch 2.8 on, its memory.
#pragma once

#include <torch/csrc/profiler/orchestration/python_tracer.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "torch_bridge/symbols/torch_features.h"

namespace multipy::bridge::feature {

namespace tracing = torch::profiler::impl::python_tracer;

// What torch uses where there is no Python. Each torch asks for some of these functions.
struct NoTracer final : tracing::PythonTracerBase {
  void stop() {}
  void restart() {}
  void register_gc_callback() {}
  std::vector<std::shared_ptr<torch::profiler::impl::Result>> getEvents(
      std::function<c10::time_t(c10::approx_time_t)>, std::vector<tracing::CompressedEvent>&,
      c10::time_t) {
    return {};
  }
};

#if MULTIPY_TORCH_MEMORY_TRACER
inline constexpr bool kHasMemoryTracer = true;
using MemoryTracer = tracing::PythonMemoryTracerBase;
struct NoMemoryTracer final : MemoryTracer {
  void start() override {}
  void stop() override {}
  void export_memory_history(const std::string&) override {}
};
using MakeMemoryTracer = tracing::MakeMemoryFn;
inline void registerMemoryTracer(MakeMemoryTracer make) { tracing::registerMemoryTracer(make); }
#else
inline constexpr bool kHasMemoryTracer = false;
/// None is registered.
struct MemoryTracer {};
using NoMemoryTracer = MemoryTracer;
using MakeMemoryTracer = std::unique_ptr<MemoryTracer> (*)();
inline void registerMemoryTracer(MakeMemoryTracer) {}
#endif

}  // namespace multipy::bridge::feature
