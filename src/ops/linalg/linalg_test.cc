#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/check_op.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(Diag, DoublesTheRankAndDiagPartHalvesIt) {
  check_op({.op = "Diag", .inputs = {{1, 2, 3}}, .outputs = {{{1, 0, 0}, {0, 2, 0}, {0, 0, 3}}}});
  check_op({.op = "Diag", .inputs = {zeros({0})}, .outputs = {zeros({0, 0})}});
  check_op({.op = "DiagPart",
            .inputs = {{{1, 2}, {3, 4}}},
            .outputs = {{1, 4}},
            .bad = {{.inputs = {{1, 2}}, .message = "even number"}}});
}

TEST(MatrixDiag, MovesDiagonalsOfBatches) {
  check_op({.op = "MatrixDiag", .inputs = {{{1, 2}, {3, 4}}}, .outputs = {{{{1, 0}, {0, 2}}, {{3, 0}, {0, 4}}}}});
  check_op({.op = "MatrixDiagPart", .inputs = {{{1, 2, 3}, {4, 5, 6}}}, .outputs = {{1, 5}}});
  check_op({.op = "MatrixDiagPart", .inputs = {{{1, 2}, {4, 5}}}, .outputs = {{1, 5}}});
  check_op({.op = "MatrixSetDiag",
            .inputs = {{{1, 2, 3}, {4, 5, 6}}, {7, 8}},
            .outputs = {{{7, 2, 3}, {4, 8, 6}}},
            .bad = {{.inputs = {{{1, 2}, {3, 4}}, {1, 2, 3}}, .message = "diagonals"}}});
}

TEST(MatrixBandPart, KeepsDiagonalsNearTheMainOne) {
  check_op({.op = "MatrixBandPart", .inputs = {ramp({3, 3}), 1, 0}, .outputs = {{{1, 0, 0}, {4, 5, 0}, {0, 8, 9}}}});
  check_op({.op = "MatrixBandPart",
            .inputs = {ramp({2, 3}), -1, 1},
            .outputs = {{{1, 2, 0}, {4, 5, 6}}},
            .bad = {{.inputs = {ramp({2, 3}), 3, 0}, .message = "num_lower"}}});
}

const Tensor kMatrix = Tensor::from<double>({4, 1, -2, 2, 3, 0, 1, -1, 5}, {3, 3});

TEST(MatrixInverse, TimesTheMatrixIsOne) {
  check_op({.op = "MatrixInverse", .inputs = {{{2, 1}, {4, 4}}}, .outputs = {{{1, -0.25}, {-1, 0.5}}}});
  check_op({.op = "MatrixInverse",
            .inputs = {{{2, 1}, {4, 4}}},
            .attrs = {{"adjoint", true}},
            .outputs = {{{1, -1}, {-0.25, 0.5}}},
            .gradient = false,
            .bad = {{.inputs = {{{1, 2}, {2, 4}}}, .message = "not invertible"},
                    {.inputs = {{{1, 2, 3}, {2, 4, 5}}}, .message = "square"}}});
  check_op({.op = "MatrixInverse", .inputs = {zeros({2, 0, 0})}, .outputs = {zeros({2, 0, 0})}});
}

TEST(MatrixDeterminant, IsTheProductOfTheEigenvalues) {
  check_op({.op = "MatrixDeterminant", .inputs = {kMatrix}, .outputs = {60}});
  check_op({.op = "MatrixDeterminant",
            .inputs = {{{{1, 2}, {2, 4}}, {{0, 1}, {1, 0}}}},
            .outputs = {{0, -1}},
            .gradient = false,
            .bad = {{.inputs = {{{1e30, 2.}, {1., 1e30}}}, .message = "not finite"}}});
  check_op({.op = "LogMatrixDeterminant",
            .inputs = {{{{4, 1}, {2, 3}}, {{0, 1}, {1, 0}}}},
            .outputs = {{1, -1}, {std::log(10.), 0.}}});
}

TEST(MatrixSolve, SolvesForSeveralRightHandSides) {
  check_op({.op = "MatrixSolve", .inputs = {{{2, 1}, {4, 4}}, {{3, 5}, {8, 4}}}, .outputs = {{{1, 4}, {1, -3}}}});
  check_op({.op = "MatrixSolve",
            .inputs = {{{2, 1}, {4, 4}}, {{6}, {5}}},
            .attrs = {{"adjoint", true}},
            .outputs = {{{1}, {1}}},
            .bad = {{.inputs = {{{2, 1}, {4, 4}}, {{1}, {2}, {3}}}, .message = ""}}});
}

TEST(MatrixTriangularSolve, ReadsOneHalf) {
  check_op(
      {.op = "MatrixTriangularSolve", .inputs = {{{2, 9}, {4, 4}}, {{2, 4}, {8, 8}}}, .outputs = {{{1, 2}, {1, 0}}}});
  check_op({.op = "MatrixTriangularSolve",
            .inputs = {{{2, 1}, {9, 4}}, {{3}, {4}}},
            .attrs = {{"lower", false}},
            .outputs = {{{1}, {1}}},
            .bad = {{.inputs = {{{2, 1}, {9, 0}}, {{3}, {4}}}, .message = "not invertible"}}});
}

