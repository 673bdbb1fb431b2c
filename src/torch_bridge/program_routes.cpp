#include "torch_bridge/program_routes.h"

#include <ATen/core/operator_name.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "torch_bridge/symbols/supported_torch.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

// A function for each row of the table, with the program's id before its arguments.
namespace program {
#define MULTIPY_REDIRECT(route, result, parameters, arguments, ...)                 \
  result route parameters {                                                         \
    return torchRoutes().route(InterpreterId::program() MULTIPY_FURTHER arguments); \
  }
#include "abi/redirects.def"

bool registerInterpreter(void*) { return true; }  // its Python's kernels are wanted
}  // namespace program

struct Function {
  std::string_view route;
  const void* address;
};

constexpr std::string_view kPrefix = "multipy_route_";

const void* functionOf(std::string_view route) {
  static const std::array all{
#define MULTIPY_REDIRECT(route, ...) \
  Function{#route, reinterpret_cast<const void*>(program::route)},
#include "abi/redirects.def"
      Function{"registerInterpreter", reinterpret_cast<const void*>(program::registerInterpreter)},
  };
  route.remove_prefix(kPrefix.size());
  const auto found = std::find_if(all.begin(), all.end(),
                                  [route](const Function& each) { return each.route == route; });
  return found == all.end() ? nullptr : found->address;
}

// Where the program's Python goes on as it is: what it has of these is the process's own, which
// C++ and the threads of no interpreter see as well.
bool staysTorchs(std::string_view route) {
  static constexpr std::array<std::string_view, 14> kTorchs{"customClass",
                                                            "addMethod",
                                                            "customClassMethod",
                                                            "registerOperator",
                                                            "registerHandler",
                                                            "hooksRegistry",
                                                            "gpuTrace",
                                                            "registerProcessGroup",
                                                            "resolveProcessGroup",
                                                            "isProcessGroupRegistered",
                                                            "unregisterProcessGroup",
                                                            "unregisterAllProcessGroups",
                                                            "registerDecomposition",
                                                            "getDecomposition"};
  route.remove_prefix(kPrefix.size());
  return std::find(kTorchs.begin(), kTorchs.end(), route) != kTorchs.end();
}

}  // namespace

const ImportRedirections& programRedirections() {
  static const auto* const all = [] {
    auto* const all = new ImportRedirections;
    for (const RedirectedSymbol& symbol : redirectedSymbols()) {
      if (symbol.setting || symbol.defined || symbol.torchPythonOnly || staysTorchs(symbol.route))
        continue;
      if (const void* const function = functionOf(symbol.route))
        all->push_back({symbol.name, function});
    }
    return all;
  }();
  return *all;
}

}  // namespace multipy::bridge
