// As much of JSON as a model's configuration needs to be read: the server writes it, so what is
// refused here is a difference between versions, and not a user's mistake.
//
// Threads: plain values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace multipy::triton {

class Json {
 public:
  /// TritonError (INTERNAL) for what is no JSON, with the offset of the first wrong byte.
  static Json parse(std::string_view text);

  /// The member of an object; null where this is no object or has none of that name.
  const Json* find(const std::string& key) const;

  /// Those of an array; none where this is none.
  const std::vector<Json>& elements() const;

  // The value, or what is given where it is of another kind.
  const std::string& stringOr(const std::string& otherwise) const;
  double numberOr(double otherwise) const;
  bool boolOr(bool otherwise) const;

 private:
  friend class JsonReader;
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json>;
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value_;
};

/// The text in quotes.
std::string jsonQuoted(std::string_view text);

}  // namespace multipy::triton