TEST(Cholesky, FactorsPositiveMatrices) {
  check_op({.op = "Cholesky",
            .inputs = {{{4, 2}, {2, 5}}},
            .outputs = {{{2, 0}, {1, 2}}},
            .gradient = false,
            .bad = {{.inputs = {{{-1, 0}, {0, 1}}}, .message = "not successful"}}});
}

TEST(Cholesky, HasTensorFlowsGradient) {
  Graph g;
  Output x = g.constant({{4, 2}, {2, 5}}, float64);
  Output weights = g.constant({{1, 2}, {3, 4}}, float64);
  Output grad = gradients({reduce_sum(cholesky(x) * weights)}, {x})[0].dense();
  // From TensorFlow 1.15.
  expect_near(Session(g).run(grad), Tensor::from<double>({0.125, 0.25, 0.25, 1}, {2, 2}), 1e-9);
}

TEST(Cross, IsPerpendicular) {
  check_op({.op = "Cross",
            .inputs = {{{1, 2, 3}}, {{4, 5, 7}}},
            .outputs = {{{-1, 5, -3}}},
            .bad = {{.inputs = {{1, 2}, {1, 2}}, .message = ""}}});
}

std::string nodes(const Graph& g) {
  std::string text;
  for (const Operation& op : g.operations()) {
    if (op.type() != "Placeholder") text += (text.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  return text;
}

TEST(Linalg, ComposedFunctionsHaveTensorFlowsNodes) {
  Graph one, two, three, four, five;
  eye(one, 3);
  EXPECT_EQ(nodes(one), "eye/ones:Const eye/diag:MatrixDiag");
  eye(two, 2, {.num_columns = 3, .batch_shape = {2}});
  EXPECT_EQ(nodes(two), "eye/ones:Const eye/zeros:Const eye/set_diag:MatrixSetDiag");
  trace(three.placeholder(float32, {3, 3}));
  EXPECT_EQ(nodes(three), "Trace/diag_part:MatrixDiagPart Trace/reduction_indices:Const Trace:Sum");
}

TEST(Linalg, NormsOfMatrices) {
  Graph g;
  Output x = g.constant({{3, -4}, {0, 1}}, float32), many = stack({x, 2 * x}, 1);  // matrices along axes 0 and 2
  Session session(g);
  auto value = [&](double ord) { return session.run(matrix_norm(x, {.ord = ord})).scalar<float>(); };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value(1), 5);
  EXPECT_EQ(value(infinity), 7);
  EXPECT_NEAR(value(2), 5.0645, 1e-3);  // numpy.linalg.norm
  expect_near(session.run(matrix_norm(many, {.ord = infinity, .rows = 0, .columns = -1})),
              Tensor(std::vector<float>{7, 14}), 1e-6);
  Tensor kept = session.run(matrix_norm(many, {.rows = 0, .columns = 2, .keep_dims = true}));
  EXPECT_EQ(kept.shape(), (Shape{1, 2, 1}));
  EXPECT_NEAR(kept.data<float>()[1], 10.129, 1e-2);
  EXPECT_THROW(matrix_norm(x, {.ord = 3}), Error);
  EXPECT_THROW(matrix_norm(x, {.rows = 1, .columns = 1}), Error);
}

TEST(Linalg, NormsAndTensordot) {
  Graph g;
  Output x = g.constant({{3, -4}, {0, 1}}, float32);
  Session session(g);
  EXPECT_NEAR(session.run(norm(x)).scalar<float>(), std::sqrt(26.f), 1e-6);
  expect_near(session.run(norm(x, {.ord = 1, .axes = {1}})), Tensor(std::vector<float>{7, 1}), 1e-6);
  expect_near(session.run(norm(x, {.ord = std::numeric_limits<double>::infinity(), .axes = {1}, .keep_dims = true})),
              Tensor::from<float>({4, 1}, {2, 1}), 1e-6);
  expect_near(session.run(norm(x, {.ord = 3, .axes = {0}})), Tensor(std::vector<float>{3, std::cbrt(65.f)}), 1e-5);

  Output a = g.constant(converted(ramp({2, 3, 4}), float32)), b = g.constant(converted(ramp({4, 3, 5}), float32));
  Tensor known = session.run(tensordot(a, b, {1, 2}, {1, 0}));
  EXPECT_EQ(known.shape(), (Shape{2, 5}));
  EXPECT_EQ(known.data<float>()[0], 2608);  // numpy.tensordot
  Output fed = g.placeholder(float32, {kUnknown, 3, 4});
  Tensor unknown = session.run(tensordot(fed, b, {1, 2}, {1, 0}), {{fed, converted(ramp({2, 3, 4}), float32)}});
  expect_same(unknown, known);
  Output axes = g.placeholder(int32), any = g.placeholder(float32);
  expect_same(session.run(tensordot_along(any, b, axes), {{any, converted(ramp({2, 3, 4}), float32)},
                                                          {axes, Tensor::from<int32_t>({1, -1, 1, 0}, {2, 2})}}),
              known);
  EXPECT_THROW(
      session.run(tensordot_along(any, b, axes), {{any, converted(ramp({2, 3, 4}), float32)}, {axes, Tensor(1)}}),
      Error);
  expect_near(session.run(tensordot(x, x, 1)), Tensor::from<float>({9, -16, 0, 1}, {2, 2}), 1e-6);
}

}  // namespace
}  // namespace weir
