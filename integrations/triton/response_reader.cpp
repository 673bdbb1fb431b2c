#include "integrations/triton/response_reader.h"

#include <cstring>

#include "integrations/triton/errors.h"

namespace multipy::triton {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  Number number() {
    Number out;
    std::memcpy(&out, text(sizeof out).data(), sizeof out);
    return out;
  }

  std::string_view text(std::uint64_t size) {
    if (size > rest_.size()) fail();
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }

  void end() const {
    if (!rest_.empty()) fail();
  }

 private:
  [[noreturn]] static void fail() {
    throw TritonError(TRITONSERVER_ERROR_INTERNAL,
                      "cannot read a response: its Python code is not of this library's version");
  }
  std::string_view rest_;
};

OutputTensor readOutput(Reader& in) {
  OutputTensor out;
  const auto nameSize = in.number<std::uint32_t>();
  out.type = static_cast<TRITONSERVER_DataType>(in.number<std::uint32_t>());
  const auto dimensions = in.number<std::uint32_t>();
  in.number<std::uint32_t>();
  out.data = reinterpret_cast<const void*>(in.number<std::uint64_t>());
  out.size = in.number<std::uint64_t>();
  for (std::uint32_t i = 0; i < dimensions; ++i) out.shape.push_back(in.number<std::int64_t>());
  out.name = in.text(nameSize);
  return out;
}

std::pair<std::string, ParameterValue> readParameter(Reader& in) {
  const auto keySize = in.number<std::uint32_t>();
  const auto kind = in.number<std::uint32_t>();
  const auto value = in.number<std::uint64_t>();
  std::string key(in.text(keySize));
  if (kind == 0) return {std::move(key), std::string(in.text(value))};
  if (kind == 1) return {std::move(key), static_cast<std::int64_t>(value)};
  return {std::move(key), value != 0};
}

}  // namespace

ResponseContent readResponse(std::string_view bytes) {
  Reader in(bytes);
  const auto outputs = in.number<std::uint32_t>();
  const auto parameters = in.number<std::uint32_t>();
  ResponseContent out;
  for (std::uint32_t i = 0; i < outputs; ++i) out.outputs.push_back(readOutput(in));
  for (std::uint32_t i = 0; i < parameters; ++i) out.parameters.push_back(readParameter(in));
  in.end();
  return out;
}

}  // namespace multipy::triton
