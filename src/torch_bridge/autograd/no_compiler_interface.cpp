// For a torch without an interface by which C++ nodes call the compiler (up to 2.6): its
// libtorch_python calls it, and each interpreter has one of its own.
#include "torch_bridge/autograd/compiler_interface.h"

namespace multipy::bridge {

void addCompilerInterfaceRoutes(TorchRoutes&) {}
ImportRedirections compilerInterfaceRedirections() { return {}; }
void purgeCompilerInterface(InterpreterId) {}

}  // namespace multipy::bridge
