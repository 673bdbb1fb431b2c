// An autograd engine per interpreter. See engine_router.cpp.
//
// Threads: all functions from any thread.
#pragma once

#include "base/interpreter_id.h"

namespace multipy {
struct TorchRoutes;
}  // namespace multipy

namespace multipy::bridge {

class ReplacedWords;

void addEngineRoutes(TorchRoutes& routes);
/// The engine that torch has now becomes the program's own Python's. Before any interpreter has
/// torch.
void adoptEngine(const ReplacedWords& before);
/// A part of teardown: the threads of its autograd engine end. If engineThreads() is not 0
/// after that (engine_threads.h), its libraries must not be unloaded.
void stopEngine(InterpreterId slot);
void purgeEngine(InterpreterId slot);

}  // namespace multipy::bridge
