#include "devices/cpu/philox.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>
#include <type_traits>

#include "devices/cpu/isa.h"
#include "devices/cpu/philox_blocks.h"
#include "weir/dtype.h"

namespace weir::cpu {
namespace {

PhiloxBlocks* select_blocks() {
#if defined(__x86_64__)
  if (isa() == Isa::Avx512) return avx512::philox_blocks;
  if (isa() == Isa::Avx2) return avx2::philox_blocks;
#endif
  return portable::philox_blocks;
}

uint64_t nondeterministic_seed() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

// Random bits become the fraction of a number in [1, 2); less 1, that is uniform in [0, 1). No step rounds.
template <class T>
constexpr int kWords = sizeof(T) == 8 ? 2 : 1;  // words for one element

template <class T>
T uniform(const uint32_t* words) {
  if constexpr (std::is_same_v<T, double>) {
    const uint64_t fraction = static_cast<uint64_t>(words[0] & 0xFFFFF) << 32 | words[1];
    return std::bit_cast<double>(uint64_t{1023} << 52 | fraction) - 1.0;
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(uint32_t{127} << 23 | (words[0] & 0x7FFFFF)) - 1.0f;
  } else {
    T in_1_2;
    in_1_2.bits =
        static_cast<uint16_t>(std::is_same_v<T, Half> ? 15 << 10 | (words[0] & 0x3FF) : 127 << 7 | (words[0] & 0x7F));
    return T(static_cast<float>(in_1_2) - 1.0f);
  }
}

// 16-bit types are computed in float.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;

// Box and Muller's transform: two independent normals from two uniforms.
template <class T>
void normal_pair(const uint32_t* words, T* pair) {
  const T u = std::max(uniform<T>(words), T(1.0e-7));  // keeps the logarithm finite
  // TensorFlow multiplies in double for float too, which decides the last bit of the angle.
  const T angle = static_cast<T>(2.0 * std::numbers::pi * uniform<T>(words + kWords<T>));
  const T radius = std::sqrt(T(-2) * std::log(u));
  pair[0] = std::sin(angle) * radius;
  pair[1] = std::cos(angle) * radius;
}

template <class T>
struct Uniform {
  using Element = T;
  void operator()(const uint32_t* block, T* out) const {
    for (int i = 0; i < 4 / kWords<T>; ++i) out[i] = uniform<T>(block + i * kWords<T>);
  }
};

template <class T>
struct Normal {
  using Element = T;
  void operator()(const uint32_t* block, T* out) const {
    for (int i = 0; i < 4 / kWords<T>; i += 2) {
      Compute<T> pair[2];
      normal_pair(block + i * kWords<T>, pair);
      out[i] = T(pair[0]);
      out[i + 1] = T(pair[1]);
    }
  }
};

template <class T>
struct UniformInt {
  using Element = T;
  using Unsigned = std::make_unsigned_t<T>;
  T low;
  Unsigned range;
  void operator()(const uint32_t* block, T* out) const {
    for (int i = 0; i < 4 / kWords<T>; ++i) {
      Unsigned bits = block[i * kWords<T>];
      if constexpr (sizeof(T) == 8) bits |= static_cast<Unsigned>(block[2 * i + 1]) << 32;
      out[i] = static_cast<T>(static_cast<Unsigned>(low) + bits % range);
    }
  }
};

constexpr int64_t kChunk = 256;  // blocks generated at a time: their words stay in the first cache

// Each block of the stream becomes one group of elements.
template <class Distribution>
void fill_by_blocks(Philox generator, typename Distribution::Element* out, int64_t n, ThreadPool& pool,
                    Distribution distribution) {
  using T = typename Distribution::Element;
  constexpr int64_t kGroup = 4 / kWords<T>;
  const int64_t groups = (n + kGroup - 1) / kGroup;
  pool.parallel_for(groups, 16 * kChunk, [&](int64_t begin, int64_t end) {
    Philox stream = generator;
    stream.skip(static_cast<uint64_t>(begin));
    uint32_t words[4 * kChunk];
    for (int64_t first = begin; first < end; first += kChunk) {
      const int64_t blocks = std::min(kChunk, end - first);
      const int64_t whole = std::min(blocks, n / kGroup - first);
      stream.next(words, blocks);
      T* group = out + first * kGroup;
      for (int64_t i = 0; i < whole; ++i) distribution(words + 4 * i, group + i * kGroup);
      if (whole < blocks) {
        T rest[kGroup];
        distribution(words + 4 * whole, rest);
        std::copy_n(rest, n - (first + whole) * kGroup, group + whole * kGroup);
      }
    }
  });
}

// A stream taken word by word. One vector of blocks costs no more than one block.
class Words {
 public:
  explicit Words(Philox generator) : generator_(generator) {}
  const uint32_t* take(int count) {
    if (used_ == kBuffered) {
      generator_.next(words_, kBuffered / 4);
      used_ = 0;
    }
    used_ += count;
    return words_ + used_ - count;
  }

