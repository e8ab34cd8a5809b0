#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

const AttrMap kDilation = {
    {"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"rates", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}};

TEST(Dilation2D, TakesTheLargestSum) {
  check_op({.op = "Dilation2D",
            .inputs = {ramp({1, 2, 3, 1}), {{{0}, {0}}, {{0}, {10}}}},
            .attrs = kDilation,
            .outputs = {{{{{15}, {16}}}}},
            .bad = {{.inputs = {ramp({1, 2, 3, 1}), ramp({1, 1, 2})}, .message = "same depth"}}});
  check_op({.op = "Dilation2DBackpropInput",
            .inputs = {ramp({1, 1, 2, 1}), {{{0}, {0}}}, {{{{5}}}}},
            .attrs = kDilation,
            .outputs = {{{{{0}, {5}}}}},
            .bad = {{.inputs = {ramp({1, 1, 2, 1}), {{{0}, {0}}}, {{{{5}, {6}}}}}, .message = "incompatible size"}}});
  check_op({.op = "Dilation2DBackpropFilter",
            .inputs = {ramp({1, 1, 2, 1}), {{{0}, {0}}}, {{{{5}}}}},
            .attrs = kDilation,
            .outputs = {{{{0}, {5}}}}});
}

TEST(FractionalPool, ShrinksByItsRatioAndHasItsGradient) {
  const AttrMap attrs = {
      {"pooling_ratio", std::vector<float>{1, 1.5, 2, 1}}, {"deterministic", true}, {"seed", 3}, {"seed2", 5}};
  for (const char* op : {"FractionalAvgPool", "FractionalMaxPool"}) {
    Graph g;
    Output x = g.constant(converted(ramp({1, 6, 4, 2}), float32));
    NodeBuilder node(op);
    node.input(x);
    for (const char* name : {"pooling_ratio", "deterministic", "seed", "seed2"}) node.attr(name, *attrs.find(name));
    Operation pool = node.build();
    EXPECT_EQ(pool.output(0).shape(), (Shape{1, 4, 2, 2}));
    Session session(g);
    Tensor rows = session.run(pool.output(1));
    EXPECT_EQ(rows.data<int64_t>().front(), 0);
    EXPECT_EQ(rows.data<int64_t>().back(), 6);
    expect_same(session.run(pool.output(2)), Tensor(std::vector<int64_t>{0, 2, 4}));
    Tensor slope = session.run(gradients({reduce_sum(pool.output(0))}, {x})[0].dense());
    double sum = 0;
    for (float value : slope.data<float>()) sum += value;
    EXPECT_NEAR(sum, 16, 1e-5);  // each result passes on all of its gradient
  }
}

TEST(FractionalPoolGrad, ChecksItsSequences) {
  check_op({.op = "FractionalAvgPoolGrad",
            .inputs = {{1, 2, 2, 1}, {{{{8.}}}}, {0, 2}, {0, 2}},
            .outputs = {ramp({1, 2, 2, 1}, 2, 0)},
            .types = {float32, float64, int32, int64},
            .bad = {{.inputs = {{1, 2, 2, 1}, {{{{6.}}}}, {0, 3}, {0, 2}}, .message = "must rise"},
                    {.inputs = {{1, 2, 2, 1}, {{{{6.}}}}, {0, 1, 2}, {0, 2}}, .message = "entries"}}});
  check_op({.op = "FractionalMaxPoolGrad",
            .inputs = {ramp({1, 2, 2, 1}), {{{{4}}}}, {{{{6}}}}, {0, 2}, {0, 2}},
            .outputs = {{{{{0}, {0}}, {{0}, {6}}}}}});
}

TEST(FusedPadConv2D, MirrorsBeforeItConvolves) {
  const Tensor pads = Tensor::from<int32_t>({0, 0, 0, 0, 1, 1, 0, 0}, {4, 2});
  check_op({.op = "FusedPadConv2D",
            .inputs = {{{{{1}, {2}, {3}}}}, pads, {{{{1}}, {{1}}}}},
            .attrs = {{"mode", "REFLECT"}, {"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}},
            .outputs = {{{{{3}, {3}, {5}, {5}}}}},
            .bad = {{.inputs = {{{{{1}}}}, pads, {{{{1}}, {{1}}}}}, .message = "paddings must be"}}});
  check_op({.op = "FusedResizeAndPadConv2D",
            .inputs = {{{{{1}, {3}}}}, {1, 4}, Tensor::from<int32_t>({0, 0, 0, 0, 0, 0, 0, 0}, {4, 2}), {{{{1}}}}},
            .attrs = {{"mode", "SYMMETRIC"}, {"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "VALID"}},
            .outputs = {{{{{1}, {2}, {3}, {3}}}}}});
}

TEST(Conv3DBackprop, TakesShapesFromTensors) {
  const AttrMap attrs = {{"strides", std::vector<int64_t>{1, 1, 1, 1, 1}}, {"padding", "VALID"}};
  check_op({.op = "Conv3DBackpropFilter",
            .inputs = {ramp({1, 1, 1, 2, 1}), zeros({1, 1, 2, 1, 1}), ramp({1, 1, 1, 1, 1}, 3)},
            .attrs = attrs,
            .outputs = {{{{{{3}}, {{6}}}}}}});
  check_op({.op = "Conv3DBackpropInput",
            .inputs = {zeros({1, 1, 1, 2, 1}), ramp({1, 1, 2, 1, 1}), ramp({1, 1, 1, 1, 1}, 3)},
            .attrs = attrs,
            .outputs = {{{{{{3}, {6}}}}}}});
}

}  // namespace
}  // namespace weir
