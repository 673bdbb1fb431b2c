// Damage to files, always the same for the same number: what a fuzzer without feedback does.
#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "fuzz/subject.h"

namespace multipy::fuzz {

/// Values at which sums wrap, signs change and counts run out.
constexpr std::array<uint64_t, 12> interesting{
    0, 1, 2, 7, 0x7f, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff, ~0ull - 7, ~0ull};

/// Another value of this many bytes: an interesting one, one close by, one bit changed, any.
uint64_t mutated(uint64_t value, std::size_t width, std::mt19937_64& random);

class Mutator {
 public:
  Mutator(std::vector<Bytes> seeds, std::vector<std::string> words, uint32_t number);

  /// One of the seeds with one to four changes.
  Bytes next();

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }
  void changeOne(Bytes& bytes);
  void changeNumber(Bytes& bytes);
  void insertWord(Bytes& bytes);
  void insertCopyOfPart(Bytes& bytes);
  void erasePart(Bytes& bytes);

  const std::vector<Bytes> seeds_;
  const std::vector<std::string> words_;
  std::mt19937_64 random_;  // the standard fixes its numbers
};

}  // namespace multipy::fuzz
