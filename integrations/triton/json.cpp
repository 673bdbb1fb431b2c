#include "integrations/triton/json.h"

#include <cstdio>
#include <cstdlib>

#include "integrations/triton/errors.h"

namespace multipy::triton {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Json document() {
    Json value = next(0);
    skipSpace();
    if (at_ != text_.size()) fail("the end");
    return value;
  }

 private:
  // The server nests a configuration less than ten deep.
  static constexpr int kDeepest = 100;

  Json next(int depth) {
    if (depth > kDeepest) fail("fewer levels");
    skipSpace();
    Json value;
    switch (peek()) {
      case '{':
        value.value_ = object(depth);
        break;
      case '[':
        value.value_ = array(depth);
        break;
      case '"':
        value.value_ = string();
        break;
      case 't':
        literal("true");
        value.value_ = true;
        break;
      case 'f':
        literal("false");
        value.value_ = false;
        break;
      case 'n':
        literal("null");
        break;
      default:
        value.value_ = number();
    }
    return value;
  }

  Json::Object object(int depth) {
    Json::Object members;
    literal("{");
    if (skipSpace(), peek() == '}') return ++at_, members;
    while (true) {
      skipSpace();
      std::string key = string();
      skipSpace();
      literal(":");
      members.insert_or_assign(std::move(key), next(depth + 1));
      if (skipSpace(), peek() == '}') return ++at_, members;
      literal(",");
    }
  }

  Json::Array array(int depth) {
    Json::Array elements;
    literal("[");
    if (skipSpace(), peek() == ']') return ++at_, elements;
    while (true) {
      elements.push_back(next(depth + 1));
      if (skipSpace(), peek() == ']') return ++at_, elements;
      literal(",");
    }
  }

  std::string string() {
    literal("\"");
    std::string out;
    while (true) {
      const char c = take();
      if (c == '"') return out;
      if (c != '\\') {
        out += c;
        continue;
      }
      switch (const char escaped = take()) {
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'n':
          out += '\n';
          break;
        case 'r':
          out += '\r';
          break;
        case 't':
          out += '\t';
          break;
        case 'u':
          appendUtf8(codePoint(), out);
          break;
        default:
          out += escaped;  // " \ /
      }
    }
  }

  unsigned codeUnit() {
    unsigned unit = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = take();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail("a hexadecimal digit");
      unit = unit * 16 + static_cast<unsigned>(digit);
    }
    return unit;
  }

  unsigned codePoint() {  // of one unit, or of the two of a surrogate pair
    const unsigned first = codeUnit();
    if (first < 0xD800 || first > 0xDBFF) return first;
    literal("\\u");
    const unsigned second = codeUnit();
    if (second < 0xDC00 || second > 0xDFFF) fail("the second half of a surrogate pair");
    return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
  }

  static void appendUtf8(unsigned point, std::string& out) {
    const auto tail = [&](int shift) {
      out += static_cast<char>(0x80 | ((point >> shift) & 0x3F));
    };
    if (point < 0x80) {
      out += static_cast<char>(point);
    } else if (point < 0x800) {
      out += static_cast<char>(0xC0 | (point >> 6));
      tail(0);
    } else if (point < 0x10000) {
      out += static_cast<char>(0xE0 | (point >> 12));
      tail(6), tail(0);
    } else {
      out += static_cast<char>(0xF0 | (point >> 18));
      tail(12), tail(6), tail(0);
    }
  }

  double number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-0123456789.eE").find(text_[at_]) != text_.npos)
      ++at_;
    const std::string digits(text_.substr(begin, at_ - begin));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (digits.empty() || *end != '\0') fail("a value");
    return value;
  }

  void literal(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) fail(std::string(expected));
    at_ += expected.size();
  }

  void skipSpace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char take() {
    if (at_ == text_.size()) fail("more");
    return text_[at_++];
  }

  [[noreturn]] void fail(const std::string& expected) const {
    throw TritonError(TRITONSERVER_ERROR_INTERNAL,
                      "cannot read the model's configuration: at byte " + std::to_string(at_) +
                          " of its JSON there is '" + std::string(text_.substr(at_, 20)) +
                          "', expected " + expected);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Json Json::parse(std::string_view text) { return JsonReader(text).document(); }

const Json* Json::find(const std::string& key) const {
  const auto* const members = std::get_if<Object>(&value_);
  if (members == nullptr) return nullptr;
  const auto found = members->find(key);
  return found == members->end() ? nullptr : &found->second;
}

const std::vector<Json>& Json::elements() const {
  static const Array none;
  const auto* const all = std::get_if<Array>(&value_);
  return all == nullptr ? none : *all;
}

const std::string& Json::stringOr(const std::string& otherwise) const {
  const auto* const text = std::get_if<std::string>(&value_);
  return text != nullptr ? *text : otherwise;
}

double Json::numberOr(double otherwise) const {
  const auto* const number = std::get_if<double>(&value_);
  return number != nullptr ? *number : otherwise;
}

bool Json::boolOr(bool otherwise) const {
  const auto* const truth = std::get_if<bool>(&value_);
  return truth != nullptr ? *truth : otherwise;
}

std::string jsonQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out += '"';
}

}  // namespace multipy::triton
