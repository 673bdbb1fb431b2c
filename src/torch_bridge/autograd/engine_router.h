// An autograd engine per interpreter. See engine_router.cpp.
//
// Threads: all functions from any thread.
#pragma once

#include "abi/torch_routes.h"

namespace multipy::routing {

void addEngineRoutes(TorchRoutes& routes);
/// A part of teardown: the threads of its autograd engine end. If engineThreads() is not 0
/// after that (engine_threads.h), its libraries must not be unloaded.
void stopEngine(int slot);
void purgeEngine(int slot);

}  // namespace multipy::routing
