// Which operators one interpreter finds by name.
//
// A schema is registered with torch once per process (registration_router.h). An
// interpreter must not find those that only others have defined, or have not
// taken back yet: `torch.ops.mine.op` is an AttributeError where no code here has
// defined it. What C++ libraries define is found everywhere.
//
// Threads: all functions from any thread; they take the registration lock.
#pragma once

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

void addVisibleOperatorRoutes(TorchRoutes& routes);

}  // namespace multipy::bridge
