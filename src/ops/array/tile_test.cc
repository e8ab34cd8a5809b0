#include <gtest/gtest.h>

#include <array>

#include "graph/grad_context.h"
#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(Tile, RepeatsInEveryDimension) {
  check_op({.op = "Tile", .inputs = {{1, 2}, {3}}, .outputs = {{1, 2, 1, 2, 1, 2}}});
  check_op({.op = "Tile",
            .inputs = {{{1, 2}, {3, 4}}, {2, 2}},
            .outputs = {{{1, 2, 1, 2}, {3, 4, 3, 4}, {1, 2, 1, 2}, {3, 4, 3, 4}}}});
  check_op({.op = "Tile", .inputs = {{{5}}, {2, 3}}, .outputs = {{{5, 5, 5}, {5, 5, 5}}}});
  check_op({.op = "Tile", .inputs = {ramp({2, 2}), {0, 1}}, .outputs = {zeros({0, 2})}, .gradient = false});
  check_op({.op = "Tile",
            .inputs = {7, Tensor(int32, Shape{0})},
            .outputs = {7},
            .bad = {{.inputs = {{1, 2}, {1, 2}},
                     .message = "Expected multiples argument to be a vector of length 1 but got length 2"},
                    {.inputs = {{1, 2}, {-1}}, .message = "negative"}}});
}

TEST(BroadcastTo, StretchesDimensionsOfSizeOne) {
  check_op({.op = "BroadcastTo", .inputs = {{1, 2}, {2, 2}}, .outputs = {{{1, 2}, {1, 2}}}});
  check_op({.op = "BroadcastTo",
            .inputs = {{{1}, {2}}, {2, 2, 3}},
            .outputs = {{{{1, 1, 1}, {2, 2, 2}}, {{1, 1, 1}, {2, 2, 2}}}}});
  check_op({.op = "BroadcastTo",
            .inputs = {5, {3}},
            .outputs = {{5, 5, 5}},
            .bad = {{.inputs = {{1, 2}, {3}}, .message = "shape [2] cannot be broadcast to [3]"},
                    {.inputs = {{1, 2}, Tensor(int32, Shape{0})}, .message = "cannot be broadcast"}}});
}

TEST(BroadcastGradientArgs, NamesTensorFlowsAxes) {
  Tensor none(int32, Shape{0});
  // Recorded with TensorFlow 1.15: s0, s1, r0, r1.
  const std::vector<std::array<In, 4>> cases = {{In({1, 1}), In({1, 1}), none, none},
                                                {In({2, 1, 3}), In({2, 1, 1}), In({1}), In({1, 2})},
                                                {In({3}), In({2, 3}), In({0}), none},
                                                {none, In({2, 3}), In({0, 1}), none},
                                                {In({2, 3, 5}), In({1}), none, In({0, 1, 2})},
                                                {In({2, 1}), In({1, 3}), In({1}), In({0})},
                                                {In({0, 1}), In({1, 3}), In({1}), In({0})},
                                                {In({1, 2}), In({2}), In({0}), In({0})},
                                                {In({1}), none, In({0}), In({0})},
                                                {In({1, 1, 2}), In({1}), In({0, 1}), In({0, 1, 2})}};
  for (const auto& [s0, s1, r0, r1] : cases) {
    check_op({.op = "BroadcastGradientArgs", .inputs = {s0, s1}, .outputs = {r0, r1}});
  }
  check_op({.op = "BroadcastGradientArgs",
            .inputs = {{2}, {2}},
            .outputs = {none, none},
            .bad = {{.inputs = {{2}, {3}}, .message = "incompatible shapes"}}});
}

TEST(ReduceBroadcast, MakesOnlyTheNodesThatAreNeeded) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 10}), bias = g.placeholder(float32, {10});
  Output column = g.placeholder(float32, {4, 1}), grad = g.placeholder(float32, {kUnknown, 10});
  auto [x_grad, bias_grad] = reduce_broadcast(grad, x, grad, bias);
  EXPECT_EQ(x_grad, grad);
  EXPECT_EQ(bias_grad.op().type(), "Reshape");  // of a sum: programs that read gradients' graphs expect one
  EXPECT_EQ(bias_grad.op().input(0).op().type(), "Sum");
  Output full = g.placeholder(float32, {4, 10});
  EXPECT_EQ(reduce_to_shape_of(full, column).shape().str(), "[4,1]");
  EXPECT_EQ(reduce_to_shape_of(full, column).op().type(), "Reshape");
  // Whether x is stretched only the run knows.
  Output dynamic = reduce_broadcast(full, x, {}, full).first;
  Tensor ones = Tensor(std::vector<float>(40, 1.f)).reshaped({4, 10});
  for (int64_t rows : {1, 4}) {
    Tensor value = interpret({dynamic}, {{full, ones}, {x, Tensor::zeros(float32, {rows, 10})}})[0];
    EXPECT_EQ(value.shape(), (Shape{rows, 10}));
    EXPECT_EQ(value.data<float>()[0], 4.f / static_cast<float>(rows));
  }
}

}  // namespace
}  // namespace weir::testing
