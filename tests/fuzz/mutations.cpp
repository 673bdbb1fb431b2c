#include "fuzz/mutations.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace multipy::fuzz {

uint64_t mutated(uint64_t value, std::size_t width, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return interesting[random() % interesting.size()];
    case 1:
      return value + random() % 17 - 8;
    case 2:
      return value ^ uint64_t { 1 } << random() % (8 * width);
    default:
      return random();
  }
}

Mutator::Mutator(std::vector<Bytes> seeds, std::vector<std::string> words, uint32_t number)
    : seeds_(std::move(seeds)), words_(std::move(words)), random_(number) {}

Bytes Mutator::next() {
  Bytes bytes = seeds_[pick(seeds_.size())];
  for (auto changes = 1 + pick(4); changes > 0; --changes) changeOne(bytes);
  if (pick(20) == 0) bytes.resize(pick(bytes.size() + 1));
  return bytes;
}

void Mutator::changeOne(Bytes& bytes) {
  switch (pick(8)) {
    case 0:
      return insertWord(bytes);
    case 1:
      return insertCopyOfPart(bytes);
    case 2:
      return erasePart(bytes);
    default:
      return changeNumber(bytes);
  }
}

void Mutator::changeNumber(Bytes& bytes) {
  const std::size_t width = std::size_t{1} << pick(4);
  if (bytes.size() < width) return;
  std::byte* const at = &bytes[pick(bytes.size() - width + 1)];
  uint64_t value = 0;
  std::memcpy(&value, at, width);
  value = mutated(value, width, random_);
  std::memcpy(at, &value, width);
}

void Mutator::insertWord(Bytes& bytes) {
  if (words_.empty()) return;
  const Bytes word = bytesOf(words_[pick(words_.size())]);
  const auto at = static_cast<std::ptrdiff_t>(pick(bytes.size() + 1));
  // In place of what stands there, as often as in front of it.
  if (pick(2) == 0)
    bytes.erase(bytes.begin() + at,
                bytes.begin() + std::min<std::ptrdiff_t>(at + std::ssize(word), std::ssize(bytes)));
  bytes.insert(bytes.begin() + at, word.begin(), word.end());
}

void Mutator::insertCopyOfPart(Bytes& bytes) {
  if (bytes.empty()) return;
  const auto from = pick(bytes.size());
  const auto size = 1 + pick(std::min<uint64_t>(bytes.size() - from, 64));
  const Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                   bytes.begin() + static_cast<std::ptrdiff_t>(from + size));
  const auto at = static_cast<std::ptrdiff_t>(pick(bytes.size() + 1));
  for (auto times = 1 + (pick(8) == 0 ? pick(100) : 0); times > 0; --times)
    bytes.insert(bytes.begin() + at, part.begin(), part.end());
}

void Mutator::erasePart(Bytes& bytes) {
  if (bytes.empty()) return;
  const auto from = static_cast<std::ptrdiff_t>(pick(bytes.size()));
  const auto size = 1 + pick(std::min<uint64_t>(bytes.size() - static_cast<uint64_t>(from), 64));
  bytes.erase(bytes.begin() + from, bytes.begin() + from + static_cast<std::ptrdiff_t>(size));
}

}  // namespace multipy::fuzz
