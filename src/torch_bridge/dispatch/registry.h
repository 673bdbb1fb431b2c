// What has been registered through private libtorch_pythons: the state behind
// registration_router.cpp (which changes it) and kernel_lookup.cpp (which asks).
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fork_mutex.h"
#include "base/per_interpreter.h"
#include "process/ownership.h"
#include "torch_bridge/dispatch/kernel_route.h"

namespace multipy::bridge {

/// A registration by a library that was there before the router, and tells it nothing when it goes:
/// one of the program's Python.
inline constexpr std::uint64_t kBeforeRouter = 0;

struct Definition {
  std::string schema;
  std::map<InterpreterId, std::uint64_t> users;  // slot → its registration
  std::vector<c10::RegistrationHandleRAII> handles;
  // torch's as yet, registered by the program's Python (program_kernels.h)
  bool isPrograms = false;
};

struct Namespace {
  std::set<InterpreterId> owners;
  std::optional<c10::RegistrationHandleRAII> handle;
};

/// Never destroyed: registrations are dropped by static destructors too.
struct Registry {
  base::ForkMutex lock;
  // Routes live for ever.
  std::map<std::pair<std::string, c10::DispatchKey>, KernelRoute> routes MULTIPY_GUARDED_BY(lock);
  // By "ns::name.overload".
  std::map<std::string, Definition> definitions MULTIPY_GUARDED_BY(lock);
  std::map<std::string, Namespace> namespaces MULTIPY_GUARDED_BY(lock);
  PerInterpreter<bool> purged MULTIPY_GUARDED_BY(lock){};
  std::uint64_t last MULTIPY_GUARDED_BY(lock) = 0;

  std::atomic<std::uint64_t> generation{1};

  static Registry& process() {
    static auto* const one = new Registry;
    return *one;
  }
};

/// The resident copy's registrations are the process's own.
inline std::string fullName(const c10::OperatorName& name) {
  return name.name + "." + name.overload_name;
}

}  // namespace multipy::bridge
