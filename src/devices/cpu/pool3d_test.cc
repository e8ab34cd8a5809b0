#include "devices/cpu/pool3d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/pool3d_table.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;
using Bits = std::vector<uint32_t>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<const Pool3dTable*> tables() {
  std::vector<const Pool3dTable*> all = {&portable::kPool3dTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) all.push_back(&avx2::kPool3dTable);
  if (isa() >= Isa::Avx512) all.push_back(&avx512::kPool3dTable);
#endif
  return all;
}

Bits bits(const Floats& x) {
  Bits b;
  for (float v : x) b.push_back(std::bit_cast<uint32_t>(v));
  return b;
}

size_t in_size(const Pool3dShape& s) { return static_cast<size_t>(s.batch * s.in[0] * s.in[1] * s.in[2] * s.channels); }
size_t out_size(const Pool3dShape& s) {
  return static_cast<size_t>(s.batch * s.out[0] * s.out[1] * s.out[2] * s.channels);
}

using Random = std::mt19937;
int64_t pick(Random& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

// Padded as SAME and VALID pad, with windows that overlap, touch and leave gaps.
Pool3dShape random_shape(Random& random) {
  const int64_t channels[] = {1, 3, 7, 16, 17, 33, 64, 83};
  Pool3dShape s{.batch = pick(random, 1, 3),
                .in = {},
                .out = {},
                .channels = channels[pick(random, 0, 7)],
                .window = {},
                .stride = {}};
  if (pick(random, 0, 9) == 0) s.batch = 9;
  const bool same = pick(random, 0, 1) == 1, touch = pick(random, 0, 2) == 0;
  for (int dim = 0; dim < 3; ++dim) {
    s.in[dim] = pick(random, 1, 7);
    s.window[dim] = pick(random, 1, same ? 4 : std::min<int64_t>(4, s.in[dim]));
    s.stride[dim] = touch ? s.window[dim] : pick(random, 1, 4);
    if (same) {
      s.out[dim] = (s.in[dim] + s.stride[dim] - 1) / s.stride[dim];
      s.pad[dim] = std::max<int64_t>(0, (s.out[dim] - 1) * s.stride[dim] + s.window[dim] - s.in[dim]) / 2;
    } else {
      s.out[dim] = (s.in[dim] - s.window[dim]) / s.stride[dim] + 1;
    }
  }
  return s;
}

// Few different values, so that windows hold equal maxima, and now and then special ones.
Floats numbers(size_t n, Random& random, bool special) {
  const float specials[] = {0.0f, -0.0f, kInf, -kInf, kNan, -1.0f};
  Floats x(n);
  for (float& v : x) {
    v = special && pick(random, 0, 3) == 0 ? specials[pick(random, 0, 5)]
                                           : static_cast<float>(pick(random, -6, 6)) * 0.3f;
  }
  return x;
}

struct Results {
  Bits max, avg, max_grad, avg_grad;
  bool operator==(const Results&) const = default;
};

Results reference(const Floats& x, const Floats& dy, const Pool3dShape& s) {
  Floats max(out_size(s)), avg(out_size(s)), max_grad(in_size(s)), avg_grad(in_size(s));
  for (size_t o = 0; o < out_size(s); ++o) {
    auto rest = static_cast<int64_t>(o);
    const int64_t c = rest % s.channels;
    int64_t at[3];
    rest /= s.channels;
    for (int dim = 2; dim >= 0; rest /= s.out[dim--]) at[dim] = rest % s.out[dim] * s.stride[dim] - s.pad[dim];
    std::vector<size_t> window;
    for (int64_t d = at[0]; d < at[0] + s.window[0]; ++d)
      for (int64_t h = at[1]; h < at[1] + s.window[1]; ++h)
        for (int64_t w = at[2]; w < at[2] + s.window[2]; ++w)
          if (d >= 0 && h >= 0 && w >= 0 && d < s.in[0] && h < s.in[1] && w < s.in[2])
            window.push_back(
                static_cast<size_t>((((rest * s.in[0] + d) * s.in[1] + h) * s.in[2] + w) * s.channels + c));
    const auto count = static_cast<float>(window.size());
    float sum = 0;
    size_t best = window[0];
    for (size_t i : window) {
      sum += x[i];
      if (x[i] > x[best]) best = i;
      avg_grad[i] += dy[o] / count;
    }
    max[o] = x[best];
    avg[o] = sum / count;
    for (size_t i : window) max_grad[i] += x[i] == x[best] ? dy[o] : 0;
  }
  return {bits(max), bits(avg), bits(max_grad), bits(avg_grad)};
}

Results with_threads(const Floats& x, const Floats& dy, const Pool3dShape& s, int threads) {
  ThreadPool pool(threads);
  Floats max(out_size(s)), avg(out_size(s)), max_grad(in_size(s), 9.0f), avg_grad(in_size(s), 9.0f);
  max_pool_3d(x.data(), max.data(), s, pool);
  avg_pool_3d(x.data(), avg.data(), s, pool);
  max_pool_3d_grad(x.data(), dy.data(), max_grad.data(), s, pool);
  avg_pool_3d_grad(dy.data(), avg_grad.data(), s, pool);
  return {bits(max), bits(avg), bits(max_grad), bits(avg_grad)};
}

Results with_table(const Pool3dTable& t, const Floats& x, const Floats& dy, const Pool3dShape& s) {
  Floats max(out_size(s)), avg(out_size(s)), max_grad(in_size(s), 9.0f), avg_grad(in_size(s), 9.0f);
  t.max_pool(x.data(), max.data(), s, 0, s.batch * s.out[0] * s.out[1]);
  t.avg_pool(x.data(), avg.data(), s, 0, s.batch * s.out[0] * s.out[1]);
  for (int64_t volume = 0; volume < s.batch; ++volume) {
    const int64_t middle = s.channels / 2;
    for (auto [begin, end] : {std::pair{int64_t{0}, middle}, std::pair{middle, s.channels}}) {
      const Pool3dPart part{volume, 0, s.out[0], begin, end};
      t.max_pool_grad(x.data(), dy.data(), max_grad.data(), s, part);
      t.avg_pool_grad(dy.data(), avg_grad.data(), s, part);
    }
  }
  return {bits(max), bits(avg), bits(max_grad), bits(avg_grad)};
}

void expect_same(const Results& got, const Results& want) {
  EXPECT_EQ(got.max, want.max);
  EXPECT_EQ(got.avg, want.avg);
  EXPECT_EQ(got.max_grad, want.max_grad);
  EXPECT_EQ(got.avg_grad, want.avg_grad);
}

TEST(Pool3d, GivesTheBitsOfPlainLoopsForRandomShapes) {
  Random random(1);
  for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
    const Pool3dShape s = random_shape(random);
    const Floats x = numbers(in_size(s), random, false), dy = numbers(out_size(s), random, false);
    const Results want = reference(x, dy, s);
    for (const Pool3dTable* t : tables()) expect_same(with_table(*t, x, dy, s), want);
    expect_same(with_threads(x, dy, s, 1), want);
    expect_same(with_threads(x, dy, s, 3), want);
  }
}

