#include "devices/cpu/depthwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/depthwise_table.h"
#include "devices/cpu/gemm.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/test_data.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;

DepthwiseAxis axis(int64_t in, int64_t size, int64_t stride, int64_t dilation, int64_t before, int64_t after) {
  const int64_t out = (in + before + after - (size - 1) * dilation - 1) / stride + 1;
  return {in, out, size, stride, dilation, before};
}

struct Results {
  Floats y, dx, df;
  bool operator==(const Results&) const = default;
};

struct Case {
  explicit Case(const DepthwiseShape& shape) : s(shape) {
    x = random_values<float>(s.batch * s.height.in * s.width.in * s.channels, 1);
    f = random_values<float>(s.height.size * s.width.size * s.channels, 2);
    dy = random_values<float>(s.batch * s.height.out * s.width.out * s.channels, 3);
  }
  Results run(int threads) const {
    ThreadPool pool(threads);
    const float nan = std::nanf("");
    Results r{Floats(dy.size(), nan), Floats(x.size(), nan), Floats(f.size(), nan)};
    depthwise(s, x.data(), f.data(), {}, r.y.data(), pool);
    depthwise_input(s, f.data(), dy.data(), r.dx.data(), pool);
    Scratch scratch(depthwise_filter_scratch(s));
    depthwise_filter(s, x.data(), dy.data(), r.df.data(), scratch.data(), pool);
    return r;
  }
  void check() const {
    std::vector<double> y(dy.size()), dx(x.size()), df(f.size());
    for (int64_t n = 0; n < s.batch; ++n) {
      for (int64_t i = 0; i < s.height.out * s.width.out; ++i) {
        for (int64_t k = 0; k < s.height.size * s.width.size; ++k) {
          const int64_t row = i / s.width.out * s.height.stride - s.height.pad + k / s.width.size * s.height.dilation;
          const int64_t column = i % s.width.out * s.width.stride - s.width.pad + k % s.width.size * s.width.dilation;
          if (row < 0 || row >= s.height.in || column < 0 || column >= s.width.in) continue;
          for (int64_t c = 0; c < s.channels; ++c) {
            const auto in = static_cast<size_t>(((n * s.height.in + row) * s.width.in + column) * s.channels + c);
            const auto out = static_cast<size_t>((n * s.height.out * s.width.out + i) * s.channels + c);
            const auto tap = static_cast<size_t>(k * s.channels + c);
            y[out] += static_cast<double>(x[in]) * f[tap];
            dx[in] += static_cast<double>(dy[out]) * f[tap];
            df[tap] += static_cast<double>(x[in]) * dy[out];
          }
        }
      }
    }
    const Results r = run(2);
    auto compare = [](const Floats& got, const std::vector<double>& want) {
      for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5 + 1e-5 * std::fabs(want[i])) << i;
    };
    compare(r.y, y);
    compare(r.dx, dx);
    compare(r.df, df);
    EXPECT_EQ(r, run(1));
    EXPECT_EQ(r, run(3));
  }
  DepthwiseShape s;
  Floats x, f, dy;
};

TEST(Depthwise, MatchesDoubleReferenceInTheSameBitsOnAnyNumberOfThreads) {
  for (int64_t channels : {1, 16, 40, 150}) {
    for (int64_t stride : {1, 2, 3}) {
      for (int64_t dilation : {1, 2}) {
        SCOPED_TRACE(testing::Message() << channels << " " << stride << " " << dilation);
        Case({3, channels, axis(9, 3, stride, dilation, 1, 1), axis(11, 5, stride, dilation, 4, 2)}).check();
        Case({2, channels, axis(7, 2, stride, dilation, 0, 0), axis(13, 1, stride, dilation, 0, 0)}).check();
      }
    }
  }
}

TEST(Depthwise, AppliesTheEpilogue) {
  for (int64_t channels : {5, 16, 75}) {
    const Case c({2, channels, axis(9, 3, 1, 1, 1, 1), axis(11, 3, 2, 1, 1, 1)});
    const Floats plain = c.run(1).y, scale = random_values<float>(channels, 7),
                 bias = random_values<float>(channels, 8);
    const Floats side = random_values<float>(static_cast<int64_t>(plain.size()), 9);
    for (auto activation : {Activation::None, Activation::Relu, Activation::Relu6}) {
      const Epilogue<float> e = {bias.data(), activation, scale.data(), side.data()};
      ThreadPool pool(2);
      Floats y(plain.size());
      depthwise(c.s, c.x.data(), c.f.data(), e, y.data(), pool);
      for (size_t i = 0; i < y.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        ASSERT_NEAR(y[i], finished(plain[i], e, at % channels, at), 1e-5) << i;
      }
    }
  }
}

TEST(Depthwise, WindowsMayBeLargerThanTheImage) {
  Case({2, 20, axis(3, 7, 1, 1, 3, 3), axis(2, 7, 1, 1, 3, 3)}).check();
  Case({1, 20, axis(1, 3, 2, 1, 1, 1), axis(4, 3, 5, 1, 1, 1)}).check();
}

TEST(Depthwise, EveryInstructionSetSumsUp) {
  std::vector<const DepthwiseTable*> tables = {&portable::kDepthwiseTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) tables.push_back(&avx2::kDepthwiseTable);
  if (isa() >= Isa::Avx512) tables.push_back(&avx512::kDepthwiseTable);
#endif
  for (const DepthwiseTable* t : tables) {
    for (int64_t channels : {3, 8, 37}) {
      const Floats x = random_values<float>(9 * channels, 1), f = random_values<float>(2 * channels, 2);
      Floats y(static_cast<size_t>(7 * channels) + 1, 5.0f), sums(static_cast<size_t>(2 * channels) + 1, 1.0f);
      const DepthwiseTap taps[] = {{x.data(), f.data()}, {x.data() + 2 * channels, f.data() + channels}};
      t->pixels(taps, 2, channels, {}, y.data(), channels, 7, channels);
      const DepthwiseSum to[] = {{x.data(), sums.data()}, {x.data() + 2 * channels, sums.data() + channels}};
      t->sums(to, 2, channels, x.data() + channels, channels, 7, channels);
      for (int64_t c = 0; c < channels; ++c) {
        auto at = [&](int64_t p) { return static_cast<double>(x[static_cast<size_t>(p * channels + c)]); };
        double first = 1, second = 1;
        for (int64_t p = 0; p < 7; ++p) {
          const double want = at(p) * f[static_cast<size_t>(c)] + at(p + 2) * f[static_cast<size_t>(channels + c)];
          EXPECT_NEAR(y[static_cast<size_t>(p * channels + c)], want, 1e-6);
          first += at(p) * at(p + 1);
          second += at(p + 2) * at(p + 1);
        }
        EXPECT_NEAR(sums[static_cast<size_t>(c)], first, 1e-5);
        EXPECT_NEAR(sums[static_cast<size_t>(channels + c)], second, 1e-5);
      }
      EXPECT_EQ(y.back(), 5.0f);
      EXPECT_EQ(sums.back(), 1.0f);
    }
  }
}

}  // namespace
}  // namespace weir::cpu
