#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

TEST(Fill, RepeatsAValue) {
  check_op({.op = "Fill", .inputs = {{2, 3}, 7}, .outputs = {{{7, 7, 7}, {7, 7, 7}}}});
  check_op({.op = "Fill", .inputs = {Tensor(int32, Shape{0}), 7}, .outputs = {7}});
  check_op({.op = "Fill", .inputs = {{0, 3}, 7}, .outputs = {zeros({0, 3})}});
  check_op({.op = "Fill",
            .inputs = {{2}, "x"},
            .outputs = {{"x", "x"}},
            .bad = {{.inputs = {{2, -1}, 7}, .message = "negative size -1"},
                    {.inputs = {{2}, {7}}, .message = "rank 0"},
                    {.inputs = {{1 << 30, 1 << 30, 1 << 30}, 7}, .message = "overflow"}}});
}

TEST(ZerosLike, AndOnesLikeHaveTheShapeOfTheirInput) {
  check_op({.op = "ZerosLike", .inputs = {ramp({2, 2})}, .outputs = {zeros({2, 2})}});
  check_op({.op = "ZerosLike", .inputs = {{"a", "b"}}, .outputs = {{"", ""}}});
  check_op({.op = "OnesLike", .inputs = {ramp({2, 2})}, .outputs = {{{1, 1}, {1, 1}}}});
}

TEST(Zeros, AreConstantsUntilTheyAreLarge) {
  Graph g;
  EXPECT_EQ(zeros(g, {9, 111}).op().type(), "Const");
  EXPECT_EQ(zeros(g, {10, 100}).op().type(), "Fill");
  EXPECT_EQ(zeros(g, {10, 100}).shape().str(), "[10,100]");
  Output x = g.placeholder(float32, {kUnknown, 2});
  EXPECT_EQ(zeros_like(x).op().type(), "ZerosLike");
  EXPECT_EQ(zeros_like(x, int32).op().type(), "Fill");
  EXPECT_EQ(ones_like(x).shape().str(), "[?,2]");
  Tensors values = interpret({zeros(g, {2}, string), ones(g, {2}, boolean), ones(g, Shape{2}, bfloat16),
                              zeros(g, std::vector<int64_t>{1}, int64), ones(g, {50, 50}, uint8)});
  expect_same(values[0], Tensor(DType::String, {2}));
  expect_same(values[1], Tensor::from<bool>({true, true}, {2}));
  expect_same(values[2], Tensor::from<BFloat16>({BFloat16(1.f), BFloat16(1.f)}, {2}));
  expect_same(values[3], Tensor(std::vector<int64_t>{0}));
  EXPECT_EQ(values[4].data<uint8_t>()[2499], 1);
}

TEST(Range, CountsUpAndDown) {
  check_op({.op = "Range", .inputs = {3, 18, 3}, .outputs = {{3, 6, 9, 12, 15}}, .type_attr = "Tidx"});
  check_op({.op = "Range", .inputs = {5, 0, -2}, .outputs = {{5, 3, 1}}, .type_attr = "Tidx"});
  check_op({.op = "Range", .inputs = {2, 2, 1}, .outputs = {zeros({0})}, .type_attr = "Tidx"});
  check_op({.op = "Range",
            .inputs = {0.5, 2, 0.5},
            .outputs = {{0.5, 1, 1.5}},
            .type_attr = "Tidx",
            .bad = {{.inputs = {0, 5, 0}, .message = "Requires delta != 0"},
                    {.inputs = {5, 0, 1}, .message = "Requires start <= limit when delta > 0: 5/0"},
                    {.inputs = {0, 5, -1}, .message = "Requires start >= limit when delta < 0: 0/5"}}});
}

TEST(Range, SumsStepsAsTensorFlowDoes) {
  Graph g;
  Tensor tenths = interpret({range(g, 0.f, 1.f, 0.1f)})[0];
  ASSERT_EQ(tenths.elements(), 10);
  EXPECT_EQ(tenths.data<float>()[7], 0.7000000476837158f);  // recorded; 0.1f * 7 would be another number
  EXPECT_EQ(range(g, 0, 5).dtype(), int32);
  EXPECT_EQ(range(g, 0, g.placeholder(int64, Shape{})).dtype(), int64);
  EXPECT_EQ(range(g, 0, 1.5).dtype(), float32);
}

TEST(Range, HasNoLimitsOfItsOwn) {
  Graph g;
  Tensor ends = interpret({range(g, g.constant(INT64_MAX - 1, int64), g.constant(INT64_MAX, int64))})[0];
  EXPECT_EQ(ends.data<int64_t>()[0], INT64_MAX - 1);
}

}  // namespace
}  // namespace weir::testing
