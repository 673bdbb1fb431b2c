// An interpreter registers a kernel, and one of the allocations that this takes fails: each of
// them, one after the other.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <new>
#include <string>

#include "../faults/failing_calls.h"
#include "base/interpreter_id.h"
#include "process/ownership.h"
#include "routed_library.h"
#include "torch_bridge/dispatch/registration_router.h"
#include "torch_bridge/torch_bridge.h"

namespace multipy::bridge {
namespace {

using testing_support::Failing;
using testing_support::Times;
using torch::Library;

at::Tensor plus1(const at::Tensor& t) { return t + 1; }

class WithoutMemory : public testing::Test {
 protected:
  WithoutMemory() { openRegistrations(slot); }
  ~WithoutMemory() override {
    process::Ownership::setCurrent(InterpreterId::none());
    purgeRegistrations(slot);
    process::Ownership::instance().release(slot);
    EXPECT_EQ(statistics().routes, before.routes);
    EXPECT_EQ(statistics().kernels, before.kernels);
  }
  double call(const std::string& name) {
    process::Ownership::setCurrent(slot);
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "");
    return op.typed<at::Tensor(const at::Tensor&)>().call(at::zeros({})).item<double>();
  }

  const Statistics before = statistics();
  const InterpreterId slot = process::Ownership::instance().admit();
};

TEST_F(WithoutMemory, AKernelIsRegisteredWhollyOrNotAtAll) {
  constexpr long kMost = 1000;
  long nth = 0;
  for (bool failed = true; failed; ++nth) {
    ASSERT_LT(nth, kMost);
    // One that has no route yet.
    const std::string name = "op" + std::to_string(nth);
    RoutedLibrary library(slot, Library::DEF, "without_memory");
    library.define((name + "(Tensor x) -> Tensor").c_str());
    testing_support::failFrom(Failing::Memory, nth + 1, Times::Once);
    try {
      library.implement(name.c_str(), plus1);
      failed = testing_support::stopFailing() > nth;
    } catch (const std::bad_alloc&) {
      testing_support::stopFailing();
      EXPECT_EQ(statistics().kernels, before.kernels) << "allocation " << nth + 1;
      library.implement(name.c_str(), plus1);
    }
    EXPECT_EQ(call("without_memory::" + name), 1) << "allocation " << nth + 1;
  }
  EXPECT_GT(nth, 5);
}

}  // namespace
}  // namespace multipy::bridge
