#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ops/math/test_reference.h"

namespace weir::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

// Reduces element by element, with keep_dims.
template <class Step>
Tensor reduced(const Tensor& x, const std::vector<int>& axes, double start, Step step) {
  Shape shape = x.shape();
  for (int axis : axes) shape.set_dim(axis, 1);
  Tensor y(float64, shape);
  std::fill_n(y.mutable_data<double>(), y.elements(), start);
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (int d = 1; d <= shape.rank(); ++d) {
      at += (shape[-d] == 1 ? 0 : rest % x.shape()[-d]) * stride;
      rest /= x.shape()[-d];
      stride *= shape[-d];
    }
    double& to = y.mutable_data<double>()[at];
    to = step(to, real_at(x, i));
  }
  return y;
}

Tensor reference(const std::string& op, const Tensor& x, const std::vector<int>& axes) {
  if (op == "Prod") return reduced(x, axes, 1, [](double a, double b) { return a * b; });
  if (op == "Max") return reduced(x, axes, -kInf, [](double a, double b) { return std::max(a, b); });
  if (op == "Min") return reduced(x, axes, kInf, [](double a, double b) { return std::min(a, b); });
  Tensor sum = reduced(x, axes, 0, [](double a, double b) { return a + b; });
  if (op == "Mean") {
    double count = static_cast<double>(x.elements()) / static_cast<double>(sum.elements());
    for (int64_t i = 0; i < sum.elements(); ++i) sum.mutable_data<double>()[i] /= count;
  }
  return sum;
}

const char* const kReductions[] = {"Sum", "Mean", "Max", "Min", "Prod"};

TEST(Reduction, MatchesItsReferenceForAllSetsOfAxes) {
  const std::vector<int> sets[] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}, {}};
  for (const char* op : kReductions) {
    for (const auto& axes : sets) {
      check_op({.op = op,
                .inputs = {scattered({2, 3, 2}, 0.5, 2), Tensor(std::vector<int32_t>(axes.begin(), axes.end()))},
                .attrs = {{"keep_dims", true}},
                .reference = [&](const Tensors& in) { return Tensors{reference(op, in[0], axes)}; }});
    }
  }
}

TEST(Reduction, MatchesItsReferenceForGroupsOfChannels) {
  const Shape shapes[] = {{2, 5, 7, 3, 4}, {1, 4, 4, 2, 50}, {3, 20, 1, 8, 1}, {2, 3, 5, 3, 4}};
  for (const char* op : kReductions) {
    for (const Shape& shape : shapes) {
      for (const std::vector<int>& axes : {std::vector<int>{1, 2, 4}, {0, 1, 2, 4}}) {
        check_op({.op = op,
                  .inputs = {scattered(shape, 0.9, 1.1), Tensor(std::vector<int32_t>(axes.begin(), axes.end()))},
                  .attrs = {{"keep_dims", true}},
                  .reference = [&](const Tensors& in) { return Tensors{reference(op, in[0], axes)}; },
                  .gradient = false});
      }
    }
  }
}

TEST(Reduction, MatchesItsReferenceOnLargeAndEmptyShapes) {
  const std::pair<Shape, std::vector<int>> cases[] = {{{3, 1051}, {1}},   {{1051, 3}, {0}},
                                                      {{7, 131, 5}, {1}}, {{7, 131, 5}, {0, 2}},
                                                      {{40, 30}, {0, 1}}, {{2, 3, 4, 5, 6}, {1, 3}}};
  for (const char* op : {"Sum", "Mean", "Max", "Min"}) {
    for (const auto& [shape, axes] : cases) {
      check_op({.op = op,
                .inputs = {scattered(shape), Tensor(std::vector<int32_t>(axes.begin(), axes.end()))},
                .attrs = {{"keep_dims", true}},
                .reference = [&](const Tensors& in) { return Tensors{reference(op, in[0], axes)}; },
                .tolerance = 2e-4,
                .gradient = false,
                .unknown_shapes = false});
    }
  }
}

TEST(Reduction, DropsDimensionsUnlessTheyAreKept) {
  check_op({.op = "Sum", .inputs = {{{1, 2, 3}, {4, 5, 6}}, 1}, .outputs = {{6, 15}}});
  check_op({.op = "Sum", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {-2}}, .outputs = {{5, 7, 9}}});
  check_op({.op = "Sum", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {0, 1}}, .outputs = {21}});
  check_op({.op = "Max", .inputs = {{{1, 2, 3}, {4, 5, 6}}, Tensor(std::vector<int64_t>{-1})}, .outputs = {{3, 6}}});
  check_op({.op = "Prod", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {1}}, .outputs = {{6, 120}}});
}

// As TensorFlow 1.15.5 answered.
TEST(Reduction, SpecialValuesAreTensorFlows) {
  check_op(
      {.op = "Max", .inputs = {{kNan, 1.0, 2.0}, 0}, .outputs = {2.0}, .types = kFloatingTypes, .gradient = false});
  check_op(
      {.op = "Mean", .inputs = {{-1, -2, -4}, 0}, .outputs = {-2}, .types = {int32, int64, int8}, .gradient = false});
  check_op({.op = "Max", .inputs = {zeros({0}), 0}, .outputs = {-kInf}, .types = kFloatingTypes, .gradient = false});
  check_op({.op = "Mean", .inputs = {zeros({0}), 0}, .outputs = {kNan}, .types = kFloatingTypes, .gradient = false});
  check_op({.op = "Prod", .inputs = {zeros({0, 2}), 0}, .outputs = {{1, 1}}});
  check_op({.op = "Sum", .inputs = {{64, 64, 64}, 0}, .outputs = {-64}, .types = {int8}, .gradient = false});
}

