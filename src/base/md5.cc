#include "base/md5.h"

#include <bit>
#include <cmath>
#include <string>

namespace weir {
namespace {

constexpr size_t kBlock = 64, kLengthBytes = 8;
constexpr int kRounds[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

uint32_t word(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

void add_block(std::array<uint32_t, 4>& state, const char* block) {
  auto [a, b, c, d] = state;
  for (uint32_t i = 0; i < kBlock; ++i) {
    uint32_t f = 0, at = 0;
    switch (i / 16) {
      case 0:
        f = (b & c) | (~b & d), at = i;
        break;
      case 1:
        f = (d & b) | (~d & c), at = 5 * i + 1;
        break;
      case 2:
        f = b ^ c ^ d, at = 3 * i + 5;
        break;
      default:
        f = c ^ (b | ~d), at = 7 * i;
        break;
    }
    const auto sine = static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
    const uint32_t sum = a + f + sine + word(block + 4 * (at % 16));
    a = d, d = c, c = b;
    b += std::rotl(sum, kRounds[i / 16][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::array<uint8_t, 16> md5(std::string_view data) {
  std::string padded(data);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - kLengthBytes) padded += '\0';
  const uint64_t bits = 8 * static_cast<uint64_t>(data.size());
  for (size_t i = 0; i < kLengthBytes; ++i) padded += static_cast<char>(bits >> (8 * i));
  std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (size_t at = 0; at < padded.size(); at += kBlock) add_block(state, padded.data() + at);
  std::array<uint8_t, 16> digest{};
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<uint8_t>(state[i / 4] >> (8 * (i % 4)));
  return digest;
}

}  // namespace weir
