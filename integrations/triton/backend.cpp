// The functions that the server looks for in a backend. Each makes an exception into the server's
// error; what they do is in model.h and instance.h.
//
// Threads: as the server calls them. Models, and instances of one model, may come at once.
#include <string>

#include "integrations/triton/errors.h"
#include "integrations/triton/instance.h"
#include "integrations/triton/model.h"
#include "integrations/triton/triton_api.h"

using multipy::triton::check;
using multipy::triton::guarded;
using multipy::triton::Instance;
using multipy::triton::Model;
using multipy::triton::TritonError;

namespace {

Model* stateOf(TRITONBACKEND_Model* model) {
  void* state = nullptr;
  check(TRITONBACKEND_ModelState(model, &state), "get a model's state");
  return static_cast<Model*>(state);
}

Instance* stateOf(TRITONBACKEND_ModelInstance* instance) {
  void* state = nullptr;
  check(TRITONBACKEND_ModelInstanceState(instance, &state), "get an instance's state");
  return static_cast<Instance*>(state);
}

}  // namespace

extern "C" {

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) {
  return guarded([] {
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    check(TRITONBACKEND_ApiVersion(&major, &minor), "get the version of Triton's backend API");
    if (major != TRITONBACKEND_API_VERSION_MAJOR || minor < TRITONBACKEND_API_VERSION_MINOR)
      throw TritonError(TRITONSERVER_ERROR_UNSUPPORTED,
                        "this server's backend API is " + std::to_string(major) + "." +
                            std::to_string(minor) + ", expected " +
                            std::to_string(TRITONBACKEND_API_VERSION_MAJOR) + "." +
                            std::to_string(TRITONBACKEND_API_VERSION_MINOR) +
                            " or a later one of the same major version");
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend*, TRITONBACKEND_BackendAttribute* attributes) {
  // Each has an interpreter of its own, and those start side by side.
  return TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(attributes, true);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return guarded([&] {
    auto state = std::make_unique<Model>(model);
    check(TRITONBACKEND_ModelSetState(model, state.get()), "set a model's state");
    state.release();
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  return guarded([&] { delete stateOf(model); });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  return guarded([&] {
    TRITONBACKEND_Model* model = nullptr;
    check(TRITONBACKEND_ModelInstanceModel(instance, &model), "get an instance's model");
    auto state = newInstance(instance, *stateOf(model));
    check(TRITONBACKEND_ModelInstanceSetState(instance, state.get()), "set an instance's state");
    state.release();
  });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance) {
  return guarded([&] { delete stateOf(instance); });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count) {
  return guarded([&] { stateOf(instance)->execute(requests, count); });
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance) {
  return guarded([&] { stateOf(instance)->requireReady(); });
}

}  // extern "C"
