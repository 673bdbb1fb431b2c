#include "integrations/triton/request_values.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <variant>
#include <vector>

#include "integrations/triton/errors.h"
#include "integrations/triton/json.h"
#include "integrations/triton/rows.h"

namespace multipy::triton {
namespace {

template <typename... Values>
at::IValue tuple(Values&&... values) {
  std::vector<at::IValue> elements;
  elements.reserve(sizeof...(values));
  (elements.emplace_back(std::forward<Values>(values)), ...);
  return c10::ivalue::Tuple::create(std::move(elements));
}

at::IValue integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::string requestId(TRITONBACKEND_Request* request) {
  const char* id = nullptr;
  check(TRITONBACKEND_RequestId(request, &id), "get a request's id");
  return id == nullptr ? "" : id;
}

// A number or a text: Triton answers for the one that it is.
at::IValue correlationId(TRITONBACKEND_Request* request) {
  std::uint64_t number = 0;
  if (const OwnedError otherKind{TRITONBACKEND_RequestCorrelationId(request, &number)}; !otherKind)
    return integer(number);
  const char* text = nullptr;
  check(TRITONBACKEND_RequestCorrelationIdString(request, &text), "get a request's correlation id");
  return std::string(text == nullptr ? "" : text);
}

std::string asJson(const ParameterValue& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return jsonQuoted(*text);
  if (const auto* const integer = std::get_if<std::int64_t>(&value))
    return std::to_string(*integer);
  return std::get<bool>(value) ? "true" : "false";
}

// InferenceRequest.parameters() gives them as JSON.
std::string parametersOf(TRITONBACKEND_Request* request) {
  std::uint32_t count = 0;
  check(TRITONBACKEND_RequestParameterCount(request, &count), "count a request's parameters");
  std::string out = "{";
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
    const void* value = nullptr;
    check(TRITONBACKEND_RequestParameter(request, i, &key, &type, &value),
          "get a request's parameter");
    if (i > 0) out += ", ";
    out += jsonQuoted(key) + ": " + asJson(parameterValue(key, type, value));
  }
  return out + "}";
}

}  // namespace

struct RequestValues::Elements {
  std::vector<at::IValue> all;
};

RequestValues::RequestValues() : elements_(std::make_unique<Elements>()) {}
RequestValues::RequestValues(RequestValues&&) noexcept = default;
RequestValues::~RequestValues() = default;

bool RequestValues::empty() const noexcept { return elements_->all.empty(); }

at::IValue RequestValues::take() {
  return c10::ivalue::Tuple::create(std::exchange(elements_->all, {}));
}

std::uint64_t RequestValues::add(OpenRequest& open, std::uint64_t number, bool copyInputs) {
  TRITONBACKEND_Request* const request = open.get();
  std::uint32_t flags = 0;
  check(TRITONBACKEND_RequestFlags(request, &flags), "get a request's flags");
  std::uint64_t timeout = 0;
  check(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &timeout),
        "get a request's timeout");
  std::uint32_t count = 0;
  check(TRITONBACKEND_RequestInputCount(request, &count), "count a request's inputs");

  std::uint64_t batchSize = 1;
  std::vector<at::IValue> inputs;
  inputs.reserve(count);
  // A tensor is (name, type, shape, address, bytes).
  for (std::uint32_t i = 0; i < count; ++i) {
    const TensorRow input = open.input(i, copyInputs);
    if (i == 0 && !input.shape.empty()) batchSize = static_cast<std::uint64_t>(input.shape[0]);
    inputs.push_back(tuple(input.name, static_cast<std::int64_t>(input.type), input.shape,
                           integer(reinterpret_cast<std::uintptr_t>(input.data)),
                           integer(input.size)));
  }
  elements_->all.push_back(tuple(integer(number), requestId(request), correlationId(request),
                                 static_cast<std::int64_t>(flags), integer(timeout),
                                 parametersOf(request), open.requestedOutputs(),
                                 c10::ivalue::Tuple::create(std::move(inputs))));
  return batchSize;
}

}  // namespace multipy::triton
