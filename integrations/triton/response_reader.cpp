#include "integrations/triton/response_reader.h"

namespace multipy::triton {

ResponseContent readResponse(std::string_view bytes) {
  RowReader in(bytes);
  const auto outputs = in.number<std::uint32_t>();
  const auto parameters = in.number<std::uint32_t>();
  ResponseContent out;
  for (std::uint32_t i = 0; i < outputs; ++i) out.outputs.push_back(in.tensor());
  out.parameters = in.parameters(parameters);
  in.end();
  return out;
}

}  // namespace multipy::triton