 private:
  static constexpr int kBuffered = 16;
  Philox generator_;
  uint32_t words_[kBuffered];
  int used_ = kBuffered;
};

}  // namespace

void Philox::next(uint32_t* words, int64_t blocks) {
  static PhiloxBlocks* const philox_blocks = select_blocks();
  const uint64_t before_wrap = std::min(static_cast<uint64_t>(blocks), ~counter_low);
  philox_blocks(key, counter_low, counter_high, words, static_cast<int64_t>(before_wrap));
  skip(before_wrap);
  const int64_t rest = blocks - static_cast<int64_t>(before_wrap);
  for (int64_t i = blocks - rest; i < blocks; ++i) {
    philox_blocks(key, counter_low, counter_high, words + 4 * i, 1);
    skip(1);
  }
}

PhiloxState::PhiloxState(int64_t seed, int64_t seed2)
    : generator_(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2)) {
  if (seed == 0 && seed2 == 0) generator_ = Philox(nondeterministic_seed(), nondeterministic_seed());
}

Philox PhiloxState::reserve(int64_t blocks) {
  std::lock_guard lock(mutex_);
  const Philox reserved = generator_;
  generator_.skip(static_cast<uint64_t>(blocks));
  return reserved;
}

template <class T>
void fill_uniform(Philox generator, T* out, int64_t n, ThreadPool& pool) {
  fill_by_blocks(generator, out, n, pool, Uniform<T>{});
}

template <class T>
void fill_normal(Philox generator, T* out, int64_t n, ThreadPool& pool) {
  fill_by_blocks(generator, out, n, pool, Normal<T>{});
}

template <class T>
void fill_uniform_int(Philox generator, T low, T high, T* out, int64_t n, ThreadPool& pool) {
  using Unsigned = std::make_unsigned_t<T>;
  const Unsigned range = static_cast<Unsigned>(high) - static_cast<Unsigned>(low);
  fill_by_blocks(generator, out, n, pool, UniformInt<T>{low, range});
}

// Each group of elements has 256 words for each of its elements to draw from.
template <class T>
void fill_truncated_normal(Philox generator, T* out, int64_t n, ThreadPool& pool) {
  constexpr int64_t kGroup = 4 / kWords<T>;
  constexpr int64_t kBlocksPerGroup = kGroup * 256 / 4;
  const int64_t groups = (n + kGroup - 1) / kGroup;
  pool.parallel_for(groups, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      Philox stream = generator;
      stream.skip(static_cast<uint64_t>(group * kBlocksPerGroup));
      Words words(stream);
      int64_t i = group * kGroup;
      const int64_t limit = std::min(i + kGroup, n);
      while (i < limit) {
        Compute<T> pair[2];
        normal_pair(words.take(2 * kWords<T>), pair);
        for (Compute<T> value : pair) {
          if (std::abs(value) < 2 && i < limit) out[i++] = T(value);
        }
      }
    }
  });
}

template void fill_uniform(Philox, float*, int64_t, ThreadPool&);
template void fill_uniform(Philox, double*, int64_t, ThreadPool&);
template void fill_uniform(Philox, Half*, int64_t, ThreadPool&);
template void fill_uniform(Philox, BFloat16*, int64_t, ThreadPool&);
template void fill_normal(Philox, float*, int64_t, ThreadPool&);
template void fill_normal(Philox, double*, int64_t, ThreadPool&);
template void fill_normal(Philox, Half*, int64_t, ThreadPool&);
template void fill_normal(Philox, BFloat16*, int64_t, ThreadPool&);
template void fill_truncated_normal(Philox, float*, int64_t, ThreadPool&);
template void fill_truncated_normal(Philox, double*, int64_t, ThreadPool&);
template void fill_truncated_normal(Philox, Half*, int64_t, ThreadPool&);
template void fill_truncated_normal(Philox, BFloat16*, int64_t, ThreadPool&);
template void fill_uniform_int(Philox, int32_t, int32_t, int32_t*, int64_t, ThreadPool&);
template void fill_uniform_int(Philox, int64_t, int64_t, int64_t*, int64_t, ThreadPool&);

}  // namespace weir::cpu
