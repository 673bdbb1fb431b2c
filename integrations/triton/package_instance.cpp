#include "integrations/triton/package_instance.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "integrations/triton/errors.h"
#include "integrations/triton/statistics.h"

namespace multipy::triton {
namespace {

std::vector<TensorRow> inputsOf(OpenRequest& request, const std::vector<Port>& ports, bool copy) {
  std::uint32_t count = 0;
  check(TRITONBACKEND_RequestInputCount(request.get(), &count), "count a request's inputs");
  std::vector<std::optional<TensorRow>> found(ports.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    TensorRow input = request.input(i, copy);
    const auto port = std::find_if(ports.begin(), ports.end(),
                                   [&](const Port& each) { return each.name == input.name; });
    if (port == ports.end()) continue;  // (the server has refused those that it does not know)
    found[static_cast<std::size_t>(port - ports.begin())] = std::move(input);
  }
  std::vector<TensorRow> out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!found[i])
      throw TritonError(TRITONSERVER_ERROR_INVALID_ARG,
                        "the request has no input '" + ports[i].name + "', which the model needs");
    out.push_back(std::move(*found[i]));
  }
  return out;
}

// Only requests whose tensors differ in nothing but their first dimension can be one call.
bool canBeJoined(const std::vector<TensorRow>& a, const std::vector<TensorRow>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const TensorRow& one, const TensorRow& other) {
        return one.shape.size() == other.shape.size() && !one.shape.empty() &&
               std::equal(one.shape.begin() + 1, one.shape.end(), other.shape.begin() + 1);
      });
}

}  // namespace

PackageInstance::PackageInstance(TRITONBACKEND_ModelInstance* instance, Model& model,
                                 std::shared_ptr<PackageModel> package)
    : instance_(instance),
      settings_(model.settings()),
      package_(std::move(package)),
      share_(package_),
      limits_(settings_) {}

void PackageInstance::execute(TRITONBACKEND_Request** requests, std::uint32_t count) {
  ExecutionTimes times;
  times.executeStart = times.computeStart = nanoseconds();
  RequestBatch batch(requests, count, false);
  std::optional<CallLimits::Limited> limited;
  limited.emplace(limits_, batch);
  batch.adopt();
  for (const Group& group : grouped(batch)) answer(group, limited->options());
  limited.reset();
  for (const RequestBatch::Part& part : batch.parts()) part.responder->endExecution();
  times.executeEnd = nanoseconds();
  batch.finish(instance_, times);
}

PackageInstance::Read PackageInstance::read(RequestBatch::Part& part) const {
  Read out{&part, inputsOf(*part.request, package_->place().inputs, settings_.copyInputs),
           part.request->requestedOutputs()};
  const bool hasLength = settings_.maxBatchSize > 0 && !out.inputs.empty();
  part.size = hasLength ? static_cast<std::uint64_t>(out.inputs[0].shape.at(0)) : 1;
  return out;
}

// The requests that can be read, those together that are one call.
std::vector<PackageInstance::Group> PackageInstance::grouped(RequestBatch& batch) const noexcept {
  std::vector<Group> groups;
  for (RequestBatch::Part& part : batch.parts()) {
    try {
      Read one = read(part);
      if (settings_.maxBatchSize > 0 && !groups.empty() &&
          canBeJoined(groups.back().front().inputs, one.inputs))
        groups.back().push_back(std::move(one));
      else
        groups.emplace_back().push_back(std::move(one));
    } catch (...) {
      part.responder->fail(currentError().get());
    }
  }
  return groups;
}

void PackageInstance::answer(const Group& group, const runtime::CallOptions& options) noexcept {
  try {
    std::vector<std::vector<TensorRow>> inputs;
    std::vector<std::shared_ptr<void>> keeps;
    for (const Read& each : group) {
      inputs.push_back(each.inputs);
      keeps.push_back(each.part->request);
    }
    const PackageModel::Outputs outputs = package_->call(inputs, keeps, options);
    for (std::size_t i = 0; i < group.size(); ++i) send(group[i], outputs.of(i));
  } catch (...) {
    const OwnedError error = currentError();
    for (const Read& each : group) each.part->responder->fail(error.get());
  }
}

void PackageInstance::send(const Read& to, const std::vector<TensorRow>& outputs) noexcept {
  try {
    ResponseContent content;
    for (const TensorRow& output : outputs)
      if (to.outputs.empty() ||
          std::find(to.outputs.begin(), to.outputs.end(), output.name) != to.outputs.end())
        content.outputs.push_back(output);
    to.part->responder->send(content, TRITONSERVER_RESPONSE_COMPLETE_FINAL);
  } catch (...) {
    to.part->responder->fail(currentError().get());
  }
}

}  // namespace multipy::triton
