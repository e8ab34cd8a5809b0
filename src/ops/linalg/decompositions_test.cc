#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

const Tensor kTall = Tensor::from<double>({1, 2, 3, 4, 5, 7}, {3, 2});

Tensor run(const Output& x) { return Session(x.graph()).run(x); }

TEST(Svd, GivesSingularValuesInOrder) {
  check_op({.op = "Svd",
            .inputs = {{{3, 0}, {0, -4}}},
            .attrs = {{"compute_uv", false}},
            .outputs = {{4, 3}, zeros({0}), zeros({0})},
            .gradient = false,
            .bad = {{.inputs = {{1, 2}}, .message = "rank"}}});
  check_op({.op = "Svd",
            .inputs = {zeros({2, 0, 3})},
            .attrs = {{"full_matrices", true}},
            .outputs = {zeros({2, 0}),
                        zeros({2, 0, 0}),
                        {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
            .gradient = false});
}

TEST(Svd, IsAProductThatGivesTheMatrixBack) {
  for (bool full : {false, true}) {
    for (const Shape& shape : {Shape{2, 3, 5}, Shape{2, 5, 3}, Shape{40, 60}}) {
      Graph g;
      Output a = g.constant(scattered(shape));
      Svd parts = svd(a, {.full_matrices = full});
      const int64_t least = std::min(shape[-2], shape[-1]);
      Output u = subscript(parts.u, {kEllipsis, kAll, until(least)});
      Output v = subscript(parts.v, {kEllipsis, kAll, until(least)});
      expect_near(run(matmul(u, matmul(matrix_diag(parts.s), v, {.adjoint_b = true}))), scattered(shape), 1e-10);
    }
  }
}

// Vectors are defined up to their signs, which products like these do not show.
TEST(Svd, HasGradientsOfVectorsThatNumericOnesConfirm) {
  for (const Shape& shape : {Shape{3, 2}, Shape{2, 3}, Shape{3, 3}}) {
    Graph g;
    Output x = g.placeholder(float64, shape);
    Svd parts = svd(x);
    Output low_rank =
        matmul(subscript(parts.u, {kAll, until(1)}), subscript(parts.v, {kAll, until(1)}), {.adjoint_b = true});
    Output weights = g.constant(scattered(shape, -1, 1, 7));
    Output y = reduce_sum(low_rank * weights) + reduce_sum(square(parts.s));
    Output grad = gradients({y}, {x})[0].dense();
    Session session(g);
    const Tensor at = scattered(shape, -1, 1, 3);
    const Tensor analytic = session.run(grad, {{x, at}});
    for (int64_t i = 0; i < at.elements(); ++i) {
      Tensor up = at.copy(), down = at.copy();
      up.mutable_data<double>()[i] += 1e-6;
      down.mutable_data<double>()[i] -= 1e-6;
      const double slope =
          (session.run(y, {{x, up}}).scalar<double>() - session.run(y, {{x, down}}).scalar<double>()) / 2e-6;
      EXPECT_NEAR(analytic.data<double>()[static_cast<size_t>(i)], slope, 1e-5) << shape.str() << " " << i;
    }
  }
}

TEST(Svd, LetsNumbersThatAreNonePass) {
  Graph g;
  Output s = svd(g.constant({{NAN, 1.}, {2., 3.}}, float64)).s;
  EXPECT_TRUE(std::isnan(run(s).data<double>()[0]));
}

TEST(Qr, HasOrthogonalAndTriangularFactors) {
  Graph g;
  Output a = g.constant(scattered({2, 4, 3}));
  for (bool full : {false, true}) {
    Qr parts = qr(a, full);
    EXPECT_EQ(parts.q.shape(), (full ? Shape{2, 4, 4} : Shape{2, 4, 3}));
    expect_near(run(matmul(parts.q, parts.r)), scattered({2, 4, 3}), 1e-12);
    expect_near(run(matrix_band_part(parts.r, -1, 0) - matrix_set_diag(zeros_like(parts.r), matrix_diag_part(parts.r))),
                Tensor::zeros(float64, parts.r.shape()), 1e-12);
  }
  // Householder's reflections: TensorFlow's signs.
  check_op({.op = "Qr",
            .inputs = {{{3, 1}, {4, 2}}},
            .outputs = {{{-0.6, -0.8}, {-0.8, 0.6}}, {{-5, -2.2}, {0, 0.4}}},
            .types = {},
            .unknown_shapes = false});
}

TEST(SelfAdjointEig, ReadsTheLowerHalf) {
  check_op({.op = "SelfAdjointEigV2",
            .inputs = {{{2, 9}, {1, 2}}},
            .attrs = {{"compute_v", false}},
            .outputs = {{1, 3}, zeros({0})},
            .gradient = false,
            .bad = {{.inputs = {{{1, 2, 3}, {4, 5, 6}}}, .message = "square"},
                    {.inputs = {{{NAN, 0.}, {0., 1.}}}, .message = "not successful"}}});
  Graph g;
  Output a = g.constant({{4, 0, 0}, {1, 3, 0}, {2, -1, 6}}, float64);
  SelfAdjointEig parts = self_adjoint_eig(a);
  Output whole = matmul(parts.v, matmul(matrix_diag(parts.e), parts.v, {.adjoint_b = true}));
  expect_near(run(whole), Tensor::from<double>({4, 1, 2, 1, 3, -1, 2, -1, 6}, {3, 3}), 1e-12);
  // The sum of squared eigenvalues is that of all elements, of which those below the diagonal count twice.
  Output grad = gradients({reduce_sum(square(parts.e))}, {a})[0].dense();
  expect_near(run(grad), Tensor::from<double>({8, 0, 0, 4, 6, 0, 8, -4, 12}, {3, 3}), 1e-11);
}

TEST(SelfAdjointEig, FirstFormHasAllInOneMatrix) {
  check_op({.op = "SelfAdjointEig", .inputs = {{{2, 0}, {0, 1}}}, .outputs = {{{1, 2}, {0, 1}, {1, 0}}}});
}

TEST(Lu, KeepsBothFactorsInOneMatrix) {
  check_op({.op = "Lu",
            .inputs = {{{1, 2}, {4, 2}}},
            .outputs = {{{4, 2}, {0.25, 1.5}}, {1, 0}},
            .type_attr = "T",
            .bad = {{.inputs = {{{1, 2}, {2, 4}}}, .message = "Input is not invertible."}}});
}

TEST(MatrixSolveLs, MinimisesTheDistance) {
  // numpy.linalg.lstsq
  check_op({.op = "MatrixSolveLs",
            .inputs = {kTall, {{1}, {2}, {4}}, 0.0},
            .outputs = {{{1 / 14.}, {0.5}}},
            .tolerance = 1e-3,
            .gradient_inputs = {0, 1},
            .unknown_shapes = false});
  check_op({.op = "MatrixSolveLs",
            .inputs = {{{1, 0, 1}, {0, 2, 0}}, {{2, 4}, {6, 2}}, 0.0},
            .outputs = {{{1, 2}, {3, 1}, {1, 2}}},
            .gradient_inputs = {0, 1},
            .unknown_shapes = false,
            .bad = {{.inputs = {kTall, {{1}, {2}, {4}}, -1.0}, .message = "l2_regularizer must be >= 0."},
                    {.inputs = {{{1, 1}, {1, 1}}, {{1}, {1}}, 0.0}, .message = "rank deficient"},
                    {.inputs = {kTall, {{1}, {2}}, 0.0}, .message = ""}}});
  check_op({.op = "MatrixSolveLs",
            .inputs = {{{1, 1}, {1, 1}}, {{2}, {2}}, 0.0},
            .attrs = {{"fast", false}},
            .outputs = {{{1}, {1}}},
            .gradient = false});
}

TEST(MatrixFunctions, UndoEachOther) {
  const double e = std::exp(1.);
  check_op({.op = "MatrixExponential", .inputs = {{{0, 1}, {0, 0}}}, .outputs = {{{1, 1}, {0, 1}}}});
  check_op({.op = "MatrixExponential", .inputs = {{{1, 0}, {0, 2}}}, .outputs = {{{e, 0.}, {0., e * e}}}});
  check_op({.op = "MatrixLogarithm", .inputs = {{{1, 1}, {0, 1}}}, .outputs = {{{0, 1}, {0, 0}}}});
  check_op({.op = "MatrixSquareRoot",
            .inputs = {{{7, 10}, {15, 22}}},
            .outputs = {{{1.56669890, 1.74077656}, {2.61116484, 4.17786374}}}});
  check_op({.op = "MatrixSquareRoot",
            .inputs = {{{{4, 4}, {0, 4}}, {{9, 0}, {0, 1}}}},
            .outputs = {{{{2, 1}, {0, 2}}, {{3, 0}, {0, 1}}}}});
}

TEST(Tridiagonal, SolvesWhatProductsGive) {
  const Tensor diagonals = Tensor::from<double>({2, 1, 9, 4, 5, 3, 9, 1, 2}, {3, 3});
  check_op({.op = "TridiagonalMatMul",
            .inputs = {{{2, 1, 9}}, {{4, 5, 3}}, {{9, 1, 2}}, {{1, 2}, {3, 4}, {5, 6}}},
            .outputs = {{{10, 16}, {21, 28}, {21, 26}}}});
  for (bool pivot : {true, false}) {
    check_op({.op = "TridiagonalSolve",
              .inputs = {diagonals, {{10, 16}, {21, 28}, {21, 26}}},
              .attrs = {{"partial_pivoting", pivot}},
              .outputs = {{{1, 2}, {3, 4}, {5, 6}}},
              .bad = {{.inputs = {zeros({3, 2}), zeros({2, 1})}, .message = "not invertible"},
                      {.inputs = {zeros({2, 2}), zeros({2, 1})}, .message = "3 diagonals"}}});
  }
  // Needs rows to be exchanged.
  check_op({.op = "TridiagonalSolve",
            .inputs = {{{1, 2, 0}, {0, 0, 4}, {0, 3, 1}}, {{2}, {9}, {14}}},
            .outputs = {{{1}, {2}, {3}}}});
}

TEST(CholeskyGrad, IsTheGradientOfCholesky) {
  // From TensorFlow 1.15, as Cholesky.HasTensorFlowsGradient.
  check_op(
      {.op = "CholeskyGrad", .inputs = {{{2, 0}, {1, 2}}, {{1, 2}, {3, 4}}}, .outputs = {{{0.125, 0.25}, {0.25, 1}}}});
}

TEST(Linalg, ComposedFunctionsAgreeWithNumpy) {
  Graph g;
  Output a = g.constant({{4, 2}, {2, 5}}, float64), tall = g.constant(kTall);
  EXPECT_NEAR(run(logdet(a)).scalar<double>(), std::log(16.), 1e-12);
  EXPECT_EQ(run(matrix_rank(tall)).scalar<int32_t>(), 2);
  EXPECT_EQ(run(matrix_rank(g.constant({{1, 2}, {2, 4}}, float64))).scalar<int32_t>(), 1);
  expect_near(run(matmul(pinv(tall), tall)), Tensor::from<double>({1, 0, 0, 1}, {2, 2}), 1e-12);
  expect_near(run(matvec(a, g.constant({1, 2}, float64))), Tensor(std::vector<double>{8, 12}), 1e-12);
  expect_near(run(cholesky_solve(cholesky(a), g.constant({{8}, {12}}, float64))), Tensor::from<double>({1, 2}, {2, 1}),
              1e-12);
}

}  // namespace
}  // namespace weir
