#include "devices/cpu/philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "devices/cpu/isa.h"
#include "devices/cpu/philox_blocks.h"
#include "weir/dtype.h"

namespace weir::cpu {
namespace {

// One run of one of TensorFlow 1.15's random operations, from tests/data/random-1.15.5.tsv. Values are bit patterns,
// every stride-th of them; the checksum covers all: the sum of (2 i + 1) bits[i] modulo 2^64.
struct Recorded {
  std::string op, type;
  int64_t seed, seed2;
  std::string low, high;  // of RandomUniformInt
  int64_t n;
  int run;
  uint64_t checksum;
  std::vector<uint64_t> values;

  int64_t stride() const { return n <= 5 ? 1 : n == 1000 ? 61 : 6151; }
};

std::vector<Recorded> read_recorded() {
  std::vector<Recorded> rows;
  std::ifstream file(WEIR_SOURCE_DIR "/tests/data/random-1.15.5.tsv");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Recorded row;
    std::string values;
    fields >> row.op >> row.type >> row.seed >> row.seed2 >> row.low >> row.high >> row.n >> row.run >> std::hex >>
        row.checksum >> values;
    std::istringstream list(values);
    for (std::string value; std::getline(list, value, ',');) row.values.push_back(std::stoull(value, nullptr, 16));
    rows.push_back(row);
  }
  return rows;
}

template <class T>
std::vector<T> draw(const Recorded& row, int threads) {
  PhiloxState state(row.seed, row.seed2);
  for (int run = 0; run < row.run; ++run) state.reserve_outputs(row.n);
  const Philox generator = state.reserve_outputs(row.n);
  std::vector<T> out(static_cast<size_t>(row.n));
  ThreadPool pool(threads);
  if constexpr (std::is_integral_v<T>) {
    fill_uniform_int<T>(generator, static_cast<T>(std::stoll(row.low)), static_cast<T>(std::stoll(row.high)),
                        out.data(), row.n, pool);
  } else if (row.op == "RandomUniform") {
    fill_uniform(generator, out.data(), row.n, pool);
  } else if (row.op == "RandomStandardNormal") {
    fill_normal(generator, out.data(), row.n, pool);
  } else {
    fill_truncated_normal(generator, out.data(), row.n, pool);
  }
  return out;
}

template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
double to_double(T value) {
  if constexpr (std::is_same_v<T, double>) return value;
  return static_cast<float>(value);
}

template <class T>
T from_bits(uint64_t bits) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(bits);
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<uint32_t>(bits));
  if constexpr (sizeof(T) == 2) return std::bit_cast<T>(static_cast<uint16_t>(bits));
}

template <class T>
void expect_same_bits(const Recorded& row, const std::vector<T>& out) {
  uint64_t checksum = 0;
  for (size_t i = 0; i < out.size(); ++i) checksum += (2 * i + 1) * bits_of(out[i]);
  EXPECT_EQ(checksum, row.checksum);
  for (size_t i = 0; i < row.values.size(); ++i) {
    EXPECT_EQ(bits_of(out[i * static_cast<size_t>(row.stride())]), row.values[i]) << "element " << i * row.stride();
  }
}

template <class T>
void expect_same_numbers(const Recorded& row, const std::vector<T>& out, double relative) {
  for (size_t i = 0; i < row.values.size(); ++i) {
    const double expected = to_double(from_bits<T>(row.values[i]));
    const double actual = to_double(out[i * static_cast<size_t>(row.stride())]);
    EXPECT_NEAR(actual, expected, relative * (1e-3 + std::abs(expected))) << "element " << i * row.stride();
  }
}

template <class T>
void check(const Recorded& row, double relative) {
  for (int threads : {1, 3}) {
    SCOPED_TRACE(row.op + " " + row.type + " n=" + std::to_string(row.n) + " run " + std::to_string(row.run) +
                 " threads " + std::to_string(threads));
    const std::vector<T> out = draw<T>(row, threads);
    if (row.op.starts_with("RandomUniform")) {
      expect_same_bits(row, out);
    } else {
      expect_same_numbers(row, out, relative);
    }
  }
}

TEST(Philox, GivesTensorFlowsNumbersForEveryDistributionAndType) {
  const std::vector<Recorded> rows = read_recorded();
  ASSERT_FALSE(rows.empty());
  for (const Recorded& row : rows) {
    if (row.type == "float32") check<float>(row, 1e-6);
    if (row.type == "float64") check<double>(row, 1e-15);
    if (row.type == "float16") check<Half>(row, 1e-3);
    if (row.type == "bfloat16") check<BFloat16>(row, 8e-3);
    if (row.type == "int32") check<int32_t>(row, 0);
    if (row.type == "int64") check<int64_t>(row, 0);
  }
}

// The known answers of the algorithm's authors (Random123's kat_vectors) for philox4x32-10.
TEST(Philox, GivesItsAuthorsKnownAnswers) {
  uint32_t words[4];
  Philox zeros(0, 0);
  zeros.next(words, 1);
  EXPECT_EQ(std::vector<uint32_t>(words, words + 4),
            (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));

  Philox pi(0x299f31d0a4093822, 0x0370734413198a2e);  // digits of pi as key and counter
  pi.counter_low = 0x85a308d3243f6a88;
  pi.next(words, 1);
  EXPECT_EQ(std::vector<uint32_t>(words, words + 4),
            (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EveryInstructionSetGivesTheSameBlocks) {
  std::vector<PhiloxBlocks*> builds = {portable::philox_blocks};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) builds.push_back(avx2::philox_blocks);
  if (isa() >= Isa::Avx512) builds.push_back(avx512::philox_blocks);
#endif
  const uint64_t start = 0x1FFFFFFF8;  // the lower word wraps inside
  std::vector<uint32_t> expected(4 * 40);
  for (uint64_t i = 0; i < 40; ++i) portable::philox_blocks(11, start + i, 7, &expected[4 * i], 1);
  for (PhiloxBlocks* build : builds) {
    for (int64_t blocks = 0; blocks <= 40; ++blocks) {
      std::vector<uint32_t> words(4 * 40);
      build(11, start, 7, words.data(), blocks);
      EXPECT_TRUE(std::equal(words.begin(), words.begin() + 4 * blocks, expected.begin()));
      EXPECT_TRUE(std::all_of(words.begin() + 4 * blocks, words.end(), [](uint32_t word) { return word == 0; }));
    }
  }
}

TEST(Philox, CounterCarriesIntoItsUpperHalf) {
  Philox across(5, 1);
  across.counter_low = ~uint64_t{0} - 1;
  uint32_t words[16];
  across.next(words, 4);
  EXPECT_EQ(across.counter_low, 2u);
  EXPECT_EQ(across.counter_high, 2u);
  uint32_t after[4];
  Philox(5, 2).next(after, 1);
  EXPECT_TRUE(std::equal(after, after + 4, words + 8));
}

TEST(PhiloxState, RunsWithoutSeedsDiffer) {
  PhiloxState a(0, 0), b(0, 0);
  EXPECT_NE(a.reserve(1).key, b.reserve(1).key);
}

TEST(Philox, EmptyFillWritesNothing) {
  ThreadPool pool(2);
  fill_uniform<float>(Philox(1, 2), nullptr, 0, pool);
  fill_truncated_normal<float>(Philox(1, 2), nullptr, 0, pool);
}

}  // namespace
}  // namespace weir::cpu
