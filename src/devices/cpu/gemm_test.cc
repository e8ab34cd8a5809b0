#include "devices/cpu/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "devices/cpu/gemm_generic.h"
#include "devices/cpu/test_data.h"

namespace weir::cpu {
namespace {

// A product with its operands. Rows are longer than needed; what lies between them must stay untouched.
template <class T>
struct Case {
  Case(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b, int64_t batch = 1, int64_t pad = 3) {
    g = {.m = m, .n = n, .k = k, .transpose_a = transpose_a, .transpose_b = transpose_b, .batch = batch};
    g.lda = (transpose_a ? m : k) + pad;
    g.ldb = (transpose_b ? k : n) + pad;
    g.ldc = n + pad;
    g.stride_a = g.lda * (transpose_a ? k : m);
    g.stride_b = g.ldb * (transpose_b ? n : k);
    g.stride_c = g.ldc * m;
    a = random_values<T>(size(g.stride_a, pad), 1);
    b = random_values<T>(size(g.stride_b, pad), 2);
    c = random_values<T>(size(g.stride_c, pad), 3);
    bias = random_values<T>(static_cast<size_t>(n), 4);
  }

  // The operands end with their last row's last element: a read beyond it is a read beyond the allocation.
  size_t size(int64_t stride, int64_t pad) const {
    return static_cast<size_t>(std::max<int64_t>(0, g.batch * stride - (stride > 0 ? pad : 0)));
  }

  std::vector<T> run(int threads) {
    ThreadPool pool(threads);
    std::vector<T> out = c;
    g.a = a.data();
    g.b = b.data();
    g.c = out.data();
    Scratch scratch(gemm_scratch_bytes(g, threads));
    gemm(pool, g, scratch.data());
    return out;
  }

  double expected(int64_t batch, int64_t i, int64_t j) const {
    double sum = g.accumulate ? static_cast<double>(c[static_cast<size_t>(batch * g.stride_c + i * g.ldc + j)]) : 0.0;
    for (int64_t t = 0; t < g.k; ++t) {
      const int64_t at_a = batch * g.stride_a + (g.transpose_a ? t * g.lda + i : i * g.lda + t);
      const int64_t at_b = batch * g.stride_b + (g.transpose_b ? j * g.ldb + t : t * g.ldb + j);
      sum += static_cast<double>(a[static_cast<size_t>(at_a)]) * static_cast<double>(b[static_cast<size_t>(at_b)]);
    }
    if (g.epilogue.scale) sum *= static_cast<double>(g.epilogue.scale[j]);
    if (g.epilogue.bias) sum += static_cast<double>(g.epilogue.bias[j]);
    if (g.epilogue.side) sum += static_cast<double>(g.epilogue.side[batch * g.stride_c + i * g.ldc + j]);
    if (g.epilogue.activation != Activation::None) sum = std::max(sum, 0.0);
    if (g.epilogue.activation == Activation::Relu6) sum = std::min(sum, 6.0);
    return sum;
  }

  void check(int threads = 2) {
    SCOPED_TRACE(testing::Message() << g.m << "x" << g.n << "x" << g.k << " transposed " << g.transpose_a
                                    << g.transpose_b << " batch " << g.batch);
    const std::vector<T> out = run(threads);
    const double tolerance = (sizeof(T) == 4 ? 2e-6 : 1e-14) * (4 + std::sqrt(static_cast<double>(g.k)));
    for (int64_t batch = 0; batch < g.batch; ++batch) {
      for (int64_t i = 0; i < g.m; ++i) {
        for (int64_t j = 0; j < g.ldc; ++j) {
          const auto at = static_cast<size_t>(batch * g.stride_c + i * g.ldc + j);
          if (at >= out.size()) continue;
          if (j < g.n) {
            ASSERT_NEAR(out[at], expected(batch, i, j), tolerance) << batch << " " << i << " " << j;
          } else {
            ASSERT_EQ(out[at], c[at]) << "between rows";
          }
        }
      }
    }
  }

