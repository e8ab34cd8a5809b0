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
// The same images with the channels before the pixels and behind them, in planes of several sizes.
TEST(BatchNorm, PlanesOfChannelsGiveWhatRowsOfChannelsGive) {
  constexpr int64_t kImages = 3, kChannels = 5;
  ThreadPool pool(2);
  for (int64_t pixels : {2, 7, 64, 77, 256, 300}) {
    for (Activation activation : {Activation::None, Activation::Relu, Activation::Relu6}) {
      const ChannelShape planes{kImages, kChannels, pixels}, rows{kImages * pixels, kChannels, 1};
      const auto n = static_cast<size_t>(kImages * kChannels * pixels), c = static_cast<size_t>(kChannels);
      std::vector<size_t> at(n);  // of each element of the planes, in the rows
      for (size_t i = 0; i < n; ++i) {
        const size_t size = static_cast<size_t>(pixels), image = i / (c * size), channel = i / size % c;
        at[i] = (image * size + i % size) * c + channel;
      }
      const std::vector<float> x = random_values<float>(static_cast<int64_t>(n), 1);
      const std::vector<float> dy = random_values<float>(static_cast<int64_t>(n), 2);
      const std::vector<float> a = random_values<float>(kChannels, 3), b = random_values<float>(kChannels, 4);
      std::vector<float> x_planes(n), dy_planes(n);
      for (size_t i = 0; i < n; ++i) x_planes[i] = x[at[i]], dy_planes[i] = dy[at[i]];
      Scratch scratch(std::max(batch_norm_scratch(planes), batch_norm_scratch(rows)));
      struct Result {
        std::vector<float> mean, variance, y, dx;
        std::vector<double> sums, products;
      };
      auto run = [&](const ChannelShape& shape, const std::vector<float>& image, const std::vector<float>& grad) {
        Result r{std::vector<float>(c), std::vector<float>(c),  std::vector<float>(n),
                 std::vector<float>(n), std::vector<double>(c), std::vector<double>(c)};
        const ChannelMask mask{a.data(), b.data(), activation};
        channel_moments(shape, image.data(), r.mean.data(), r.variance.data(), scratch.data(), pool);
        channel_gradient_sums(shape, image.data(), grad.data(), b.data(), mask, r.sums.data(), r.products.data(),
                              scratch.data(), pool);
        scale_channels(shape, image.data(), grad.data(), a.data(), b.data(), activation, r.y.data(), pool);
        combine_channels(shape, grad.data(), image.data(), a.data(), b.data(), a.data(), mask, r.dx.data(), pool);
        return r;
      };
      const Result one = run(rows, x, dy), other = run(planes, x_planes, dy_planes);
      for (size_t k = 0; k < c; ++k) {
        EXPECT_NEAR(one.mean[k], other.mean[k], 1e-6);
        EXPECT_NEAR(one.variance[k], other.variance[k], 1e-5);
        EXPECT_NEAR(one.sums[k], other.sums[k], 1e-4);
        EXPECT_NEAR(one.products[k], other.products[k], 1e-4);
      }
      for (size_t i = 0; i < n; ++i) {
        ASSERT_EQ(one.y[at[i]], other.y[i]) << pixels;
        ASSERT_EQ(one.dx[at[i]], other.dx[i]) << pixels;
      }
    }
  }
}

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
