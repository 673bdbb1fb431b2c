#include "integrations/triton/instance.h"

#include "integrations/triton/package_instance.h"
#include "integrations/triton/python_instance.h"

namespace multipy::triton {

std::unique_ptr<Instance> newInstance(TRITONBACKEND_ModelInstance* instance, Model& model) {
  if (const auto package = model.package())
    return std::make_unique<PackageInstance>(instance, model, package);
  return std::make_unique<PythonInstance>(instance, model);
}

}  // namespace multipy::triton
