#include "integrations/triton/rows.h"

#include "integrations/triton/errors.h"

namespace multipy::triton {
namespace {

enum class Kind : std::uint32_t { Text = 0, Integer = 1, Truth = 2 };

[[noreturn]] void fail() {
  throw TritonError(TRITONSERVER_ERROR_INTERNAL,
                    "cannot read what Python has sent: its code is not of this library's version");
}

}  // namespace

std::string_view RowReader::bytes(std::uint64_t size) {
  if (size > rest_.size()) fail();
  const std::string_view out = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return out;
}

void RowReader::end() const {
  if (!rest_.empty()) fail();
}

TensorRow RowReader::tensor() {
  TensorRow out;
  const auto nameSize = number<std::uint32_t>();
  out.type = static_cast<TRITONSERVER_DataType>(number<std::uint32_t>());
  const auto dimensions = number<std::uint32_t>();
  number<std::uint32_t>();
  out.data = reinterpret_cast<const void*>(number<std::uint64_t>());
  out.size = number<std::uint64_t>();
  for (std::uint32_t i = 0; i < dimensions; ++i) out.shape.push_back(number<std::int64_t>());
  out.name = bytes(nameSize);
  return out;
}

std::pair<std::string, ParameterValue> RowReader::parameter() {
  const auto keySize = number<std::uint32_t>();
  const auto kind = static_cast<Kind>(number<std::uint32_t>());
  const auto value = number<std::uint64_t>();
  std::string key(bytes(keySize));
  switch (kind) {
    case Kind::Text:
      return {std::move(key), std::string(bytes(value))};
    case Kind::Integer:
      return {std::move(key), static_cast<std::int64_t>(value)};
    case Kind::Truth:
      return {std::move(key), value != 0};
  }
  fail();
}

Parameters RowReader::parameters(std::uint32_t count) {
  Parameters out;
  for (std::uint32_t i = 0; i < count; ++i) out.push_back(parameter());
  return out;
}

void RowWriter::text(std::string_view text) {
  number<std::uint64_t>(text.size());
  out_.append(text);
}

void RowWriter::tensor(const TensorRow& tensor) {
  number(static_cast<std::uint32_t>(tensor.name.size()));
  number(static_cast<std::uint32_t>(tensor.type));
  number(static_cast<std::uint32_t>(tensor.shape.size()));
  number(std::uint32_t{0});
  number(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(tensor.data)));
  number(tensor.size);
  for (const std::int64_t dimension : tensor.shape) number(dimension);
  out_ += tensor.name;
}

void RowWriter::parameter(const std::string& key, const ParameterValue& value) {
  number(static_cast<std::uint32_t>(key.size()));
  const auto* const text = std::get_if<std::string>(&value);
  if (text != nullptr) {
    number(Kind::Text);
    number(static_cast<std::uint64_t>(text->size()));
  } else if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
    number(Kind::Integer);
    number(*integer);
  } else {
    number(Kind::Truth);
    number(static_cast<std::uint64_t>(std::get<bool>(value)));
  }
  out_ += key;
  if (text != nullptr) out_ += *text;
}

ParameterValue parameterValue(const std::string& key, TRITONSERVER_ParameterType type,
                              const void* value) {
  switch (type) {
    case TRITONSERVER_PARAMETER_STRING:
      return std::string(static_cast<const char*>(value));
    case TRITONSERVER_PARAMETER_INT:
      return *static_cast<const std::int64_t*>(value);
    case TRITONSERVER_PARAMETER_BOOL:
      return *static_cast<const bool*>(value);
    default:
      throw TritonError(TRITONSERVER_ERROR_UNSUPPORTED,
                        "parameter '" + key + "' is of type " +
                            std::to_string(static_cast<int>(type)) +
                            ", expected a string, an integer or a truth value");
  }
}

}  // namespace multipy::triton