  Gemm<T> g;
  std::vector<T> a, b, c, bias;
};

template <class T>
class GemmOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmOf, Types);

TYPED_TEST(GemmOf, MatchesDoubleReferenceOnOddShapes) {
  for (int64_t m : {1, 2, 5, 6, 7, 13, 31}) {
    for (int64_t n : {1, 3, 8, 9, 16, 17, 33, 70}) {
      for (int64_t k : {1, 2, 7, 16, 45, 401}) {
        for (int transposed = 0; transposed < 4; ++transposed) {
          Case<TypeParam>(m, n, k, transposed & 1, transposed & 2).check();
        }
      }
    }
  }
}

TYPED_TEST(GemmOf, MatchesDoubleReferenceOnLargeShapes) {
  for (int transposed = 0; transposed < 4; ++transposed) {
    Case<TypeParam>(211, 300, 700, transposed & 1, transposed & 2).check();
    Case<TypeParam>(405, 97, 130, transposed & 1, transposed & 2).check();
    Case<TypeParam>(20, 1100, 65, transposed & 1, transposed & 2).check();
  }
}

TYPED_TEST(GemmOf, WorksWithoutGapsBetweenRows) {
  for (int transposed = 0; transposed < 4; ++transposed) {
    Case<TypeParam>(50, 10, 1024, transposed & 1, transposed & 2, 1, 0).check();
    Case<TypeParam>(1, 1, 1, transposed & 1, transposed & 2, 1, 0).check();
    Case<TypeParam>(64, 1, 30, transposed & 1, transposed & 2, 1, 0).check();
    Case<TypeParam>(1, 64, 30, transposed & 1, transposed & 2, 1, 0).check();
  }
}

TYPED_TEST(GemmOf, AddsToTheResultOnlyWhenAsked) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{33, 50, 700}, {1, 50, 30}, {50, 1, 30}, {9, 9, 5000}}) {
    Case<TypeParam> added(m, n, k, false, false);
    added.g.accumulate = true;
    added.check();
    Case<TypeParam> replaced(m, n, k, false, false);
    for (auto& v : replaced.c) v = std::numeric_limits<TypeParam>::quiet_NaN();
    const auto out = replaced.run(2);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) ASSERT_FALSE(std::isnan(out[static_cast<size_t>(i * replaced.g.ldc + j)]));
    }
  }
}

TYPED_TEST(GemmOf, AppliesBiasAndActivationOnceAtTheEnd) {
  for (auto activation : {Activation::None, Activation::Relu, Activation::Relu6}) {
    for (auto [m, n, k] : {std::array<int64_t, 3>{33, 50, 700}, {7, 10, 20}, {1, 50, 30}, {50, 1, 30}, {9, 9, 5000}}) {
      for (bool accumulate : {false, true}) {
        Case<TypeParam> c(m, n, k, false, true);
        c.g.accumulate = accumulate;
        c.g.epilogue = {.bias = c.bias.data(), .activation = activation};
        c.check();
        const auto scale = random_values<TypeParam>(static_cast<size_t>(n), 5);
        const auto side = random_values<TypeParam>(c.c.size(), 6);
        c.g.epilogue.scale = scale.data();
        c.g.epilogue.side = side.data();
        c.check();
        c.g.epilogue.bias = nullptr;
        c.check();
      }
    }
  }
}

TYPED_TEST(GemmOf, ReluKeepsNaN) {
  Case<TypeParam> c(8, 20, 5, false, false);
  c.a[0] = std::numeric_limits<TypeParam>::quiet_NaN();
  c.g.epilogue.activation = Activation::Relu6;
  const auto out = c.run(1);
  for (int64_t j = 0; j < 20; ++j) EXPECT_TRUE(std::isnan(out[static_cast<size_t>(j)]));
  EXPECT_FALSE(std::isnan(out[static_cast<size_t>(c.g.ldc)]));
}

