#include "devices/cpu/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/reduce_table.h"

namespace weir::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr ReduceFn kAll[] = {ReduceFn::Sum, ReduceFn::Mean, ReduceFn::Max,
                             ReduceFn::Min, ReduceFn::Prod, ReduceFn::SumSquares};

std::vector<const ReduceTable*> tables() {
  std::vector<const ReduceTable*> all = {&portable::kReduceTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) all.push_back(&avx2::kReduceTable);
  if (isa() >= Isa::Avx512) all.push_back(&avx512::kReduceTable);
#endif
  return all;
}

// Near 1, so that products of many stay in range.
std::vector<float> numbers(int64_t n) {
  std::vector<float> x(n);
  uint32_t state = 99;
  for (float& v : x) v = 0.999f + 0.002f * static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
  return x;
}

double neutral(ReduceFn fn) {
  return fn == ReduceFn::Max ? -kInf : fn == ReduceFn::Min ? kInf : fn == ReduceFn::Prod ? 1 : 0;
}
double step(ReduceFn fn, double a, double x) {
  switch (fn) {
    case ReduceFn::Max:
      return std::fmax(a, x);
    case ReduceFn::Min:
      return std::fmin(a, x);
    case ReduceFn::Prod:
      return a * x;
    case ReduceFn::SumSquares:
      return a + x * x;
    default:
      return a + x;
  }
}

std::vector<double> reference(ReduceFn fn, const std::vector<float>& x, const ReduceShape& s) {
  std::vector<double> y(s.outer * s.inner, neutral(fn));
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t r = 0; r < s.reduced; ++r)
      for (int64_t i = 0; i < s.inner; ++i)
        y[o * s.inner + i] = step(fn, y[o * s.inner + i], x[(o * s.reduced + r) * s.inner + i]);
  if (fn == ReduceFn::Mean)
    for (double& v : y) v /= static_cast<double>(s.reduced);
  return y;
}

std::vector<float> reduced(ReduceFn fn, const std::vector<float>& x, const ReduceShape& s, int threads) {
  ThreadPool pool(threads);
  std::vector<float> y(s.outer * s.inner + 1, 77.0f), scratch(reduce_scratch_bytes(s) / sizeof(float));
  reduce(fn, x.data(), s, y.data(), scratch.data(), pool);
  EXPECT_EQ(y.back(), 77.0f);
  y.pop_back();
  return y;
}

const ReduceShape kShapes[] = {
    {1, 1, 1},     {1, 7, 1},     {5, 13, 1},     {3, 1, 5},      {1, 100003, 1}, {2, 70001, 1},
    {100, 10, 1},  {1, 1000, 3},  {1, 40003, 3},  {1, 40003, 10}, {4, 57, 31},    {2, 2000, 31},
    {1, 2311, 64}, {1, 40, 4001}, {3, 67, 1031},  {1, 129, 33},   {1, 5000, 100}, {2, 1, 40000},
    {70000, 2, 1}, {1, 17, 2},    {1, 300000, 2}, {0, 3, 4},      {3, 4, 0},      {2, 0, 3},
};

TEST(Reduce, MatchesDoubleReferenceOnOddShapes) {
  for (const ReduceShape& s : kShapes) {
    const std::vector<float> x = numbers(s.outer * s.reduced * s.inner);
    for (ReduceFn fn : kAll) {
      const std::vector<double> want = reference(fn, x, s);
      const std::vector<float> got = reduced(fn, x, s, 2);
      for (size_t i = 0; i < want.size(); ++i) {
        // A product of n factors has n roundings whatever the order.
        const double tolerance = fn == ReduceFn::Prod ? 3e-8 * static_cast<double>(s.reduced) + 1e-6 : 1e-6;
        if (std::isnan(want[i]))
          ASSERT_TRUE(std::isnan(got[i]));
        else if (std::isinf(want[i]) || want[i] == 0)
          ASSERT_EQ(got[i], want[i]);
        else
          ASSERT_NEAR(got[i] / want[i], 1, tolerance)
              << static_cast<int>(fn) << " [" << s.outer << "," << s.reduced << "," << s.inner << "] at " << i;
      }
    }
  }
}

