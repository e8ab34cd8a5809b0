#include <gtest/gtest.h>

#include "ops/math/test_reference.h"

namespace weir::testing {
namespace {

double matrix_at(const Tensor& t, int64_t batch, int64_t row, int64_t column, bool transposed) {
  const Shape& s = t.shape();
  if (transposed) std::swap(row, column);
  return real_at(t, (batch * s[-2] + row) * s[-1] + column);
}

// The product of every pair of matrices, batches of one size or of one.
auto product(bool transpose_a, bool transpose_b) {
  return [=](const Tensors& in) {
    const Shape &a = in[0].shape(), &b = in[1].shape();
    auto batch = [](const Shape& s) { return Shape(s.dims().first(static_cast<size_t>(s.rank() - 2))); };
    Shape shape = Shape::broadcast(batch(a), batch(b));
    const int64_t batches = shape.elements();
    const int64_t m = a[transpose_a ? -1 : -2], k = a[transpose_a ? -2 : -1], n = b[transpose_b ? -2 : -1];
    shape.append(m);
    shape.append(n);
    Tensor y(float64, shape);
    double* to = y.mutable_data<double>();
    for (int64_t g = 0; g < batches; ++g) {
      const int64_t ga = batch(a).elements() == 1 ? 0 : g, gb = batch(b).elements() == 1 ? 0 : g;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < k; ++p) {
            sum += matrix_at(in[0], ga, i, p, transpose_a) * matrix_at(in[1], gb, p, j, transpose_b);
          }
          *to++ = sum;
        }
      }
    }
    return Tensors{y};
  };
}

TEST(MatMul, MatchesItsReferenceForEveryTranspose) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      check_op(
          {.op = "MatMul",
           .inputs = {scattered(ta ? Shape{4, 3} : Shape{3, 4}), scattered(tb ? Shape{5, 4} : Shape{4, 5}, -1, 1, 3)},
           .attrs = {{"transpose_a", ta}, {"transpose_b", tb}},
           .reference = product(ta, tb)});
    }
  }
  check_op({.op = "MatMul", .inputs = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, .outputs = {{{19, 22}, {43, 50}}}});
}

TEST(MatMul, TakesLargeOddAndEmptyShapes) {
  const std::tuple<int, int, int> sizes[] = {{1, 1, 1}, {37, 53, 41}, {1, 130, 7}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}};
  for (auto [m, k, n] : sizes) {
    check_op({.op = "MatMul",
              .inputs = {scattered({m, k}), scattered({k, n}, -1, 1, 5)},
              .reference = product(false, false),
              .tolerance = 1e-4,
              .gradient = false,
              .unknown_shapes = false});
  }
}

TEST(MatMul, RejectsWhatDoesNotFit) {
  check_op({.op = "MatMul",
            .bad = {{.inputs = {zeros({2, 3}), zeros({2, 3})},
                     .message = "inner dimensions differ: [2,3] x [2,3]",
                     .type = float32},
                    {.inputs = {zeros({2, 3}), zeros({3})}, .message = "rank 2", .type = float32},
                    {.inputs = {zeros({2, 3}), zeros({3, 2})},
                     .attrs = {{"transpose_a", true}},
                     .message = "transposed",
                     .type = float32}}});
}

TEST(BatchMatMul, MultipliesMatrixByMatrix) {
  for (bool ax : {false, true}) {
    for (bool ay : {false, true}) {
      check_op({.op = "BatchMatMul",
                .inputs = {scattered(ax ? Shape{2, 4, 3} : Shape{2, 3, 4}),
                           scattered(ay ? Shape{2, 2, 4} : Shape{2, 4, 2}, -1, 1, 3)},
                .attrs = {{"adj_x", ax}, {"adj_y", ay}},
                .reference = product(ax, ay)});
    }
  }
  check_op(
      {.op = "BatchMatMul",
       .bad = {{.inputs = {zeros({2, 2, 3}), zeros({3, 3, 2})}, .message = "[2]", .type = float32},
               {.inputs = {zeros({2, 2, 3}), zeros({2, 2, 3})}, .message = "inner dimensions differ", .type = float32},
               {.inputs = {zeros({3}), zeros({3})}, .message = "at least 2-dim", .type = float32}}});
}

TEST(BatchMatMulV2, BroadcastsBatches) {
  const std::pair<Shape, Shape> cases[] = {
      {{2, 3, 2}, {2, 4}}, {{3, 2}, {5, 2, 2}}, {{1, 3, 2}, {4, 2, 2}}, {{2, 2, 3, 2}, {2, 2, 2, 2}}};
  for (const auto& [x, y] : cases) {
    check_op(
        {.op = "BatchMatMulV2", .inputs = {scattered(x), scattered(y, -1, 1, 3)}, .reference = product(false, false)});
  }
  // Both sides stretched: [2,1] and [1,3] batches of 1x1 matrices are an outer product.
  check_op({.op = "BatchMatMulV2",
            .inputs = {ramp({2, 1, 1, 1}), ramp({1, 3, 1, 1}, 10)},
            .outputs = {Tensor::from<double>({10, 11, 12, 20, 22, 24}, {2, 3, 1, 1})}});
  check_op({.op = "BatchMatMulV2",
            .bad = {{.inputs = {zeros({2, 2, 3}), zeros({3, 3, 2})}, .message = "[2]", .type = float32}}});
}

TEST(BatchMatMul, AdjointsAreConjugated) {
  using C = std::complex<float>;
  check_op({.op = "BatchMatMul",
            .inputs = {Tensor::from<C>({{1, 2}}, {1, 1}), Tensor::from<C>({{3, 1}}, {1, 1})},
            .attrs = {{"adj_x", true}},
            .outputs = {Tensor::from<C>({C(1, -2) * C(3, 1)}, {1, 1})},
            .types = {complex64}});
}

}  // namespace
}  // namespace weir::testing
