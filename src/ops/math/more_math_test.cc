#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/check_op.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(NextAfter, StepsTowardsTheOther) {
  const double up = std::nextafter(1.0, 2.0);
  check_op({.op = "NextAfter", .inputs = {{1., 2.}, {2., 2.}}, .outputs = {{up, 2.}}, .gradient_inputs = {0}});
}

TEST(ApproximateEqual, ComparesWithATolerance) {
  check_op({.op = "ApproximateEqual",
            .inputs = {{1., 2., 3.}, {1., 2.25, 5.}},
            .attrs = {{"tolerance", 0.5f}},
            .outputs = {{true, true, false}},
            .types = {float32, float64, float16, bfloat16},
            .bad = {{.inputs = {{1., 2.}, {1., 2., 3.}}, .message = "same shape"}}});
}

TEST(Angle, IsTheArgument) {
  check_op({.op = "Angle",
            .inputs = {Tensor(std::vector<std::complex<double>>{{1, 0}, {0, 2}, {-1, 0}})},
            .attrs = {{"T", complex64}, {"Tout", float32}},
            .outputs = {{0., M_PI / 2, M_PI}}});
}

TEST(EuclideanNorm, IsTheRootOfTheSumOfSquares) {
  check_op({.op = "EuclideanNorm", .inputs = {{{3, 4}, {6, 8}}, {1}}, .outputs = {{5, 10}}});
  check_op({.op = "EuclideanNorm",
            .inputs = {{{3, 4}, {0, 0}}, {0, 1}},
            .attrs = {{"keep_dims", true}},
            .outputs = {{{5}}}});
}

TEST(CumulativeLogsumexp, CountsFromEitherEnd) {
  const double two = std::log(2.0), three = std::log(3.0);
  check_op({.op = "CumulativeLogsumexp",
            .inputs = {{0., 0., 0.}, 0},
            .outputs = {{0., two, three}},
            .gradient_tolerance = 1e-4,
            .bad = {{.inputs = {{0., 0.}, 1}, .message = "scan axis"}}});
  check_op({.op = "CumulativeLogsumexp",
            .inputs = {{{0., 0.}, {0., 1000.}}, 1},
            .attrs = {{"reverse", true}},
            .outputs = {{{two, 0.}, {1000., 1000.}}},
            .gradient_tolerance = 1e-4});
}

TEST(AccumulateNV2, AddsUp) {
  check_op({.op = "AccumulateNV2",
            .inputs = {{1, 2}, {3, 4}, {5, 6}},
            .attrs = {{"N", 3}, {"shape", Shape{2}}},
            .outputs = {{9, 12}}});
}

TEST(Einsum, SumsProductsOverLabels) {
  check_op(
      {.op = "Einsum",
       .inputs = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}},
       .attrs = {{"N", 2}, {"equation", "ij,jk->ik"}},
       .outputs = {{{19, 22}, {43, 50}}},
       .bad = {{.inputs = {{{1}}, {{1}}}, .attrs = {{"equation", "ij,jk"}}, .message = "Expecting exactly one '->'"}}});
  check_op(
      {.op = "Einsum", .inputs = {{{1, 2}, {3, 4}}}, .attrs = {{"N", 1}, {"equation", "ii->i"}}, .outputs = {{1, 4}}});
  check_op({.op = "Einsum", .inputs = {{{1, 2}, {3, 4}}}, .attrs = {{"N", 1}, {"equation", "...->"}}, .outputs = {10}});
  check_op(
      {.op = "Einsum", .inputs = {{1, 2}}, .attrs = {{"N", 1}, {"equation", "i->ii"}}, .outputs = {{{1, 0}, {0, 2}}}});
}

}  // namespace
}  // namespace weir
