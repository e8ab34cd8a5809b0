#include "devices/cpu/pool2d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/pool2d_table.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<const Pool2dTable*> tables() {
  std::vector<const Pool2dTable*> all = {&portable::kPool2dTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) all.push_back(&avx2::kPool2dTable);
  if (isa() >= Isa::Avx512) all.push_back(&avx512::kPool2dTable);
#endif
  return all;
}

// Few different values, so that windows hold equal maxima.
Floats numbers(int64_t n, uint32_t state) {
  Floats x(n);
  for (float& v : x) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 27) * 0.25f - 3.0f;
  return x;
}

int64_t in_size(const Pool2dShape& s) { return s.batch * s.in_height * s.in_width * s.channels; }
int64_t out_size(const Pool2dShape& s) { return s.batch * s.out_height * s.out_width * s.channels; }

// f(out index, indices of the window's elements) for every output element.
template <class F>
void for_each_window(const Pool2dShape& s, F f) {
  for (int64_t o = 0; o < out_size(s); ++o) {
    const int64_t c = o % s.channels, col = o / s.channels % s.out_width;
    const int64_t row = o / s.channels / s.out_width % s.out_height, b = o / s.channels / s.out_width / s.out_height;
    std::vector<int64_t> window;
    for (int64_t i = 0; i < s.window_height; ++i) {
      for (int64_t j = 0; j < s.window_width; ++j) {
        const int64_t h = row * s.stride_height - s.pad_top + i, w = col * s.stride_width - s.pad_left + j;
        if (h >= 0 && h < s.in_height && w >= 0 && w < s.in_width)
          window.push_back(((b * s.in_height + h) * s.in_width + w) * s.channels + c);
      }
    }
    f(o, window);
  }
}

struct Results {
  Floats max, avg, max_grad, avg_grad;
  bool operator==(const Results&) const = default;
};

Results reference(const Floats& x, const Floats& dy, const Pool2dShape& s) {
  Floats max(out_size(s)), avg(out_size(s));
  std::vector<double> max_grad(in_size(s)), avg_grad(in_size(s));
  for_each_window(s, [&](int64_t o, const std::vector<int64_t>& window) {
    double sum = 0;
    int64_t best = window[0];
    for (int64_t i : window) {
      sum += x[i];
      if (x[i] > x[best]) best = i;
      avg_grad[i] += double{dy[o]} / static_cast<double>(window.size());
    }
    max[o] = x[best];
    avg[o] = static_cast<float>(sum / static_cast<double>(window.size()));
    max_grad[best] += dy[o];
  });
  return {max, avg, Floats(max_grad.begin(), max_grad.end()), Floats(avg_grad.begin(), avg_grad.end())};
}

Results with_threads(const Floats& x, const Floats& dy, const Pool2dShape& s, int threads) {
  ThreadPool pool(threads);
  Results r{Floats(out_size(s)), Floats(out_size(s)), Floats(in_size(s), 9.0f), Floats(in_size(s), 9.0f)};
  max_pool(x.data(), r.max.data(), s, pool);
  avg_pool(x.data(), r.avg.data(), s, pool);
  max_pool_grad(x.data(), r.max.data(), dy.data(), r.max_grad.data(), s, pool);
  avg_pool_grad(dy.data(), r.avg_grad.data(), s, pool);
  return r;
}

Results with_table(const Pool2dTable& t, const Floats& x, const Floats& dy, const Pool2dShape& s) {
  Results r{Floats(out_size(s)), Floats(out_size(s)), Floats(in_size(s), 9.0f), Floats(in_size(s), 9.0f)};
  t.max_pool(x.data(), r.max.data(), s, 0, s.batch * s.out_height);
  t.avg_pool(x.data(), r.avg.data(), s, 0, s.batch * s.out_height);
  for (int64_t image = 0; image < s.batch; ++image) {
    const int64_t middle = s.channels / 2;
    for (auto [begin, end] : {std::pair{int64_t{0}, middle}, std::pair{middle, s.channels}}) {
      t.max_pool_grad(x.data(), r.max.data(), dy.data(), r.max_grad.data(), s, image, begin, end);
      t.avg_pool_grad(dy.data(), r.avg_grad.data(), s, image, begin, end);
    }
  }
  return r;
}

