#include "devices/cpu/batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/batch_norm_table.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/test_data.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;

struct Moments {
  Floats mean, variance;
};
Moments moments(const ChannelShape& s, const Floats& x, int threads) {
  ThreadPool pool(threads);
  Moments m{Floats(static_cast<size_t>(s.channels)), Floats(static_cast<size_t>(s.channels))};
  Scratch scratch(batch_norm_scratch(s));
  channel_moments(s, x.data(), m.mean.data(), m.variance.data(), scratch.data(), pool);
  return m;
}

TEST(BatchNorm, MomentsMatchDoubleEvenFarFromZero) {
  for (int64_t channels : {1, 19, 64, 600}) {
    for (int64_t rows : {1, 7, 200, 1000}) {
      for (float offset : {0.0f, 1000.0f}) {
        const ChannelShape s{rows, channels, 1};
        Floats x = random_values<float>(rows * channels, 1);
        for (float& v : x) v += offset;
        x[0] += 50;  // a pivot's worst friend
        const Moments m = moments(s, x, 2);
        EXPECT_EQ(m.variance, moments(s, x, 1).variance);
        for (int64_t c = 0; c < channels; ++c) {
          double mean = 0, variance = 0;
          auto at = [&](int64_t r) { return static_cast<double>(x[static_cast<size_t>(r * channels + c)]); };
          for (int64_t r = 0; r < rows; ++r) mean += at(r) / static_cast<double>(rows);
          for (int64_t r = 0; r < rows; ++r) variance += (at(r) - mean) * (at(r) - mean) / static_cast<double>(rows);
          ASSERT_NEAR(m.mean[static_cast<size_t>(c)], mean, 1e-6 * (1 + std::fabs(mean)));
          ASSERT_NEAR(m.variance[static_cast<size_t>(c)], variance, 1e-5 * (variance + 1e-3)) << rows << " " << offset;
        }
      }
    }
  }
}

TEST(BatchNorm, NansAndInfinitiesReachTheMoments) {
  Floats x(64 * 3, 1.0f);
  x[0] = std::nanf("");
  x[4] = INFINITY;
  const Moments m = moments({64, 3, 1}, x, 1);
  EXPECT_TRUE(std::isnan(m.mean[0]) && std::isnan(m.variance[0]));
  EXPECT_FALSE(std::isfinite(m.mean[1]));
  EXPECT_EQ(m.mean[2], 1.0f);
  EXPECT_EQ(m.variance[2], 0.0f);
}

// Every loop of every instruction set against the formula, with each activation.
TEST(BatchNorm, LoopsOfEveryInstructionSetFollowTheFormula) {
  std::vector<const BatchNormTable*> tables = {&portable::kBatchNormTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) tables.push_back(&avx2::kBatchNormTable);
  if (isa() >= Isa::Avx512) tables.push_back(&avx512::kBatchNormTable);
#endif
  for (const BatchNormTable* t : tables) {
    for (Activation activation : {Activation::None, Activation::Relu, Activation::Relu6}) {
      for (int64_t channels : {3, 37, 530}) {
        const int64_t rows = 71;
        const auto n = static_cast<size_t>(channels);
        const Floats x = random_values<float>(rows * channels, 1), side = random_values<float>(rows * channels, 2);
        Floats a = random_values<float>(channels, 3), b = random_values<float>(channels, 4), mean(n, 0.25f);
        for (float& v : a) v *= 20;
        const ChannelMask mask{a.data(), b.data(), activation};
        Floats y(x.size()), sum(x.size()), dx(x.size());
        std::vector<double> sums(n, 1.0), products(n, 2.0), want_sums(n, 1.0), want_products(n, 2.0);
        t->scale(x.data(), nullptr, rows, channels, a.data(), b.data(), activation, y.data());
        t->scale(x.data(), side.data(), rows, channels, a.data(), b.data(), activation, sum.data());
        t->gradient_sums(x.data(), side.data(), rows, channels, mean.data(), mask, sums.data(), products.data());
        t->combine(side.data(), x.data(), rows, channels, b.data(), a.data(), mean.data(), mask, dx.data());
        auto act = [&](float v) {
          return activation == Activation::None ? v
                                                : std::clamp(v, 0.0f, activation == Activation::Relu ? INFINITY : 6.0f);
        };
        for (size_t i = 0; i < x.size(); ++i) {
          const size_t c = i % n;
          const float plain = std::fma(x[i], a[c], b[c]);
          ASSERT_NEAR(y[i], act(plain), 2e-6f);
          ASSERT_NEAR(sum[i], act(plain + side[i]), 2e-6f);
          if (std::fabs(plain) < 1e-5f || std::fabs(plain - 6) < 1e-5f) continue;  // without FMA it may fall either way
          const bool passes =
              activation == Activation::None || (plain > 0 && (activation == Activation::Relu || plain < 6));
          const float g = passes ? side[i] : 0;
          want_sums[c] += g;
          want_products[c] += static_cast<double>(g) * (x[i] - 0.25f);
          ASSERT_NEAR(dx[i], g * b[c] + x[i] * a[c] + 0.25f, 1e-5f);
        }
        for (size_t c = 0; c < n; ++c) {
          ASSERT_NEAR(sums[c], want_sums[c], 1e-4);
          ASSERT_NEAR(products[c], want_products[c], 1e-4);
        }
      }
    }
  }
}

}  // namespace
}  // namespace weir::cpu