TEST(Reduction, AMeanOfManySmallIntegersDoesNotOverflow) {
  check_op({.op = "Mean",
            .inputs = {Tensor::from<double>(std::vector<double>(512, 100), {512}), 0},
            .outputs = {100},
            .types = {int8, uint8, int32, float16},
            .gradient = false});
}

TEST(Reduction, TheSlopeOfAProductWithAZeroIsRight) {
  check_op({.op = "Prod", .inputs = {{{2.0, 0.0, 3.0}, {4.0, 5.0, 6.0}}, 1}, .outputs = {{0, 120}}});
}

TEST(Reduction, TakesAnAxisThatIsNamedTwiceForOne) {
  check_op({.op = "Sum", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {1, -1}}, .outputs = {{6, 15}}});
}

TEST(Reduction, RejectsAxesThatAreNotThere) {
  for (const char* op : kReductions) {
    check_op({.op = op,
              .bad = {{.inputs = {zeros({2, 3}), {2}}, .message = "Invalid reduction dimension 2", .type = float32},
                      {.inputs = {zeros({2, 3}), {-3}}, .message = "Invalid reduction dimension -3", .type = float32},
                      {.inputs = {zeros({2, 3}), {{0}}}, .message = "rank 1", .type = float32}}});
  }
}

TEST(Reduction, TruthValuesAreCombined) {
  In x = {{true, false}, {true, true}};
  check_op({.op = "All", .inputs = {x, 1}, .outputs = {{false, true}}});
  check_op({.op = "Any", .inputs = {x, {0, 1}}, .outputs = {true}});
  check_op({.op = "All", .inputs = {x, 0}, .attrs = {{"keep_dims", true}}, .outputs = {{{true, false}}}});
  check_op({.op = "Any", .inputs = {Tensor(boolean, Shape{0, 2}), 0}, .outputs = {{false, false}}});
}

TEST(ArgMax, FindsTheFirstAlongAnyAxisInBothTypes) {
  In x = {{1, 7, 3}, {7, 7, 2}};
  check_op({.op = "ArgMax", .inputs = {x, 1}, .outputs = {{1, 0}}});
  check_op({.op = "ArgMax", .inputs = {x, 0}, .attrs = {{"output_type", int32}}, .outputs = {{1, 0, 0}}});
  check_op({.op = "ArgMin", .inputs = {x, -1}, .outputs = {{0, 2}}});
  check_op({.op = "ArgMax", .inputs = {{1.0, kNan, 2.0, 2.0}, 0}, .outputs = {2}, .types = {float32}});
  check_op(
      {.op = "ArgMax",
       .bad = {{.inputs = {zeros({0, 2}), 0}, .message = "Reduction axis 0 is empty in shape [0,2]", .type = float32},
               {.inputs = {zeros({2}), 1},
                .message = "Expected dimension in the range [-1, 1), but got 1",
                .type = float32}}});
}

TEST(L2Loss, IsHalfTheSumOfSquares) {
  check_op({.op = "L2Loss", .inputs = {{1, 2, 3}}, .outputs = {7}});
  check_op({.op = "L2Loss", .inputs = {zeros({0, 4})}, .outputs = {0}});
}

TEST(Cumulate, RunsAlongAnyAxisInAnyDirection) {
  In x = {{1, 2, 3}, {4, 5, 6}};
  check_op({.op = "Cumsum", .inputs = {x, 1}, .outputs = {{{1, 3, 6}, {4, 9, 15}}}});
  check_op({.op = "Cumsum", .inputs = {x, -2}, .outputs = {{{1, 2, 3}, {5, 7, 9}}}});
  check_op({.op = "Cumsum",
            .inputs = {x, 1},
            .attrs = {{"exclusive", true}, {"reverse", true}},
            .outputs = {{{5, 3, 0}, {11, 6, 0}}}});
  check_op({.op = "Cumprod", .inputs = {x, 1}, .outputs = {{{1, 2, 6}, {4, 20, 120}}}});
  check_op({.op = "Cumprod", .inputs = {x, 0}, .attrs = {{"exclusive", true}}, .outputs = {{{1, 1, 1}, {1, 2, 3}}}});
  check_op(
      {.op = "Cumsum",
       .bad = {{.inputs = {zeros({2}), 1}, .message = "Expected scan axis in the range [-1, 1)", .type = float32}}});
}

TEST(SegmentSum, SumsRowsWithEqualIds) {
  check_op(
      {.op = "SegmentSum", .inputs = {{{1, 2}, {3, 4}, {5, 6}}, {0, 0, 2}}, .outputs = {{{4, 6}, {0, 0}, {5, 6}}}});
  check_op({.op = "SegmentSum",
            .bad = {{.inputs = {{1.0, 2.0}, {1, 0}}, .message = "Segment id", .type = float32},
                    {.inputs = {{1.0, 2.0}, {0, 1, 2}}, .message = "[3]", .type = float32}}});
}

}  // namespace
}  // namespace weir::testing
