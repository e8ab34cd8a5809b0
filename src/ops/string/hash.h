#pragma once

#include <cstdint>
#include <string_view>

// The hash functions that TensorFlow's operations and files are defined by.
namespace weir::ops {

// MurmurHash64A, with the seed of StringToHashBucket unless another is given.
uint64_t hash64(std::string_view text, uint64_t seed = 0xdecafcaffeull);
// FarmHash's fingerprint, the same on every machine: StringToHashBucketFast, SparseCross, Fingerprint.
uint64_t fingerprint64(std::string_view text);
// SipHash-2-4: StringToHashBucketStrong.
uint64_t keyed_hash64(std::string_view text, uint64_t key0, uint64_t key1);
// A fingerprint of two: the second is mixed into the first.
inline uint64_t joined_fingerprint(uint64_t a, uint64_t b) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995ull;
  const auto mixed = [](uint64_t x) { return x ^ (x >> 47); };
  uint64_t result = a ^ kMultiplier;
  result ^= mixed(b * kMultiplier) * kMultiplier;
  result *= kMultiplier;
  result = mixed(result) * kMultiplier;
  return mixed(result);
}

}  // namespace weir::ops
