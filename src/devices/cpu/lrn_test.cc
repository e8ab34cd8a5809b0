#include "devices/cpu/lrn.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/lrn_generic.h"
#include "devices/cpu/lrn_table.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;

std::vector<const LrnTable*> tables() {
  std::vector<const LrnTable*> all = {&portable::kLrnTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) all.push_back(&avx2::kLrnTable);
  if (isa() >= Isa::Avx512) all.push_back(&avx512::kLrnTable);
#endif
  return all;
}

Floats numbers(int64_t n, uint32_t state) {
  Floats x(n);
  for (float& v : x) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-22f - 2.0f;
  return x;
}

TEST(Lrn, MatchesTensorFlow) {
  ThreadPool pool(1);
  const Floats x = {0.5f, -1.0f, 2.0f, 0.25f, -0.75f}, dy = {1, -0.5f, 0.25f, 2, -1};
  struct {
    float beta;
    Floats y, dx;
  } const cases[] = {
      {0.5f,
       {0.324442834f, -0.528885841f, 1.06619287f, 0.13583146f, -0.507092535f},
       {0.61729902f, -0.178544432f, -0.00467583537f, 1.05756962f, -0.605921209f}},
      {0.75f,
       {0.261349857f, -0.384629816f, 0.778464198f, 0.100122236f, -0.416965574f},
       {0.485836565f, -0.0936997831f, -0.0540858544f, 0.766661525f, -0.4716717f}},
      {1.0f,
       {0.210526317f, -0.279720277f, 0.568383634f, 0.0738007352f, -0.342857152f},
       {0.382723331f, -0.0389720052f, -0.0766439736f, 0.554302394f, -0.367004663f}},
      {0.6f,
       {0.297558129f, -0.465622902f, 0.940149486f, 0.120229885f, -0.468913168f},
       {0.560842514f, -0.140217513f, -0.0285709202f, 0.930146396f, -0.548174441f}},
  };
  for (const auto& c : cases) {
    const LrnOptions options = {.depth_radius = 1, .bias = 2, .alpha = 0.3f, .beta = c.beta};
    Floats y(5), dx(5);
    lrn(x.data(), y.data(), 1, 5, options, pool);
    lrn_grad(dy.data(), x.data(), y.data(), dx.data(), 1, 5, options, pool);
    for (int i = 0; i < 5; ++i) {
      EXPECT_NEAR(y[i], c.y[i], 2e-7) << c.beta;
      EXPECT_NEAR(dx[i], c.dx[i], 3e-7) << c.beta;
    }
  }
}

TEST(Lrn, MatchesDoubleReferenceOnOddShapes) {
  for (int64_t channels : {1, 2, 3, 7, 8, 9, 16, 31, 64, 70, 512, 513, 1100}) {
    for (int64_t radius : {0, 1, 4, 5, 9, 64}) {
      for (float beta : {0.5f, 0.75f, 1.0f, 0.31f}) {
        const int64_t pixels = channels < 100 ? 61 : 3, n = pixels * channels;
        const LrnOptions options = {
            .depth_radius = std::min(radius, channels), .bias = 1.5f, .alpha = 0.01f, .beta = beta};
        const Floats x = numbers(n, 1), dy = numbers(n, 2);
        const std::vector<double> x2(x.begin(), x.end()), dy2(dy.begin(), dy.end());
        std::vector<double> want(n), want_grad(n);
        lrn_generic<double>(x2.data(), want.data(), 0, pixels, channels, options);
        lrn_grad_generic<double>(dy2.data(), x2.data(), want.data(), want_grad.data(), 0, pixels, channels, options);
        for (const LrnTable* t : tables()) {
          Floats y(n + 1, 5.0f), dx(n + 1, 5.0f);
          t->forward(x.data(), y.data(), pixels, channels, options);
          t->backward(dy.data(), x.data(), y.data(), dx.data(), pixels, channels, options);
          for (int64_t i = 0; i < n; ++i) {
            ASSERT_NEAR(y[i], want[i], 1e-6) << channels << " channels, radius " << radius << ", beta " << beta;
            ASSERT_NEAR(dx[i], want_grad[i], 3e-6) << channels << " channels, radius " << radius << ", beta " << beta;
          }
          EXPECT_EQ(y[n], 5.0f);
          EXPECT_EQ(dx[n], 5.0f);
        }
      }
    }
  }
}

TEST(Lrn, TakesAnyRadius) {
  ThreadPool pool(2);
  for (int64_t radius : {65, 1000, 1 << 30}) {
    const LrnOptions options = {.depth_radius = radius, .bias = 1, .alpha = 0.01f, .beta = 0.75f};
    const Floats x = numbers(300, 1), dy = numbers(300, 2);
    Floats y(300), dx(300);
    lrn(x.data(), y.data(), 3, 100, options, pool);
    lrn_grad(dy.data(), x.data(), y.data(), dx.data(), 3, 100, options, pool);
    Floats want(300), want_grad(300);
    lrn_generic<double>(x.data(), want.data(), 0, 3, 100, options);
    lrn_grad_generic<double>(dy.data(), x.data(), want.data(), want_grad.data(), 0, 3, 100, options);
    for (int i = 0; i < 300; ++i) {
      EXPECT_NEAR(y[i], want[i], 2e-6);
      EXPECT_NEAR(dx[i], want_grad[i], 3e-6);
    }
  }
}

TEST(Lrn, BitsDoNotDependOnTheNumberOfThreads) {
  constexpr int64_t kPixels = 3001, kChannels = 13;
  const LrnOptions options = {.depth_radius = 4, .bias = 1, .alpha = 0.001f / 9, .beta = 0.75f};
  const Floats x = numbers(kPixels * kChannels, 1), dy = numbers(kPixels * kChannels, 2);
  auto run = [&](int threads) {
    ThreadPool pool(threads);
    Floats y(x.size()), dx(x.size());
    lrn(x.data(), y.data(), kPixels, kChannels, options, pool);
    lrn_grad(dy.data(), x.data(), y.data(), dx.data(), kPixels, kChannels, options, pool);
    y.insert(y.end(), dx.begin(), dx.end());
    return y;
  };
  const Floats one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(4));
}

}  // namespace
}  // namespace weir::cpu