TYPED_TEST(GemmOf, SumsNothingToZero) {
  for (auto [m, n] : {std::array<int64_t, 2>{7, 20}, {1, 20}, {7, 1}}) {
    Case<TypeParam> c(m, n, 0, false, false);
    c.g.epilogue.bias = c.bias.data();
    c.check();
    c.g.accumulate = true;
    c.check();
  }
}

TYPED_TEST(GemmOf, LeavesAnEmptyResultAlone) {
  ThreadPool pool(2);
  for (auto [m, n, batch] : {std::array<int64_t, 3>{0, 5, 1}, {5, 0, 1}, {5, 5, 0}}) {
    const Gemm<TypeParam> g = {.m = m, .n = n, .k = 3, .batch = batch};
    EXPECT_EQ(gemm_scratch_bytes(g, 2), 0u);
    gemm(pool, g, nullptr);
  }
}

TYPED_TEST(GemmOf, MultipliesBatches) {
  for (int transposed = 0; transposed < 4; ++transposed) {
    Case<TypeParam>(7, 9, 11, transposed & 1, transposed & 2, 5).check();
    Case<TypeParam>(70, 90, 340, transposed & 1, transposed & 2, 3).check();
    Case<TypeParam>(1, 9, 11, transposed & 1, transposed & 2, 4).check();
    Case<TypeParam>(9, 1, 11, transposed & 1, transposed & 2, 4).check();
    Case<TypeParam>(3, 4, 2100, transposed & 1, transposed & 2, 4).check();
  }
}

TYPED_TEST(GemmOf, GivesTheSameBitsForAnyNumberOfThreads) {
  for (auto [m, n, k, batch] : {std::array<int64_t, 4>{128, 384, 2304, 1},
                                {50, 10, 1024, 1},
                                {25, 32, 9000, 1},
                                {1, 500, 3000, 1},
                                {300, 1, 5000, 1},
                                {1, 1, 20000, 1},
                                {40, 30, 500, 7}}) {
    for (int transposed = 0; transposed < 4; ++transposed) {
      Case<TypeParam> c(m, n, k, transposed & 1, transposed & 2, batch);
      c.g.epilogue.bias = c.bias.data();
      const auto one = c.run(1);
      for (int threads : {2, 4, 7}) {
        EXPECT_EQ(std::memcmp(one.data(), c.run(threads).data(), one.size() * sizeof(TypeParam)), 0)
            << m << "x" << n << "x" << k << " on " << threads;
      }
    }
  }
}

// Every build that the machine can run.
template <class T>
std::vector<std::pair<std::string, const GemmKernels<T>*>> builds() {
  std::vector<std::pair<std::string, const GemmKernels<T>*>> all;
  for (int level = 0; level <= static_cast<int>(isa()); ++level) {
    all.emplace_back(isa_name(static_cast<Isa>(level)), &gemm_kernels<T>(static_cast<Isa>(level)));
  }
#if defined(__x86_64__)
  if (isa() == Isa::Avx512) {  // the one that gemm_kernels does not choose here, too
    if constexpr (std::is_same_v<T, float>) {
      all.emplace_back("avx512, whole", &avx512::kGemmFloatTall);
      all.emplace_back("avx512, halves", &avx512::kGemmFloat);
    } else {
      all.emplace_back("avx512, whole", &avx512::kGemmDoubleTall);
      all.emplace_back("avx512, halves", &avx512::kGemmDouble);
    }
  }
#endif
  return all;
}