TEST(Reduce, BitsDoNotDependOnTheNumberOfThreads) {
  for (const ReduceShape& s : kShapes) {
    std::vector<float> x = numbers(s.outer * s.reduced * s.inner);
    for (size_t i = 0; i < x.size(); i += 3) x[i] = -x[i];
    for (ReduceFn fn : {ReduceFn::Sum, ReduceFn::SumSquares, ReduceFn::Prod}) {
      const std::vector<float> one = reduced(fn, x, s, 1);
      for (int threads : {2, 4}) {
        const std::vector<float> many = reduced(fn, x, s, threads);
        ASSERT_TRUE(one.empty() || std::memcmp(one.data(), many.data(), one.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST(Reduce, LongSumsOfOneValueKeepTheirAccuracy) {
  const std::vector<float> x(int64_t{1} << 23, 0.1f);
  EXPECT_NEAR(reduced(ReduceFn::Sum, x, {1, int64_t{1} << 23, 1}, 2)[0] / (double{0.1f} * (1 << 23)), 1, 3e-7);
  EXPECT_NEAR(reduced(ReduceFn::Sum, x, {1, int64_t{1} << 21, 4}, 2)[3] / (double{0.1f} * (1 << 21)), 1, 3e-6);
}

TEST(Reduce, MaxAndMinPassOverNan) {
  for (int at : {0, 1, 5, 20, 33}) {
    std::vector<float> x(40);
    for (int i = 0; i < 40; ++i) x[i] = static_cast<float>(i);
    x[at] = kNan;
    EXPECT_EQ(reduced(ReduceFn::Max, x, {1, 40, 1}, 1)[0], 39);
    EXPECT_EQ(reduced(ReduceFn::Min, x, {1, 40, 1}, 1)[0], at == 0 ? 1 : 0);
    EXPECT_TRUE(std::isnan(reduced(ReduceFn::Sum, x, {1, 40, 1}, 1)[0]));
    ThreadPool pool(1);
    int64_t index;
    arg_reduce(ArgFn::Max, x.data(), {1, 40, 1}, &index, pool);
    EXPECT_EQ(index, 39);
    arg_reduce(ArgFn::Min, x.data(), {1, 40, 1}, &index, pool);
    EXPECT_EQ(index, at == 0 ? 1 : 0);
  }
  EXPECT_TRUE(std::isnan(reduced(ReduceFn::Mean, {}, {1, 0, 1}, 1)[0]));
  EXPECT_EQ(reduced(ReduceFn::Max, {}, {1, 0, 1}, 1)[0], -kInf);
}

TEST(Reduce, EveryInstructionSetReducesOddLengths) {
  const std::vector<float> x = numbers(5003);
  for (const ReduceTable* t : tables()) {
    for (int64_t n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 70, 127, 257, 1025, 2049, 5003}) {
      for (ReduceFn fn : {ReduceFn::Sum, ReduceFn::Max, ReduceFn::Min, ReduceFn::Prod, ReduceFn::SumSquares}) {
        const double want = reference(fn, x, {1, n, 1})[0];
        const float got = t->run[static_cast<int>(fn)](x.data(), n);
        if (n == 0)
          EXPECT_EQ(got, want);
        else
          EXPECT_NEAR(got / want, 1, 1e-5) << n;
        if (n > 70) continue;
        std::vector<float> cols(n + 1, 7.0f);
        t->columns[static_cast<int>(fn)](x.data(), 71, n, n, cols.data());
        const std::vector<double> col_want = reference(fn, x, {1, 71, n});
        for (int64_t i = 0; i < n; ++i) EXPECT_NEAR(cols[i] / col_want[i], 1, 1e-5);
        EXPECT_EQ(cols[n], 7.0f);
      }
    }
  }
}

TEST(ArgReduce, FindsTheFirstOfEqualElements) {
  ThreadPool pool(2);
  for (const ReduceTable* t : tables()) {
    for (int64_t n = 1; n <= 70; ++n) {
      for (int64_t at = 0; at < n; ++at) {
        std::vector<float> x(n, 1.0f);
        x[at] = x[n - 1] = 2.0f;
        EXPECT_EQ(t->arg_run[0](x.data(), n), at);
        x[at] = x[n - 1] = -kInf;
        EXPECT_EQ(t->arg_run[1](x.data(), n), at);
      }
    }
    const float nothing[] = {kNan, -kInf, -kInf};
    EXPECT_EQ(t->arg_run[0](nothing, 3), 0);
  }
  // [2, 3, 2]: along the middle axis.
  const float x[] = {1, 9, 5, 9, 5, 0, -1, -2, -1, -3, -4, -2};
  int64_t y[4];
  arg_reduce(ArgFn::Max, x, {2, 3, 2}, y, pool);
  EXPECT_EQ(std::vector<int64_t>(y, y + 4), (std::vector<int64_t>{1, 0, 0, 0}));
  arg_reduce(ArgFn::Min, x, {2, 3, 2}, y, pool);
  EXPECT_EQ(std::vector<int64_t>(y, y + 4), (std::vector<int64_t>{0, 2, 2, 1}));
}

}  // namespace
}  // namespace weir::cpu
