// An autograd engine per interpreter. See engine_router.cpp.
//
// Threads: all functions from any thread.
#pragma once

#include "interpreter/torch_routes.h"

namespace multipy::routing {

void addEngineRoutes(TorchRoutes& routes);
void purgeEngine(int slot);

}  // namespace multipy::routing
