// What Python and this library tell each other in bytes: tensors, parameters, texts and numbers,
// one behind the other, in this machine's order of bytes and without padding. Python's side is
// python/_multipy_triton_rows.py.
//
//   a tensor     u32 bytes of its name, u32 type, u32 dimensions, u32 (nothing), u64 address,
//                u64 bytes there, i64 each dimension, its name
//   a parameter  u32 bytes of its key, u32 kind (0: text, 1: integer, 2: truth value), u64 value
//   (of a
//                text: its bytes), its key, the text
//   a text       u64 its bytes, the text
//
// Threads: plain values and functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "integrations/triton/triton_api.h"

namespace multipy::triton {

/// A tensor that lies somewhere; who keeps its bytes there, each use says.
struct TensorRow {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  std::vector<std::int64_t> shape;
  const void* data = nullptr;  // null where there are no bytes
  std::uint64_t size = 0;      // bytes
};

using ParameterValue = std::variant<std::string, std::int64_t, bool>;
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

/// Reads what Python has written. TritonError (INTERNAL) where it ends too early, or too late.
class RowReader {
 public:
  explicit RowReader(std::string_view bytes) noexcept : rest_(bytes) {}

  template <typename Number>
  Number number() {
    Number out;
    std::memcpy(&out, bytes(sizeof out).data(), sizeof out);
    return out;
  }
  std::string text() { return std::string(bytes(number<std::uint64_t>())); }
  TensorRow tensor();
  std::pair<std::string, ParameterValue> parameter();
  Parameters parameters(std::uint32_t count);
  void end() const;

 private:
  std::string_view bytes(std::uint64_t size);
  std::string_view rest_;
};

/// Writes what Python reads.
class RowWriter {
 public:
  template <typename Number>
  void number(Number value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text);
  void tensor(const TensorRow& tensor);
  void parameter(const std::string& key, const ParameterValue& value);
  std::string take() && { return std::move(out_); }

 private:
  std::string out_;
};

/// A parameter as Triton gives it. TritonError (UNSUPPORTED) for one of another kind.
ParameterValue parameterValue(const std::string& key, TRITONSERVER_ParameterType type,
                              const void* value);

}  // namespace multipy::triton
