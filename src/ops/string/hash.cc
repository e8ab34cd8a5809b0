#include "ops/string/hash.h"

#include <farmhash.h>

#include <bit>
#include <cstring>

namespace weir::ops {
namespace {

// The `size` bytes at `from`, the first one lowest.
uint64_t little_endian(const char* from, size_t size) {
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i) word |= static_cast<uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  return word;
}

struct SipState {
  uint64_t a, b, c, d;

  void round() {
    a += b;
    b = std::rotl(b, 13) ^ a;
    a = std::rotl(a, 32);
    c += d;
    d = std::rotl(d, 16) ^ c;
    a += d;
    d = std::rotl(d, 21) ^ a;
    c += b;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
  }
  void add(uint64_t word) {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};

}  // namespace

uint64_t hash64(std::string_view text, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995ull;
  uint64_t hash = seed ^ (text.size() * kMultiplier);
  while (text.size() >= 8) {
    uint64_t word = little_endian(text.data(), 8) * kMultiplier;
    word = (word ^ (word >> 47)) * kMultiplier;
    hash = (hash ^ word) * kMultiplier;
    text.remove_prefix(8);
  }
  if (!text.empty()) hash = (hash ^ little_endian(text.data(), text.size())) * kMultiplier;
  hash = (hash ^ (hash >> 47)) * kMultiplier;
  return hash ^ (hash >> 47);
}

uint64_t fingerprint64(std::string_view text) { return util::Fingerprint64(text.data(), text.size()); }

uint64_t keyed_hash64(std::string_view text, uint64_t key0, uint64_t key1) {
  SipState state{key0 ^ 0x736f6d6570736575ull, key1 ^ 0x646f72616e646f6dull, key0 ^ 0x6c7967656e657261ull,
                 key1 ^ 0x7465646279746573ull};
  const uint64_t length = static_cast<uint64_t>(text.size()) << 56;
  for (; text.size() >= 8; text.remove_prefix(8)) state.add(little_endian(text.data(), 8));
  state.add(length | little_endian(text.data(), text.size()));
  state.c ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace weir::ops
