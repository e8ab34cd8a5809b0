#include "devices/cpu/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/thread_pool.h"

namespace weir::cpu {
namespace {

template <class T>
std::vector<std::complex<T>> noise(int64_t n) {
  std::vector<std::complex<T>> x;
  uint32_t state = 12345;
  auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<T>(state >> 8) / static_cast<T>(1 << 23) - T(1);
  };
  for (int64_t i = 0; i < n; ++i) {
    const T re = next();
    x.emplace_back(re, next());
  }
  return x;
}

template <class T>
std::vector<std::complex<double>> by_definition(const std::vector<std::complex<T>>& x, double sign) {
  const size_t n = x.size();
  std::vector<std::complex<double>> y(n), roots;
  for (size_t k = 0; k < n; ++k) {
    roots.push_back(std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) y[k] += std::complex<double>(x[j]) * roots[j * k % n];
  }
  return y;
}

template <class T>
double error_of(const std::vector<std::complex<T>>& y, const std::vector<std::complex<double>>& wanted) {
  double worst = 0, largest = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    worst = std::max(worst, std::abs(std::complex<double>(y[i]) - wanted[i]));
    largest = std::max(largest, std::abs(wanted[i]));
  }
  return worst / largest;
}

template <class T>
void check_lengths(double tolerance) {
  ThreadPool pool(2);
  // Every radix, products of them, lengths that are cut, and primes for the convolution.
  for (int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 30, 31, 37, 64, 97, 210, 256, 289, 500, 1009, 1024}) {
    const Fft<T> fft(n);
    std::vector<char> scratch(fft.scratch_bytes(2));
    const auto x = noise<T>(n);
    std::vector<std::complex<T>> y(static_cast<size_t>(n)), back(y);
    fft.transform(x.data(), {}, y.data(), {}, 1, false, scratch.data(), pool);
    EXPECT_LT(error_of(y, by_definition(x, -1)), tolerance) << n;
    fft.transform(y.data(), {}, back.data(), {}, 1, true, scratch.data(), pool);
    EXPECT_LT(error_of(back, {x.begin(), x.end()}), tolerance) << n;
  }
}

TEST(Fft, IsTheSumOfItsDefinition) {
  check_lengths<double>(1e-13);
  check_lengths<float>(2e-6);
}

TEST(Fft, TransformsColumnsAsItDoesLines) {
  ThreadPool pool(2);
  const int64_t n = 12, columns = 11;
  const auto x = noise<double>(n * columns);
  const Fft<double> fft(n);
  std::vector<char> scratch(fft.scratch_bytes(2));
  std::vector<std::complex<double>> y(x.size());
  fft.transform(x.data(), {columns, 0, columns}, y.data(), {columns, 0, columns}, columns, false, scratch.data(), pool);
  for (int64_t c = 0; c < columns; ++c) {
    std::vector<std::complex<double>> line, result;
    for (int64_t i = 0; i < n; ++i) {
      line.push_back(x[static_cast<size_t>(i * columns + c)]);
      result.push_back(y[static_cast<size_t>(i * columns + c)]);
    }
    EXPECT_LT(error_of(result, by_definition(line, -1)), 1e-13);
  }
}

TEST(Fft, OfRealNumbersIsHalfOfTheWholeOne) {
  ThreadPool pool(2);
  for (int64_t n : {1, 2, 5, 6, 9, 16, 74, 512, 1001, 8192}) {
    for (int64_t lines : {1, 9}) {
      if (n > 2000 && lines > 1) continue;
      const auto fft = Fft<float>::of_real(n);
      const Fft<float> whole(n);
      std::vector<char> scratch(std::max(fft.scratch_bytes(2), whole.scratch_bytes(2)));
      const auto source = noise<float>(n * lines);
      std::vector<float> x, back(static_cast<size_t>(n * lines));
      for (const auto& value : source) x.push_back(value.real());
      const int64_t half = n / 2 + 1;
      std::vector<std::complex<float>> y(static_cast<size_t>(half * lines)), all(x.begin(), x.end());
      fft.forward_real(x.data(), n, y.data(), half, lines, scratch.data(), pool);
      whole.transform(all.data(), {1, n, 1}, all.data(), {1, n, 1}, lines, false, scratch.data(), pool);
      const float tolerance = 2e-6f * static_cast<float>(n);
      for (int64_t l = 0; l < lines; ++l) {
        for (int64_t k = 0; k < half; ++k) {
          EXPECT_LT(std::abs(y[static_cast<size_t>(l * half + k)] - all[static_cast<size_t>(l * n + k)]), tolerance)
              << n;
        }
      }
      fft.inverse_real(y.data(), half, back.data(), n, lines, scratch.data(), pool);
      for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 4e-6) << n;
    }
  }
}

TEST(Fft, GivesTheSameBitsForAnyNumberOfThreads) {
  ThreadPool one(1), four(4);
  const int64_t n = 4096;
  const auto x = noise<float>(n * 3);
  const Fft<float> fft(n);
  std::vector<char> scratch(fft.scratch_bytes(4));
  std::vector<std::complex<float>> a(x.size()), b(x.size());
  fft.transform(x.data(), {1, n, 1}, a.data(), {1, n, 1}, 3, false, scratch.data(), one);
  fft.transform(x.data(), {1, n, 1}, b.data(), {1, n, 1}, 3, false, scratch.data(), four);
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace weir::cpu