void expect_near(const Floats& got, const Floats& want, double tolerance) {
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

std::vector<Pool2dShape> shapes() {
  std::vector<Pool2dShape> all;
  for (int64_t channels : {1, 3, 8, 17, 64, 70}) {
    all.push_back({.batch = 2,
                   .in_height = 12,
                   .in_width = 12,
                   .out_height = 6,
                   .out_width = 6,
                   .channels = channels,
                   .window_height = 3,
                   .window_width = 3,
                   .stride_height = 2,
                   .stride_width = 2});  // SAME: pads below
    all.push_back({.batch = 9,
                   .in_height = 7,
                   .in_width = 5,
                   .out_height = 4,
                   .out_width = 3,
                   .channels = channels,
                   .window_height = 3,
                   .window_width = 3,
                   .stride_height = 2,
                   .stride_width = 2,
                   .pad_top = 1,
                   .pad_left = 1});
    all.push_back({.batch = 1,
                   .in_height = 9,
                   .in_width = 10,
                   .out_height = 4,
                   .out_width = 5,
                   .channels = channels,
                   .window_height = 2,
                   .window_width = 2,
                   .stride_height = 2,
                   .stride_width = 2});
    all.push_back({.batch = 1,
                   .in_height = 5,
                   .in_width = 11,
                   .out_height = 5,
                   .out_width = 4,
                   .channels = channels,
                   .window_height = 4,
                   .window_width = 1,
                   .stride_height = 1,
                   .stride_width = 3,
                   .pad_top = 2});
    all.push_back({.batch = 3,
                   .in_height = 4,
                   .in_width = 4,
                   .out_height = 1,
                   .out_width = 1,
                   .channels = channels,
                   .window_height = 4,
                   .window_width = 4,
                   .stride_height = 1,
                   .stride_width = 1});
    all.push_back({.batch = 2,
                   .in_height = 6,
                   .in_width = 8,
                   .out_height = 3,
                   .out_width = 4,
                   .channels = channels,
                   .window_height = 2,
                   .window_width = 2,
                   .stride_height = 2,
                   .stride_width = 2});  // every element in one window
    all.push_back({.batch = 2,
                   .in_height = 6,
                   .in_width = 6,
                   .out_height = 3,
                   .out_width = 2,
                   .channels = channels,
                   .window_height = 2,
                   .window_width = 2,
                   .stride_height = 2,
                   .stride_width = 3,
                   .pad_top = 1});  // some in none
  }
  return all;
}

TEST(Pool2d, MatchesReferenceForwardAndBackward) {
  for (const Pool2dShape& s : shapes()) {
    const Floats x = numbers(in_size(s), 1), dy = numbers(out_size(s), 2);
    const Results want = reference(x, dy, s);
    for (const Pool2dTable* t : tables()) {
      const Results got = with_table(*t, x, dy, s);
      EXPECT_EQ(got.max, want.max);
      expect_near(got.avg, want.avg, 1e-6);
      expect_near(got.max_grad, want.max_grad, 1e-6);
      expect_near(got.avg_grad, want.avg_grad, 1e-5);
    }
  }
}

TEST(Pool2d, BitsDoNotDependOnTheNumberOfThreads) {
  for (const Pool2dShape& s : shapes()) {
    const Floats x = numbers(in_size(s), 3), dy = numbers(out_size(s), 4);
    const Results one = with_threads(x, dy, s, 1);
    EXPECT_TRUE(one == with_threads(x, dy, s, 2));
    EXPECT_TRUE(one == with_threads(x, dy, s, 4));
  }
}

const Pool2dShape kFourByFour = {.batch = 1,
                                 .in_height = 4,
                                 .in_width = 4,
                                 .out_height = 2,
                                 .out_width = 2,
                                 .channels = 1,
                                 .window_height = 2,
                                 .window_width = 2,
                                 .stride_height = 2,
                                 .stride_width = 2};

// Values from TensorFlow 1.15: the first of equal maxima gets the gradient, NaN is passed over.
TEST(MaxPool, TiesAndSpecialValuesAreTensorFlows) {
  ThreadPool pool(1);
  const Floats x = {1, 1, 2, 2, 1, 1, 2, 2, kNan, 3, 4, 4, 3, kNan, 4, -kInf}, dy(4, 1.0f);
  Floats y(4), dx(16);
  max_pool(x.data(), y.data(), kFourByFour, pool);
  EXPECT_EQ(y, (Floats{1, 2, 3, 4}));
  const Floats x2 = {1, 1, 2, 2, 1, 1, 2, 2, 5, 3, 4, 4, 3, 5, 4, -kInf};
  max_pool(x2.data(), y.data(), kFourByFour, pool);
  max_pool_grad(x2.data(), y.data(), dy.data(), dx.data(), kFourByFour, pool);
  EXPECT_EQ(dx, (Floats{1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}));

  const Floats lowest(16, -kInf);
  Pool2dShape same = kFourByFour;
  same.window_height = same.window_width = 3;
  max_pool(lowest.data(), y.data(), same, pool);
  EXPECT_EQ(y, Floats(4, std::numeric_limits<float>::lowest()));
  max_pool_grad(lowest.data(), y.data(), dy.data(), dx.data(), same, pool);
  EXPECT_EQ(dx, (Floats{1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0}));
}

TEST(MaxPool, GradientFindsTheMaximumWhenTheOutputIsNotOfThisInput) {
  ThreadPool pool(1);
  Floats x(16), dx(16);
  for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(i);
  const Floats y(4, 99.0f), dy = {1, 2, 3, 4};
  max_pool_grad(x.data(), y.data(), dy.data(), dx.data(), kFourByFour, pool);
  EXPECT_EQ(dx, (Floats{0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4}));
}

// Values from TensorFlow 1.15.
TEST(AvgPool, CountsOnlyElementsInTheImage) {
  ThreadPool pool(1);
  Pool2dShape same = kFourByFour;
  same.window_height = same.window_width = 3;
  Floats x(16), y(4), dx(16);
  for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(i);
  avg_pool(x.data(), y.data(), same, pool);
  EXPECT_EQ(y, (Floats{5, 6.5f, 11, 12.5f}));
  avg_pool_grad(Floats(4, 1.0f).data(), dx.data(), same, pool);
  const Floats want = {0.11111111f, 0.11111111f, 0.2777778f, 0.16666667f, 0.11111111f, 0.11111111f,
                       0.2777778f,  0.16666667f, 0.2777778f, 0.2777778f,  0.6944445f,  0.4166667f,
                       0.16666667f, 0.16666667f, 0.4166667f, 0.25f};
  expect_near(dx, want, 1e-6);
}

TEST(Pool2d, EmptyBatchDoesNothing) {
  ThreadPool pool(2);
  Pool2dShape empty = kFourByFour;
  empty.batch = 0;
  max_pool(nullptr, nullptr, empty, pool);
  avg_pool(nullptr, nullptr, empty, pool);
  max_pool_grad(nullptr, nullptr, nullptr, nullptr, empty, pool);
  avg_pool_grad(nullptr, nullptr, empty, pool);
}

}  // namespace
}  // namespace weir::cpu
