// Opaque types of several interpreters (torch 2.9 and later).
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/schema_type_parser.h>

#include <string>

#include "abi/torch_routes.h"
#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

TEST(OpaqueTypes, AreCounted) {
  const InterpreterId slots[] = {process::Ownership::instance().admit(),
                                 process::Ownership::instance().admit()};
  const auto& routes = torchRoutes();
  const std::string name = "MultipyTestOpaque";
  routes.registerOpaqueType(slots[0], &name);
  routes.registerOpaqueType(slots[1], &name);
  EXPECT_TRUE(torch::jit::isRegisteredOpaqueType(name));
  routes.unregisterOpaqueType(slots[0], &name);
  EXPECT_TRUE(torch::jit::isRegisteredOpaqueType(name)) << "the other one uses it";
  routes.unregisterOpaqueType(slots[0], &name);
  EXPECT_TRUE(torch::jit::isRegisteredOpaqueType(name)) << "not by giving it up twice";
  purge(slots[1]);
  EXPECT_FALSE(torch::jit::isRegisteredOpaqueType(name));
  for (const InterpreterId slot : slots) process::Ownership::instance().release(slot);
}

}  // namespace
}  // namespace multipy::bridge
