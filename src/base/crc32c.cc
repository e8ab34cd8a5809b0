#include "base/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace weir {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // with its bits reversed, as the checksum is computed low bit first

// table[k][b]: what byte b does to the checksum when k zero bytes follow it, for eight bytes at a time.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

uint32_t load_little_endian(const unsigned char* p) {
  return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
         static_cast<uint32_t>(p[3]) << 24;
}

#if defined(__x86_64__)
// The instruction takes three cycles and can begin in each: three runs of bytes are summed at once.
constexpr size_t kRun = 1024;

// shift[k][b]: what byte k of a state, with value b, becomes when a run of zero bytes follows.
using Shift = std::array<std::array<uint32_t, 256>, 4>;

constexpr Shift make_shift() {
  Shift shift{};
  for (size_t k = 0; k < shift.size(); ++k) {
    for (uint32_t bit = 1; bit < 256; bit *= 2) {
      uint32_t crc = bit << (8 * k);
      for (size_t i = 0; i < kRun; ++i) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
      for (uint32_t rest = 0; rest < bit; ++rest) shift[k][bit + rest] = shift[k][rest] ^ crc;  // sums are linear
    }
  }
  return shift;
}
constexpr Shift kShift = make_shift();

uint64_t behind_a_run(uint64_t state) {
  return kShift[0][state & 0xff] ^ kShift[1][(state >> 8) & 0xff] ^ kShift[2][(state >> 16) & 0xff] ^
         kShift[3][(state >> 24) & 0xff];
}

uint64_t load_word(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

[[gnu::target("sse4.2")]] uint32_t crc32c_sse42(std::string_view bytes, uint32_t crc) {
  const char* p = bytes.data();
  size_t left = bytes.size();
  uint64_t wide = ~crc;
  for (; left >= 3 * kRun; p += 3 * kRun, left -= 3 * kRun) {
    uint64_t second = 0, third = 0;
    for (const char* at = p; at < p + kRun; at += 8) {
      wide = __builtin_ia32_crc32di(wide, load_word(at));
      second = __builtin_ia32_crc32di(second, load_word(at + kRun));
      third = __builtin_ia32_crc32di(third, load_word(at + 2 * kRun));
    }
    wide = behind_a_run(behind_a_run(wide) ^ second) ^ third;
  }
  for (; left >= 8; p += 8, left -= 8) wide = __builtin_ia32_crc32di(wide, load_word(p));
  auto state = static_cast<uint32_t>(wide);
  for (; left > 0; ++p, --left) state = __builtin_ia32_crc32qi(state, static_cast<unsigned char>(*p));
  return ~state;
}
#endif

}  // namespace

uint32_t crc32c_portable(std::string_view bytes, uint32_t crc) {
  const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  crc = ~crc;
  for (; left >= 8; p += 8, left -= 8) {
    uint32_t low = crc ^ load_little_endian(p), high = load_little_endian(p + 4);
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
          kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
  }
  for (; left > 0; ++p, --left) crc = (crc >> 8) ^ kTables[0][(crc ^ *p) & 0xff];
  return ~crc;
}

uint32_t crc32c(std::string_view bytes, uint32_t crc) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return crc32c_sse42(bytes, crc);
#endif
  return crc32c_portable(bytes, crc);
}

}  // namespace weir
