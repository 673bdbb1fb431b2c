// Both hash functions weigh each byte by a constant factor more than the byte
// behind it: 33 (GNU) or 16 (System V). So in "...ab..." one may add k to a if
// one takes 33 k from b: the state behind the pair, and with it the hash, stays.
// (System V folds its top bits back in, which may spoil it: tried, not trusted.)
//
// All pairs that one pair can turn into form a ring. A name is cut into pairs
// from its end, each is a digit that is turned by some steps along its ring, and
// the steps are the digits of the salt, the radix of each being the length of
// its ring. Turning digits by a fixed number is a bijection: hence the promises
// in the header.
#include "elf/unique_names.h"

#include <algorithm>
#include <vector>

namespace multipy::elf {
namespace {

struct Pair {
  uint8_t first, second;
  bool operator==(const Pair&) const = default;
};

// What tools can print on one line, and no '@', which separates versions.
bool usable(int byte) { return byte > ' ' && byte <= 0xff && byte != 0x7f && byte != '@'; }

// All pairs that lead from `state` to where `pair` leads. Which they are does
// not depend on the member of the ring that one starts from, nor does their order.
std::vector<Pair> ring(SymbolHash hash, uint32_t state, Pair pair) {
  if (!usable(pair.first) || !usable(pair.second)) return {pair};
  const auto after = [&](Pair p) {
    return hashStep(hash, hashStep(hash, state, p.first), p.second);
  };
  const int factor = hash == SymbolHash::Gnu ? 33 : 16;
  std::vector<Pair> members;
  for (int first = 1; first <= 0xff; ++first) {
    const int second = pair.second - factor * (first - pair.first);
    if (!usable(first) || !usable(second)) continue;
    const Pair member{static_cast<uint8_t>(first), static_cast<uint8_t>(second)};
    if (after(member) == after(pair)) members.push_back(member);
  }
  return members;
}

// State of the hash before each byte of `name`.
std::vector<uint32_t> statesBefore(SymbolHash hash, std::string_view name) {
  std::vector<uint32_t> states{hashStart(hash)};
  for (const char c : name)
    states.push_back(hashStep(hash, states.back(), static_cast<uint8_t>(c)));
  return states;
}

}  // namespace

std::optional<std::string> sameHashName(std::string_view name, uint32_t salt, SymbolHash hash) {
  const auto states = statesBefore(hash, name);
  std::string result(name);
  for (std::size_t end = name.size(); salt != 0 && end >= 2; end -= 2) {
    const Pair pair{static_cast<uint8_t>(name[end - 2]), static_cast<uint8_t>(name[end - 1])};
    const auto members = ring(hash, states[end - 2], pair);
    const auto position =
        static_cast<std::size_t>(std::find(members.begin(), members.end(), pair) - members.begin());
    const Pair turned = members[(position + salt % members.size()) % members.size()];
    result[end - 2] = static_cast<char>(turned.first);
    result[end - 1] = static_cast<char>(turned.second);
    salt /= static_cast<uint32_t>(members.size());
  }
  if (salt != 0) return std::nullopt;
  return result;
}

}  // namespace multipy::elf
