#include "json_values.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/jit_type.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace service {
namespace {

using Json = nlohmann::ordered_json;  // objects keep the order of a dict

// Each level takes some stack here and in Python.
constexpr int kDeepest = 64;

at::IValue valueOf(const Json& json, int depth);

at::IValue listOf(const Json& json, int depth) {
  c10::impl::GenericList list(c10::AnyType::get());
  list.reserve(json.size());
  for (const Json& item : json) list.push_back(valueOf(item, depth + 1));
  return list;
}

at::IValue dictOf(const Json& json, int depth) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  dict.reserve(json.size());
  for (const auto& item : json.items())
    dict.insert_or_assign(item.key(), valueOf(item.value(), depth + 1));
  return dict;
}

at::IValue valueOf(const Json& json, int depth) {
  if (depth > kDeepest)
    throw BadRequest("the JSON is nested more than " + std::to_string(kDeepest) + " levels deep");
  switch (json.type()) {
    case Json::value_t::null:
      return {};
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_unsigned:
      if (json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
        throw BadRequest("the integer " + json.dump() + " does not fit 64 bits with a sign");
      [[fallthrough]];
    case Json::value_t::number_integer:
      return json.get<std::int64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get<std::string>();
    case Json::value_t::array:
      return listOf(json, depth);
    case Json::value_t::object:
      return dictOf(json, depth);
    default:
      throw BadRequest("the JSON has a value of an unknown kind");
  }
}

/// Takes as many numbers as the sizes say.
template <typename Number>
Json nested(const Number*& next, at::IntArrayRef sizes) {
  if (sizes.empty()) return *next++;
  Json array = Json::array();
  for (std::int64_t i = 0; i < sizes[0]; ++i) array.push_back(nested(next, sizes.slice(1)));
  return array;
}

template <typename Number>
Json numbersOf(const at::Tensor& tensor, at::ScalarType type) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, type).contiguous();
  const Number* next = plain.data_ptr<Number>();
  return nested(next, plain.sizes());
}

Json tensorOf(const at::Tensor& tensor) {
  if (tensor.is_floating_point()) return numbersOf<double>(tensor, at::kDouble);
  if (tensor.scalar_type() == at::kBool) return numbersOf<bool>(tensor, at::kBool);
  if (at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false))
    return numbersOf<std::int64_t>(tensor, at::kLong);
  throw std::runtime_error(std::string("the model's answer has a tensor of type ") +
                           at::toString(tensor.scalar_type()) + ", which has no form in JSON");
}

Json jsonOf(const at::IValue& value) {
  if (value.isNone()) return nullptr;
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return value.toInt();
  if (value.isDouble()) return value.toDouble();
  if (value.isString()) return value.toStringRef();
  if (value.isTensor()) return tensorOf(value.toTensor());
  if (value.isList() || value.isTuple()) {
    Json array = Json::array();
    if (value.isList()) {
      for (const at::IValue& item : value.toListRef()) array.push_back(jsonOf(item));
    } else {
      for (const at::IValue& item : value.toTupleRef().elements()) array.push_back(jsonOf(item));
    }
    return array;
  }
  if (value.isGenericDict()) {
    Json object = Json::object();
    for (const auto& entry : value.toGenericDict()) {
      if (!entry.key().isString())
        throw std::runtime_error("the model's answer has a dict with a key of type " +
                                 entry.key().tagKind() + ", expected str, for JSON");
      object[entry.key().toStringRef()] = jsonOf(entry.value());
    }
    return object;
  }
  throw std::runtime_error("the model's answer has a value of type " + value.tagKind() +
                           ", which has no form in JSON");
}

}  // namespace

at::IValue fromJson(std::string_view text) {
  try {
    return valueOf(Json::parse(text), 1);
  } catch (const nlohmann::json::exception& error) {
    throw BadRequest(std::string("this is no JSON: ") + error.what());
  }
}

std::string toJson(const at::IValue& value) {
  // (A str of Python's may be no UTF-8 once it is bytes.)
  return jsonOf(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace service
