#include "nested_values.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <vector>

namespace multipy::soak {
namespace {

double someDouble(Random& random) {
  static constexpr std::array kSpecial{0.0, -0.0, 1e308, 5e-324,
                                       std::numeric_limits<double>::infinity()};
  return random.chance(30) ? kSpecial[random.next() % kSpecial.size()]
                           : static_cast<double>(random.number(-1 << 20, 1 << 20)) / 3;
}

at::IValue plainValue(Random& random) {
  switch (random.number(0, 4)) {
    case 0:
      return {};
    case 1:
      return random.chance(50);
    case 2:
      return random.chance(20) ? std::numeric_limits<std::int64_t>::min() : random.number(-99, 99);
    case 3:
      return someDouble(random);
    default:
      return random.text(static_cast<int>(random.number(0, 3)));
  }
}

std::vector<at::IValue> nestedValues(Random& random, int depth) {
  std::vector<at::IValue> values(random.number(0, 4));
  for (at::IValue& value : values) value = nestedValue(random, depth);
  return values;
}

at::IValue list(Random& random, int depth) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (at::IValue& value : nestedValues(random, depth)) list.push_back(std::move(value));
  return list;
}

at::IValue dict(Random& random, int depth) {
  c10::impl::GenericDict dict(c10::StringType::get(), c10::AnyType::get());
  for (at::IValue& value : nestedValues(random, depth))
    dict.insert_or_assign(random.text(2), std::move(value));
  return dict;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all;
}

template <typename Values>
std::string canonicals(const Values& values) {
  std::vector<std::string> texts;
  for (const at::IValue& value : values) texts.push_back(canonical(value));
  return joined(texts);
}

std::string canonicalDict(const at::IValue& value) {
  std::vector<std::string> items;
  for (const auto& entry : value.toGenericDict())
    items.push_back(canonical(entry.key()) + "=" + canonical(entry.value()));
  std::ranges::sort(items);
  return "{" + joined(items) + "}";
}

std::string canonicalDouble(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "f%016" PRIx64, std::bit_cast<std::uint64_t>(number));
  return text;
}

}  // namespace

at::IValue nestedValue(Random& random, int depth) {
  if (depth == 0 || random.chance(40)) return plainValue(random);
  switch (random.number(0, 2)) {
    case 0:
      return list(random, depth - 1);
    case 1:
      return c10::ivalue::Tuple::create(nestedValues(random, depth - 1));
    default:
      return dict(random, depth - 1);
  }
}

std::string canonical(const at::IValue& value) {
  if (value.isNone()) return "N";
  if (value.isBool()) return value.toBool() ? "T" : "F";
  if (value.isInt()) return "i" + std::to_string(value.toInt());
  if (value.isDouble()) return canonicalDouble(value.toDouble());
  if (value.isString())
    return "s" + std::to_string(value.toStringRef().size()) + ":" + value.toStringRef();
  if (value.isList()) return "[" + canonicals(value.toListRef()) + "]";
  if (value.isTuple()) return "(" + canonicals(value.toTupleRef().elements()) + ")";
  if (value.isGenericDict()) return canonicalDict(value);
  throw std::runtime_error("no value of the soak: " + value.tagKind());
}

}  // namespace multipy::soak
