#include "base/blake2b.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace multipy::base {
namespace {

constexpr std::size_t kDigestBytes = 32;

constexpr std::array<uint64_t, 8> kInitial = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// Order in which the 16 words of a block enter each round (RFC 7693, 2.7);
// rounds 10 and 11 use the first two rows again.
constexpr uint8_t kSchedule[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                       {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                       {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                       {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                       {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                       {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                       {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                       {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                       {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                       {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

inline void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
  a += b + x;
  d = std::rotr(d ^ a, 32);
  c += d;
  b = std::rotr(b ^ c, 24);
  a += b + y;
  d = std::rotr(d ^ a, 16);
  c += d;
  b = std::rotr(b ^ c, 63);
}

}  // namespace

Blake2b::Blake2b() : state_(kInitial) {
  state_[0] ^= 0x01010000 ^ kDigestBytes;  // parameter block: no key, sequential mode
}

void Blake2b::compress(const std::byte* block, bool last) {
  uint64_t words[16];
  std::memcpy(words, block, kBlock);  // every machine we know is little-endian (elf/machine.h)
  uint64_t v[16];
  std::copy(state_.begin(), state_.end(), v);
  std::copy(kInitial.begin(), kInitial.end(), v + 8);
  v[12] ^= total_;
  if (last) v[14] = ~v[14];
  for (int round = 0; round < 12; ++round) {
    const uint8_t* s = kSchedule[round % 10];
    mix(v[0], v[4], v[8], v[12], words[s[0]], words[s[1]]);
    mix(v[1], v[5], v[9], v[13], words[s[2]], words[s[3]]);
    mix(v[2], v[6], v[10], v[14], words[s[4]], words[s[5]]);
    mix(v[3], v[7], v[11], v[15], words[s[6]], words[s[7]]);
    mix(v[0], v[5], v[10], v[15], words[s[8]], words[s[9]]);
    mix(v[1], v[6], v[11], v[12], words[s[10]], words[s[11]]);
    mix(v[2], v[7], v[8], v[13], words[s[12]], words[s[13]]);
    mix(v[3], v[4], v[9], v[14], words[s[14]], words[s[15]]);
  }
  for (int i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[i + 8];
}

void Blake2b::update(std::span<const std::byte> data) {
  while (!data.empty()) {
    if (pendingSize_ == kBlock) {  // more follows, so this block is not the last
      total_ += kBlock;
      compress(pending_.data(), false);
      pendingSize_ = 0;
    }
    // Whole blocks straight from the caller, as long as one byte more remains.
    while (pendingSize_ == 0 && data.size() > kBlock) {
      total_ += kBlock;
      compress(data.data(), false);
      data = data.subspan(kBlock);
    }
    const std::size_t taken = std::min(kBlock - pendingSize_, data.size());
    std::memcpy(pending_.data() + pendingSize_, data.data(), taken);
    pendingSize_ += taken;
    data = data.subspan(taken);
  }
}

std::string Blake2b::finish() {
  total_ += pendingSize_;
  std::fill(pending_.begin() + pendingSize_, pending_.end(), std::byte{0});
  compress(pending_.data(), true);
  std::string text;
  for (std::size_t i = 0; i < kDigestBytes; ++i) {
    const uint8_t byte = state_[i / 8] >> (8 * (i % 8));
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string Blake2b::digest(std::span<const std::byte> data) {
  Blake2b hash;
  hash.update(data);
  return hash.finish();
}

std::string Blake2b::digest(std::string_view text) {
  return digest(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace multipy::base
