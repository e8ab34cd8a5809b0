#include "devices/cpu/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/rows_table.h"

namespace weir::cpu {
namespace {

using Floats = std::vector<float>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<const RowsTable*> tables() {
  std::vector<const RowsTable*> all = {&portable::kRowsTable};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) all.push_back(&avx2::kRowsTable);
  if (isa() >= Isa::Avx512) all.push_back(&avx512::kRowsTable);
#endif
  return all;
}

Floats numbers(int64_t n, uint32_t state = 7) {
  Floats x(n);
  for (float& v : x) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-20f - 8.0f;
  return x;
}

// Softmax of one row, and the logarithm of its denominator together with the largest logit.
std::vector<double> softmax_reference(const float* x, int64_t n, double* log_denominator) {
  const double m = *std::max_element(x, x + n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - m);
  *log_denominator = m + std::log(sum);
  std::vector<double> y(n);
  for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - *log_denominator);
  return y;
}

TEST(Softmax, MatchesDoubleReferenceOnAllWidths) {
  constexpr int64_t kRows = 3;
  for (const RowsTable* t : tables()) {
    for (int64_t n = 1; n <= 70; ++n) {
      const Floats x = numbers(kRows * n);
      Floats y(kRows * n + 1, 5.0f), logs(kRows * n + 1, 5.0f), in_place = x;
      t->softmax(x.data(), y.data(), kRows, n);
      t->log_softmax(x.data(), logs.data(), kRows, n);
      t->softmax(in_place.data(), in_place.data(), kRows, n);
      for (int64_t r = 0; r < kRows; ++r) {
        double log_denominator;
        const std::vector<double> want = softmax_reference(&x[r * n], n, &log_denominator);
        for (int64_t i = 0; i < n; ++i) {
          EXPECT_NEAR(y[r * n + i], want[i], 1e-6 * want[i]);
          EXPECT_NEAR(logs[r * n + i], x[r * n + i] - log_denominator, 3e-6);
          EXPECT_EQ(in_place[r * n + i], y[r * n + i]);
        }
      }
      EXPECT_EQ(y.back(), 5.0f);
      EXPECT_EQ(logs.back(), 5.0f);
    }
  }
}

TEST(Softmax, SpecialRowsAreTensorFlows) {
  ThreadPool pool(1);
  Floats x = {kNan, 1, 2, kInf, 1, 2, -kInf, -kInf, -kInf, -kInf, 0, 1, 1000, 0, -1000}, y(15), logs(15);
  softmax(x.data(), y.data(), 5, 3, pool);
  log_softmax(x.data(), logs.data(), 5, 3, pool);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(std::isnan(y[i]) && std::isnan(logs[i])) << i;
  EXPECT_EQ(y[9], 0.0f);
  EXPECT_EQ(logs[9], -kInf);
  EXPECT_NEAR(y[10], 0.26894143, 1e-7);
  EXPECT_NEAR(logs[11], -0.31326166, 1e-7);
  EXPECT_EQ(Floats(y.begin() + 12, y.end()), (Floats{1, 0, 0}));
  EXPECT_EQ(Floats(logs.begin() + 12, logs.end()), (Floats{0, -1000, -2000}));
}

TEST(CrossEntropy, MatchesDoubleReferenceOnAllWidths) {
  constexpr int64_t kRows = 3;
  for (const RowsTable* t : tables()) {
    for (int64_t n = 1; n <= 70; ++n) {
      const Floats x = numbers(kRows * n);
      Floats labels = numbers(kRows * n, 3), loss(kRows), backprop(kRows * n + 1, 5.0f);
      for (float& l : labels) l = (l + 8.0f) / 16.0f;
      t->cross_entropy(x.data(), labels.data(), kRows, n, loss.data(), backprop.data());
      Floats sparse_loss(kRows), sparse_backprop(kRows * n + 1, 5.0f);
      std::vector<int64_t> classes(kRows);
      for (int64_t r = 0; r < kRows; ++r) classes[r] = (n - 1) * r / 2;
      t->sparse_cross_entropy_int64(x.data(), classes.data(), kRows, n, sparse_loss.data(), sparse_backprop.data());
      for (int64_t r = 0; r < kRows; ++r) {
        double log_denominator, want_loss = 0;
        const std::vector<double> p = softmax_reference(&x[r * n], n, &log_denominator);
        for (int64_t i = 0; i < n; ++i) {
          want_loss += labels[r * n + i] * (log_denominator - x[r * n + i]);
          EXPECT_NEAR(backprop[r * n + i], p[i] - labels[r * n + i], 1e-6);
          EXPECT_NEAR(sparse_backprop[r * n + i], p[i] - (i == classes[r]), 1e-6);
        }
        EXPECT_NEAR(loss[r], want_loss, 2e-6 * want_loss + 1e-7);
        EXPECT_NEAR(sparse_loss[r], log_denominator - x[r * n + classes[r]], 3e-6);
      }
      EXPECT_EQ(backprop.back(), 5.0f);
      EXPECT_EQ(sparse_backprop.back(), 5.0f);
      Floats in_place = x;
      t->cross_entropy(in_place.data(), labels.data(), kRows, n, loss.data(), in_place.data());
      EXPECT_TRUE(std::equal(in_place.begin(), in_place.end(), backprop.begin()));
    }
  }
}