// The means are left out: what a sum with NaN has for a sign is the processor's affair.
TEST(MaxPool3d, GivesTheBitsOfPlainLoopsForNanInfinityAndZerosOfBothSigns) {
  Random random(2);
  for (int i = 0; i < 200 && !testing::Test::HasFailure(); ++i) {
    const Pool3dShape s = random_shape(random);
    const Floats x = numbers(in_size(s), random, true);
    Floats dy = numbers(out_size(s), random, false);
    for (float& g : dy) g = pick(random, 0, 3) == 0 ? -0.0f : g;
    const Results want = reference(x, dy, s), got = with_threads(x, dy, s, 2);
    EXPECT_EQ(got.max, want.max);
    EXPECT_EQ(got.max_grad, want.max_grad);
    for (const Pool3dTable* t : tables()) {
      const Results by_table = with_table(*t, x, dy, s);
      EXPECT_EQ(by_table.max, want.max);
      EXPECT_EQ(by_table.max_grad, want.max_grad);
    }
  }
}

TEST(Pool3d, EmptyBatchAndNoChannelsDoNothing) {
  ThreadPool pool(2);
  Pool3dShape empty{
      .batch = 0, .in = {4, 4, 4}, .out = {2, 2, 2}, .channels = 5, .window = {3, 3, 3}, .stride = {2, 2, 2}};
  for (int i = 0; i < 2; ++i) {
    max_pool_3d(nullptr, nullptr, empty, pool);
    avg_pool_3d(nullptr, nullptr, empty, pool);
    max_pool_3d_grad(nullptr, nullptr, nullptr, empty, pool);
    avg_pool_3d_grad(nullptr, nullptr, empty, pool);
    empty.batch = 9;
    empty.channels = 0;
  }
}

}  // namespace
}  // namespace weir::cpu
