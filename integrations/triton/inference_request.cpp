#include "integrations/triton/inference_request.h"

namespace multipy::triton {

InferenceRequest readInferenceRequest(std::string_view bytes) {
  RowReader in(bytes);
  InferenceRequest out;
  out.version = in.number<std::int64_t>();
  out.timeout = in.number<std::uint64_t>();
  out.traceOf = in.number<std::uint64_t>();
  out.correlationId = in.number<std::uint64_t>();
  const bool hasText = in.number<std::uint32_t>() != 0;
  out.flags = in.number<std::uint32_t>();
  out.decoupled = in.number<std::uint32_t>() != 0;
  const auto inputs = in.number<std::uint32_t>();
  const auto outputs = in.number<std::uint32_t>();
  const auto parameters = in.number<std::uint32_t>();
  out.model = in.text();
  out.id = in.text();
  std::string correlation = in.text();
  if (hasText) out.correlationId = std::move(correlation);
  for (std::uint32_t i = 0; i < inputs; ++i) out.inputs.push_back(in.tensor());
  for (std::uint32_t i = 0; i < outputs; ++i) out.outputs.push_back(in.text());
  out.parameters = in.parameters(parameters);
  in.end();
  return out;
}

}  // namespace multipy::triton
