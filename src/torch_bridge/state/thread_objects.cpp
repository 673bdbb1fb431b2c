// Python objects that torch keeps for a thread of the program (ThreadLocalPythonObjects), by a
// name.
//
// libtorch_python hands them over in a std::shared_ptr whose code is its own. The thread may keep
// one for longer than the interpreter lives (torch 2.9 to 2.12 leave one behind in each thread that
// has called backward()), so it gets it in one of this library's. What the object itself is asked
// then, the disarmed PyInterpreter answers (py_interpreter_router.h).
#include <ATen/ThreadLocalPythonObjects.h>
#include <c10/core/SafePyObject.h>

#include <memory>
#include <string>
#include <utility>

#include "abi/torch_routes.h"
#include "torch_bridge/state/process_slots.h"

namespace multipy::bridge {

void addThreadObjectRoutes(TorchRoutes& routes) {
  routes.threadObject = [](InterpreterId, const std::string* name, std::shared_ptr<void>* object) {
    // (It is the function's own: a temporary of its caller.)
    auto& given = reinterpret_cast<std::shared_ptr<c10::SafePyObject>&>(*object);
    at::impl::ThreadLocalPythonObjects::set(
        *name, given && given.use_count() == 1
                   ? std::make_shared<c10::SafePyObject>(std::move(*given))
                   : given);
  };
}

}  // namespace multipy::bridge