// Values from TensorFlow 1.15.
TEST(CrossEntropy, SpecialRowsAreTensorFlows) {
  ThreadPool pool(1);
  const Floats logits = {-kInf, 0, 1, -kInf, 0, 1, 1, 0, 1}, labels = {0, 1, 0, 0.5f, 0.5f, 0, 0.5f, 2, 0};
  Floats loss(3), backprop(9);
  softmax_cross_entropy(logits.data(), labels.data(), 3, 3, loss.data(), backprop.data(), pool);
  EXPECT_TRUE(std::isnan(loss[0]));
  EXPECT_EQ(loss[1], kInf);
  EXPECT_NEAR(loss[2], 4.154987, 1e-6);
  const Floats want = {0,          -0.7310586f,  0.7310586f,  -0.5f,      -0.23105857f,
                       0.7310586f, -0.07768118f, -1.8446376f, 0.42231882f};
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(backprop[i], want[i], 2e-7) << i;
  const std::vector<int32_t> classes = {1, 0};
  ASSERT_EQ(sparse_softmax_cross_entropy(logits.data(), classes.data(), 2, 3, loss.data(), backprop.data(), pool), -1);
  EXPECT_NEAR(loss[0], 1.3132616, 2e-7);
  EXPECT_EQ(loss[1], kInf);
  EXPECT_EQ(backprop[3], -1.0f);
}

TEST(CrossEntropy, ReportsTheFirstLabelOutOfRange) {
  ThreadPool pool(2);
  const Floats logits(12);
  Floats loss(4, 7.0f), backprop(12, 7.0f);
  for (auto [labels, row] : {std::pair{std::vector<int64_t>{0, 2, 3, -1}, 2}, {std::vector<int64_t>{-1, 2, 3, 0}, 0}}) {
    EXPECT_EQ(sparse_softmax_cross_entropy(logits.data(), labels.data(), 4, 3, loss.data(), backprop.data(), pool),
              row);
    EXPECT_EQ(loss, Floats(4, 7.0f));
    EXPECT_EQ(backprop, Floats(12, 7.0f));
  }
}

TEST(AddBias, AddsToEveryRowWithOrWithoutRelu) {
  ThreadPool pool(2);
  for (int64_t channels : {1, 2, 3, 7, 8, 10, 33, 64, 70, 255, 256, 300}) {
    for (int64_t rows : {1, 2, 5, 100, 2000}) {
      const Floats x = numbers(rows * channels), bias = numbers(channels, 5);
      for (RowActivation activation : {RowActivation::None, RowActivation::Relu}) {
        Floats y(rows * channels + 1, 5.0f), want(rows * channels);
        for (int64_t i = 0; i < rows * channels; ++i) {
          want[i] = x[i] + bias[i % channels];
          if (activation == RowActivation::Relu) want[i] = std::max(want[i], 0.0f);
        }
        add_bias(x.data(), bias.data(), y.data(), rows, channels, activation, pool);
        EXPECT_TRUE(std::equal(want.begin(), want.end(), y.begin())) << rows << "x" << channels;
        EXPECT_EQ(y.back(), 5.0f);
        for (const RowsTable* t : tables()) {
          Floats in_place = x;
          t->add_bias(in_place.data(), bias.data(), in_place.data(), rows, channels, activation);
          EXPECT_EQ(in_place, want);
        }
      }
    }
  }
  add_bias(nullptr, nullptr, nullptr, 3, 0, RowActivation::None, pool);
}

TEST(Rows, ARowsResultDependsOnThatRowAlone) {
  ThreadPool pool(1);
  constexpr int64_t kRows = 37;
  for (int64_t classes = 1; classes < 40; ++classes) {
    const Floats x = numbers(kRows * classes);
    std::vector<int64_t> labels;
    for (int64_t r = 0; r < kRows; ++r) labels.push_back(r * 7 % classes);
    Floats loss(kRows), backprop(x.size()), y = x;
    sparse_softmax_cross_entropy(x.data(), labels.data(), kRows, classes, loss.data(), backprop.data(), pool);
    softmax(y.data(), y.data(), kRows, classes, pool);
    for (int64_t r = 0; r < kRows; ++r) {
      const auto at = r * classes;
      Floats one(1), row(static_cast<size_t>(classes)), probabilities(static_cast<size_t>(classes));
      sparse_softmax_cross_entropy(x.data() + at, &labels[static_cast<size_t>(r)], 1, classes, one.data(), row.data(),
                                   pool);
      softmax(x.data() + at, probabilities.data(), 1, classes, pool);
      ASSERT_EQ(one[0], loss[static_cast<size_t>(r)]) << classes;
      ASSERT_EQ(row, Floats(backprop.begin() + at, backprop.begin() + at + classes)) << classes;
      ASSERT_EQ(probabilities, Floats(y.begin() + at, y.begin() + at + classes)) << classes;
    }
  }
}

TEST(Rows, BitsDoNotDependOnTheNumberOfThreads) {
  constexpr int64_t kRows = 3001, kClasses = 13;
  const Floats x = numbers(kRows * kClasses);
  const std::vector<int32_t> labels(kRows, 4);
  auto run = [&](int threads) {
    ThreadPool pool(threads);
    Floats loss(kRows), backprop(kRows * kClasses), y(kRows * kClasses);
    sparse_softmax_cross_entropy(x.data(), labels.data(), kRows, kClasses, loss.data(), backprop.data(), pool);
    softmax(x.data(), y.data(), kRows, kClasses, pool);
    loss.insert(loss.end(), backprop.begin(), backprop.end());
    loss.insert(loss.end(), y.begin(), y.end());
    return loss;
  };
  const Floats one = run(1);
  EXPECT_EQ(one, run(2));
  EXPECT_EQ(one, run(4));
}

}  // namespace
}  // namespace weir::cpu