// Everything above runs the widest build that the machine has; the others are checked here, one call each.
TYPED_TEST(GemmOf, EveryBuildOfTheKernelsAgrees) {
  for (const auto& [name, build] : builds<TypeParam>()) {
    const GemmKernels<TypeParam>& kernels = *build;
    for (int64_t columns = 1; columns <= kernels.columns; ++columns) {
      for (int64_t rows : {1, 2, 3, 5, 8, 14, 29}) {
        const int64_t k = 21, a_segments[] = {0, 500}, b_segments[] = {0, k * kernels.columns};
        const auto a = random_values<TypeParam>(2000, 5);
        for (bool transposed : {false, true}) {
          const auto b = random_values<TypeParam>(static_cast<size_t>(2 * k * columns), 6);
          std::vector<TypeParam> panel(static_cast<size_t>(2 * k * kernels.columns));
          kernels.pack(b.data(), transposed ? 2 * k : columns, transposed, 2 * k, columns, panel.data(), 0);
          std::vector<TypeParam> c(static_cast<size_t>(rows * columns), TypeParam(1));
          std::vector<int64_t> a_rows, c_rows;
          for (int64_t i = 0; i < rows; ++i) {
            a_rows.push_back(i * 7 % 29);
            c_rows.push_back((rows - 1 - i) * columns);
          }
          kernels.block({.rows = rows,
                         .columns = columns,
                         .a = a.data(),
                         .a_rows = a_rows.data(),
                         .a_step = 2,
                         .a_segments = a_segments,
                         .b_segments = b_segments,
                         .segment_count = 2,
                         .length = k,
                         .b = panel.data(),
                         .b_step = kernels.columns,
                         .c = c.data(),
                         .c_rows = c_rows.data(),
                         .accumulate = true});
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
              double sum = 1;
              for (int64_t t = 0; t < 2 * k; ++t) {
                const double x = a[static_cast<size_t>(a_rows[static_cast<size_t>(i)] + a_segments[t / k] + t % k * 2)];
                sum += x * b[static_cast<size_t>(transposed ? j * 2 * k + t : t * columns + j)];
              }
              ASSERT_NEAR(c[static_cast<size_t>((rows - 1 - i) * columns + j)], sum, 1e-5)
                  << name << " " << rows << "x" << columns;
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(GemmOf, EveryBuildTransposes) {
  for (const auto& [name, build] : builds<TypeParam>()) {
    const GemmKernels<TypeParam>& kernels = *build;
    for (auto [rows, columns] : {std::array<int64_t, 2>{0, 5}, {5, 0}, {1, 1}, {7, 33}, {16, 48}, {39, 16}, {34, 19}}) {
      const int64_t step = columns + 2, to_step = rows + 3;
      const auto from = random_values<TypeParam>(static_cast<size_t>(rows * step), 5);
      std::vector<TypeParam> expected(static_cast<size_t>(columns * to_step), TypeParam(-1)), got = expected;
      for (int64_t t = 0; t < rows; ++t) {
        for (int64_t j = 0; j < columns; ++j) {
          expected[static_cast<size_t>(j * to_step + t)] = from[static_cast<size_t>(t * step + j)];
        }
      }
      kernels.transpose(from.data(), step, rows, columns, got.data(), to_step);
      ASSERT_EQ(got, expected) << name << " " << rows << "x" << columns;
    }
  }
}

// A panel is a block with its rows in order; packing on the way changes where b is read from, and nothing else.
TYPED_TEST(GemmOf, PanelsGiveTheBitsOfBlocks) {
  for (const auto& [name, build] : builds<TypeParam>()) {
    const GemmKernels<TypeParam>& kernels = *build;
    const int64_t width = kernels.columns;
    for (int64_t k : {0, 1, 3, 4, 21}) {
      for (int64_t rows = 1; rows <= 29; ++rows) {
        const auto a = random_values<TypeParam>(static_cast<size_t>(rows * (k + 2)), 5);
        const auto b = random_values<TypeParam>(static_cast<size_t>(k * (2 * width + 3) + width), 6);
        const auto bias = random_values<TypeParam>(static_cast<size_t>(width), 7);
        for (int64_t columns : {int64_t{1}, width / 2, width / 2 + 1, width}) {
          std::vector<int64_t> a_rows, c_rows;
          for (int64_t i = 0; i < rows; ++i) {
            a_rows.push_back(i * (k + 2));
            c_rows.push_back(i * columns);
          }
          const int64_t zero = 0, size = rows * columns;
          std::vector<TypeParam> expected(static_cast<size_t>(size), TypeParam(1)), got = expected;
          kernels.block({.rows = rows,
                         .columns = columns,
                         .a = a.data(),
                         .a_rows = a_rows.data(),
                         .a_segments = &zero,
                         .b_segments = &zero,
                         .segment_count = 1,
                         .length = k,
                         .b = b.data(),
                         .b_step = 2 * width + 3,
                         .c = expected.data(),
                         .c_rows = c_rows.data(),
                         .accumulate = true,
                         .bias = bias.data(),
                         .activation = Activation::Relu});
          std::vector<TypeParam> packed(static_cast<size_t>(k * width));
          for (bool packs : {false, true}) {
            if (packs && columns < width) continue;
            std::fill(got.begin(), got.end(), TypeParam(1));
            kernels.panel({.rows = rows,
                           .columns = columns,
                           .depth = k,
                           .a = a.data(),
                           .a_row = k + 2,
                           .b = b.data(),
                           .b_step = 2 * width + 3,
                           .packed = packs ? packed.data() : nullptr,
                           .next_b = packs ? b.data() + width : nullptr,
                           .c = got.data(),
                           .c_row = columns,
                           .accumulate = true,
                           .bias = bias.data(),
                           .activation = Activation::Relu});
            ASSERT_EQ(got, expected) << name << " " << rows << "x" << columns << "x" << k;
          }
          // The same from packed tiles, which were packed in two parts, with something to fetch meanwhile.
          std::vector<TypeParam> turned(static_cast<size_t>(k * rows)), tiles(turned.size());
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t t = 0; t < k; ++t)
              turned[static_cast<size_t>(t * rows + i)] = a[static_cast<size_t>(i * (k + 2) + t)];
          }
          kernels.pack_tiles(turned.data(), rows, 0, k / 2, k, rows, tiles.data());
          kernels.pack_tiles(turned.data() + k / 2 * rows, rows, k / 2, k, k, rows, tiles.data());
          std::fill(got.begin(), got.end(), TypeParam(1));
          kernels.panel({.rows = rows,
                         .columns = columns,
                         .depth = k,
                         .a = tiles.data(),
                         .tiled = true,
                         .b = b.data(),
                         .b_step = 2 * width + 3,
                         .ahead = {.at = a.data(), .rows = rows, .columns = k, .pitch = k + 2},
                         .c = got.data(),
                         .c_row = columns,
                         .accumulate = true,
                         .bias = bias.data(),
                         .activation = Activation::Relu});
          ASSERT_EQ(got, expected) << name << " " << rows << "x" << columns << "x" << k;
        }
      }
    }
  }
}

template <class T>
class GenericGemmOf : public testing::Test {};
using GenericTypes = testing::Types<int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GenericGemmOf, GenericTypes);

// Small integers, so that every type gives the exact result.
TYPED_TEST(GenericGemmOf, IsExactOnIntegers) {
  using T = TypeParam;
  ThreadPool pool(2);
  for (auto [m, n, k, batch] : {std::array<int64_t, 4>{1, 1, 1, 1}, {33, 35, 70, 2}, {5, 64, 3, 3}, {40, 7, 0, 1}}) {
    for (int mode = 0; mode < 8; ++mode) {
      const bool transpose_a = mode & 1, transpose_b = mode & 2, accumulate = mode & 4;
      std::vector<T> a(static_cast<size_t>(batch * m * k)), b(static_cast<size_t>(batch * k * n)),
          c(static_cast<size_t>(batch * m * n), T(2));
      for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<int>(i * 7 % 11) - 5);
      for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(static_cast<int>(i * 5 % 13) - 6);
      gemm_generic<T>(pool, {.m = m,
                             .n = n,
                             .k = k,
                             .a = a.data(),
                             .lda = transpose_a ? m : k,
                             .transpose_a = transpose_a,
                             .b = b.data(),
                             .ldb = transpose_b ? k : n,
                             .transpose_b = transpose_b,
                             .c = c.data(),
                             .ldc = n,
                             .accumulate = accumulate,
                             .batch = batch,
                             .stride_a = m * k,
                             .stride_b = k * n,
                             .stride_c = m * n});
      for (int64_t at = 0; at < batch * m * n; ++at) {
        const int64_t i = at / n % m, j = at % n, image = at / (m * n);
        T sum = accumulate ? T(2) : T(0);
        for (int64_t t = 0; t < k; ++t) {
          sum += a[static_cast<size_t>(image * m * k + (transpose_a ? t * m + i : i * k + t))] *
                 b[static_cast<size_t>(image * k * n + (transpose_b ? j * k + t : t * n + j))];
        }
        ASSERT_EQ(c[static_cast<size_t>(at)], sum);
      }
    }
  }
}

TEST(GenericGemm, IntegersWrapAround) {
  ThreadPool pool(1);
  const int32_t a[] = {std::numeric_limits<int32_t>::max()}, b[] = {2};
  int32_t c[] = {0};
  gemm_generic<int32_t>(pool, {.m = 1, .n = 1, .k = 1, .a = a, .lda = 1, .b = b, .ldb = 1, .c = c, .ldc = 1});
  EXPECT_EQ(c[0], -2);
}

// Stands for half and bfloat16: converts to float and back, and can do nothing else.
struct Rounded {
  Rounded() = default;
  explicit Rounded(float x) : value(std::round(x)) {}
  explicit operator float() const { return value; }
  float value = 0;
};

TEST(GenericGemm, SumsConvertedTypesInFloat) {
  ThreadPool pool(2);
  std::vector<Rounded> a(100, Rounded(3)), b(100, Rounded(5)), c(1);
  gemm_generic<Rounded>(
      pool, {.m = 1, .n = 1, .k = 100, .a = a.data(), .lda = 100, .b = b.data(), .ldb = 1, .c = c.data(), .ldc = 1});
  EXPECT_EQ(c[0].value, 1500);
}

// A matrix that was packed before gives the bits of one that is not.
TEST(Gemm, TakesMatricesThatWerePackedBefore) {
  struct Sizes {
    int64_t m, n, k;
  };
  for (const Sizes& s : {Sizes{2, 2, 1}, {20, 130, 700}, {7, 33, 40}, {20, 64, 0}, {64, 100, 1300}, {200, 300, 500}}) {
    for (bool transpose_a : {false, true}) {
      for (bool transpose_b : {false, true}) {
        for (int threads : {1, 3}) {
          Case<float> plain(s.m, s.n, s.k, transpose_a, transpose_b);
          plain.g.epilogue = {plain.bias.data(), Activation::Relu};
          const std::vector<float> wanted = plain.run(threads);
          std::vector<float> packed(static_cast<size_t>(packed_matrix_elements<float>(s.k, s.n)));
          ThreadPool pool(threads);
          pack_matrix<float>(pool, {.k = s.k,
                                    .n = s.n,
                                    .b = plain.b.data(),
                                    .ldb = plain.g.ldb,
                                    .transpose = transpose_b,
                                    .packed = packed.data()});
          Case<float> other = plain;
          other.g.packed_b = true;
          other.b = packed;
          other.g.epilogue.bias = other.bias.data();
          const std::vector<float> got = other.run(threads);
          EXPECT_EQ(std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(float)), 0)
              << s.m << "x" << s.n << "x" << s.k << " " << transpose_a << transpose_b;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weir::cpu
