#include "integrations/triton/package_model.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <multipy/runtime/interpreter_manager.h>

#include <optional>
#include <utility>

#include "integrations/triton/errors.h"
#include "integrations/triton/pool_metrics.h"
#include "integrations/triton/python_environment_at.h"

namespace multipy::triton {
namespace {

std::optional<at::ScalarType> scalarType(TRITONSERVER_DataType type) {
  switch (type) {
    case TRITONSERVER_TYPE_BOOL:
      return at::kBool;
    case TRITONSERVER_TYPE_UINT8:
      return at::kByte;
    case TRITONSERVER_TYPE_UINT16:
      return at::kUInt16;
    case TRITONSERVER_TYPE_UINT32:
      return at::kUInt32;
    case TRITONSERVER_TYPE_UINT64:
      return at::kUInt64;
    case TRITONSERVER_TYPE_INT8:
      return at::kChar;
    case TRITONSERVER_TYPE_INT16:
      return at::kShort;
    case TRITONSERVER_TYPE_INT32:
      return at::kInt;
    case TRITONSERVER_TYPE_INT64:
      return at::kLong;
    case TRITONSERVER_TYPE_FP16:
      return at::kHalf;
    case TRITONSERVER_TYPE_FP32:
      return at::kFloat;
    case TRITONSERVER_TYPE_FP64:
      return at::kDouble;
    case TRITONSERVER_TYPE_BF16:
      return at::kBFloat16;
    default:
      return std::nullopt;
  }
}

void requireTensor(const char* kind, const Port& port) {
  if (!scalarType(port.type))
    throw TritonError(TRITONSERVER_ERROR_UNSUPPORTED,
                      std::string(kind) + " '" + port.name +
                          "' is of a type that torch has no tensors of; a torch.package takes "
                          "numbers and truth values (texts need a model.py)");
}

at::Tensor tensorOver(const TensorRow& row, const std::shared_ptr<void>& keeps) {
  const auto options = at::TensorOptions().dtype(scalarType(row.type).value());
  // (torch wants memory also of nothing; it is not looked at.)
  static char nothing;
  void* const data = row.size == 0 ? &nothing : const_cast<void*>(row.data);
  return at::from_blob(
      data, row.shape, [keeps](void*) {}, options);
}

[[noreturn]] void failOutput(const std::string& what) {
  throw TritonError(TRITONSERVER_ERROR_INTERNAL, "the model has returned " + what);
}

std::vector<at::IValue> severalOf(const at::IValue& value) {
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  if (value.isList()) return value.toListRef().vec();
  return {value};
}

std::vector<at::Tensor> outputsOf(const at::IValue& value, const std::vector<Port>& ports) {
  std::vector<at::IValue> found;
  if (value.isGenericDict()) {
    const auto dict = value.toGenericDict();
    for (const Port& port : ports) {
      const auto at = dict.find(port.name);
      if (at == dict.end()) failOutput("a dict without '" + port.name + "'");
      found.push_back(at->value());
    }
  } else {
    found = severalOf(value);
  }
  if (found.size() != ports.size())
    failOutput(std::to_string(found.size()) +
               " values, expected as many as the configuration has "
               "outputs, " +
               std::to_string(ports.size()));
  std::vector<at::Tensor> out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!found[i].isTensor())
      failOutput("a " + found[i].tagKind() + " for output '" + ports[i].name +
                 "', expected a tensor");
    const at::Tensor tensor = found[i].toTensor();
    const at::ScalarType expected = scalarType(ports[i].type).value();
    if (tensor.scalar_type() != expected)
      failOutput(std::string("a tensor of ") + at::toString(tensor.scalar_type()) +
                 " for output '" + ports[i].name + "', the configuration says " +
                 at::toString(expected));
    out.push_back(tensor.detach().cpu().contiguous());
  }
  return out;
}

TensorRow rowOf(const at::Tensor& tensor, const Port& port) {
  return {port.name, port.type, tensor.sizes().vec(), tensor.const_data_ptr(), tensor.nbytes()};
}

}  // namespace

struct PackageModel::Pool {
  explicit Pool(const PackagePlace& place)
      : manager(1, environmentAt(place.prefix)),
        model(manager.loadPackage(place.file.string()).loadPickle(place.package, place.resource)),
        shown({place.model, place.version, place.model}, [this] { return manager.stats(); }) {
    manager.setWarmUp([kept = model](const runtime::Interpreter& interpreter) {
      static_cast<void>(kept.acquireSession(&interpreter));
    });
  }

  runtime::InterpreterManager manager;
  runtime::ReplicatedObj model;
  const ShownPool shown;  // the last member: it asks `manager`
};

PackageModel::PackageModel(PackagePlace place)
    : place_(std::move(place)), pool_([this] {
        for (const Port& port : place_.inputs) requireTensor("input", port);
        for (const Port& port : place_.outputs) requireTensor("output", port);
        return std::make_unique<Pool>(place_);
      }()) {}

PackageModel::~PackageModel() = default;

PackageModel::Share::Share(std::shared_ptr<PackageModel> model) : model_(std::move(model)) {
  model_->add();
}

PackageModel::Share::~Share() { model_->remove(); }

void PackageModel::add() {
  const std::lock_guard lock(mutex_);
  // (The one that it was loaded in is the first instance's.)
  if (instances_ > 0) pool_->manager.resize(instances_ + 1);
  ++instances_;
}

void PackageModel::remove() noexcept {
  const std::lock_guard lock(mutex_);
  --instances_;
  try {
    if (instances_ > 0) pool_->manager.resize(instances_);
  } catch (...) {
    logIfError(currentError().release(), "end an interpreter of a model's instance");
  }
}

PackageModel::Outputs PackageModel::call(const std::vector<std::vector<TensorRow>>& requests,
                                         const std::vector<std::shared_ptr<void>>& keeps,
                                         const runtime::CallOptions& options) {
  std::vector<at::IValue> arguments;
  std::vector<std::int64_t> lengths(requests.size(), 0);
  for (std::size_t input = 0; input < place_.inputs.size(); ++input) {
    std::vector<at::Tensor> parts;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      parts.push_back(tensorOver(requests[i][input], keeps[i]));
      lengths[i] = parts.back().dim() == 0 ? 0 : parts.back().size(0);
    }
    arguments.emplace_back(parts.size() == 1 ? parts[0] : at::cat(parts));
  }
  const at::NoGradGuard noGradient;
  auto tensors = std::make_shared<std::vector<at::Tensor>>(
      outputsOf(pool_->model.call(arguments, options), place_.outputs));

  Outputs outputs;
  outputs.rows_.resize(requests.size());
  std::int64_t whole = 0;
  for (const std::int64_t length : lengths) whole += length;
  for (std::size_t i = 0; i < place_.outputs.size(); ++i) {
    const at::Tensor& tensor = (*tensors)[i];
    const Port& port = place_.outputs[i];
    if (requests.size() == 1) {
      outputs.rows_[0].push_back(rowOf(tensor, port));
      continue;
    }
    if (tensor.dim() == 0 || tensor.size(0) != whole)
      failOutput("output '" + port.name + "' of shape " + c10::str(tensor.sizes()) + " for " +
                 std::to_string(whole) + " elements");
    std::int64_t begin = 0;
    for (std::size_t request = 0; request < requests.size(); ++request) {
      outputs.rows_[request].push_back(rowOf(tensor.narrow(0, begin, lengths[request]), port));
      begin += lengths[request];
    }
  }
  outputs.tensors_ = tensors;
  return outputs;
}

}  // namespace multipy::triton
