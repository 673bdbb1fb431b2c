// A subject: a reader of files, and all that a fuzzer has to know of it. Each .cpp named
// after one defines these functions; libfuzzer_main.cpp and mutation_test.cpp are linked
// with one subject each.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace multipy::fuzz {

using Bytes = std::vector<std::byte>;

enum class Outcome {
  Refused,   // with the error that this reader's header promises
  Accepted,  // as a whole
};

/// Does with `input` what the library does with such a file. An exception that leaves it is
/// a finding: one of a type that no header promises, or BrokenPromise.
Outcome exercise(std::span<const std::byte> input);

/// Small inputs that are accepted.
std::vector<Bytes> seeds();

/// What stands in such files and is not found by chance.
std::vector<std::string> words();

/// The reader has accepted something, and what it made of it is wrong.
struct BrokenPromise : std::logic_error {
  using std::logic_error::logic_error;
};

inline void promise(bool kept, const std::string& what) {
  if (!kept) throw BrokenPromise(what);
}

inline Bytes bytesOf(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace multipy::fuzz
