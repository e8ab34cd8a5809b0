#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(ConcatV2, JoinsAlongAnyAxis) {
  check_op({.op = "ConcatV2", .inputs = {{{1, 2}, {3, 4}}, {{5, 6}}, 0}, .outputs = {{{1, 2}, {3, 4}, {5, 6}}}});
  check_op({.op = "ConcatV2",
            .inputs = {{{1, 2}, {3, 4}}, {{5}, {6}}, {{7, 8}, {9, 10}}, -1},
            .outputs = {{{1, 2, 5, 7, 8}, {3, 4, 6, 9, 10}}}});
  check_op({.op = "ConcatV2", .inputs = {zeros({2, 0}), {{1}, {2}}, 1}, .outputs = {{{1}, {2}}}});
  check_op({.op = "ConcatV2", .inputs = {{"a"}, {"b", "c"}, 0}, .outputs = {{"a", "b", "c"}}});
  check_op({.op = "Concat", .inputs = {1, {{1, 2}, {3, 4}}, {{5}, {6}}}, .outputs = {{{1, 2, 5}, {3, 4, 6}}}});
}

TEST(ConcatV2, SplitsTheGradientOfManyInputs) {
  std::vector<In> inputs;
  std::vector<double> joined;
  for (int i = 0; i < 18; ++i) {
    inputs.emplace_back(ramp({1, 1 + i % 2}, i));
    for (int k = 0; k <= i % 2; ++k) joined.push_back(i + k);
  }
  inputs.emplace_back(1);
  check_op({.op = "ConcatV2",
            .inputs = inputs,
            .outputs = {Tensor(joined).reshaped({1, static_cast<int64_t>(joined.size())})},
            .types = {float32, float64}});
}

TEST(ConcatV2, RejectsShapesThatDoNotMeet) {
  check_op({.op = "ConcatV2",
            .inputs = {{1}, {2}, 0},
            .outputs = {{1, 2}},
            .bad = {{.inputs = {{{1, 2}}, {{1, 2, 3}}, 0},
                     .message = "Dimension 1 in both shapes must be equal, but are 2 and 3"},
                    {.inputs = {{{1, 2}}, {1, 2}, 0}, .message = "Ranks of all input tensors should match"},
                    {.inputs = {{1, 2}, {1, 2}, 1}, .message = "axis 1 is out of valid range"},
                    {.inputs = {1, 2, 0}, .message = "Can't concatenate scalars"}}});
}

TEST(ConcatV2, PassesSparseGradientsToTheRowsTheyMean) {
  for (int axis : {0, 1}) {
    Graph g;
    Output a = g.constant({{1, 2}, {3, 4}}, float32), b = g.constant({{5, 6}, {7, 8}}, float32);
    Output rows = gather(concat({a, b}, axis), axis == 0 ? In({3, 0, 3}) : In({1, 1, 0}));
    std::vector<Gradient> grads = gradients({rows}, {a, b});
    ASSERT_TRUE(grads[0].sparse());
    Tensors values = interpret({grads[0].dense(), grads[1].dense()});
    std::vector<float> first = axis == 0 ? std::vector<float>{1, 1, 0, 0} : std::vector<float>{1, 1, 2, 2};
    std::vector<float> second = axis == 0 ? std::vector<float>{0, 0, 2, 2} : first;
    expect_same(values[0], Tensor(first).reshaped({2, 2}));
    expect_same(values[1], Tensor(second).reshaped({2, 2}));
  }
}

TEST(ConcatOffset, SaysWhereEachInputBegins) {
  check_op({.op = "ConcatOffset",
            .inputs = {1, {2, 3, 5}, {2, 4, 5}, {2, 1, 5}},
            .outputs = {{0, 0, 0}, {0, 3, 0}, {0, 7, 0}},
            .bad = {{.inputs = {3, {2, 3}, {2, 3}}, .message = "Concat dim is out of range: 3 vs. 2"},
                    {.inputs = {0, {2, 3}, {2, 4}}, .message = "All dimensions except 0 must match"}}});
}

}  // namespace
}  // namespace weir::testing
