// torch::Library as an interpreter makes and uses one: through the table of routes.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <bit>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {

/// A torch::Library made and used through the routes of one slot.
class RoutedLibrary {
 public:
  RoutedLibrary(InterpreterId slot, torch::Library::Kind kind, std::string ns,
                std::optional<c10::DispatchKey> key = std::nullopt)
      : slot_(slot) {
    routes().libraryConstruct(slot, bytes_, kind, &ns, std::bit_cast<std::uint32_t>(key),
                              "routed_library.h", 1);
  }
  ~RoutedLibrary() { library()->~Library(); }
  RoutedLibrary(const RoutedLibrary&) = delete;

  void define(const char* schema) {
    c10::FunctionSchema parsed = torch::schema(schema);
    const std::vector<at::Tag> tags;
    routes().libraryDefine(slot_, library(), &parsed, nullptr, &tags, 0);
  }
  template <typename Kernel>
  void implement(const char* name, Kernel&& given) {
    torch::CppFunction kernel(std::forward<Kernel>(given));
    routes().libraryImplement(slot_, library(), name, &kernel, 0);
  }
  template <typename Kernel>
  void defineWithKernel(const char* schema, Kernel&& given) {
    torch::CppFunction kernel(std::forward<Kernel>(given));
    auto parsed = torch::detail::constructSchemaOrName(schema);
    const std::vector<at::Tag> tags;
    routes().libraryDefineWithKernel(slot_, library(), &parsed, &kernel, &tags);
  }
  void fallback(torch::CppFunction kernel) { routes().libraryFallback(slot_, library(), &kernel); }
  torch::Library* library() { return std::launder(reinterpret_cast<torch::Library*>(bytes_)); }

 private:
  static const TorchRoutes& routes() { return torchRoutes(); }
  const InterpreterId slot_;
  alignas(torch::Library) unsigned char bytes_[sizeof(torch::Library)];
};

}  // namespace multipy::bridge
