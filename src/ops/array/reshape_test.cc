#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(Reshape, KeepsElementsAndWorksOutOneSize) {
  check_op({.op = "Reshape", .inputs = {ramp({2, 3}), {3, 2}}, .outputs = {ramp({3, 2})}});
  check_op({.op = "Reshape", .inputs = {ramp({2, 3}), {-1, 2}}, .outputs = {ramp({3, 2})}});
  check_op({.op = "Reshape", .inputs = {ramp({1, 1}), Tensor(int32, Shape{0})}, .outputs = {ramp({})}});
  check_op({.op = "Reshape", .inputs = {zeros({0, 3}), {3, -1}}, .outputs = {zeros({3, 0})}});
  check_op({.op = "Reshape", .inputs = {ramp({6}), Tensor(std::vector<int64_t>{2, 3})}, .outputs = {ramp({2, 3})}});
}

TEST(Reshape, RejectsShapesThatDoNotFit) {
  check_op(
      {.op = "Reshape",
       .bad = {{.inputs = {ramp({2, 3}), {4, 2}}, .message = "Cannot reshape a tensor with 6 elements to shape [4,2] (8 elements); its shape is [2,3]"},
               {.inputs = {ramp({2, 3}), {-1, 4}}, .message = "does not fill"},
               {.inputs = {ramp({2, 3}), {-1, -1}}, .message = "only one size may be -1"},
               {.inputs = {ramp({2, 3}), {-2, 3}}, .message = "negative"},
               {.inputs = {ramp({2, 3}), 6}, .message = "rank 1"}}});
}

TEST(Reshape, KnowsWhatFollowsFromPartialShapes) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 28, 28});
  EXPECT_EQ(reshape(x, {-1, 784}).shape().str(), "[?,784]");
  Output batch = subscript(shape(x), {0});
  EXPECT_EQ(reshape(x, stack({batch, 784})).shape().str(), "[?,784]");
  Output y = g.placeholder(float32, {kUnknown, 3, 7});
  auto part = [&](int first, int last, int step, StridedSliceOptions masks) {
    return strided_slice(shape(y), {first}, {last}, {step}, masks);
  };
  EXPECT_EQ(fill(part(1, 0, 1, {.end_mask = 1}), 0.0f).shape().str(), "[3,7]");
  EXPECT_EQ(fill(part(0, -1, 1, {}), 0.0f).shape().str(), "[?,3]");
  EXPECT_EQ(fill(part(0, 3, 2, {}), 0.0f).shape().str(), "[?,7]");
  EXPECT_EQ(fill(part(0, 0, -1, {.begin_mask = 1, .end_mask = 1}), 0.0f).shape().str(), "[7,3,?]");
  EXPECT_EQ(reshape(y, concat({part(1, 3, 1, {}), {-1}}, 0)).shape().str(), "[3,7,?]");
}

TEST(ExpandDims, PutsADimensionAnywhere) {
  check_op({.op = "ExpandDims", .inputs = {ramp({2, 3}), 0}, .outputs = {ramp({1, 2, 3})}});
  check_op({.op = "ExpandDims", .inputs = {ramp({2, 3}), -1}, .outputs = {ramp({2, 3, 1})}});
  check_op({.op = "ExpandDims",
            .inputs = {ramp({2, 3}), -2},
            .outputs = {ramp({2, 1, 3})},
            .bad = {{.inputs = {ramp({2, 3}), 3}, .message = "axis 3 is out of valid range [-3, 3)"}}});
}

TEST(Squeeze, DropsDimensionsOfSizeOne) {
  check_op({.op = "Squeeze", .inputs = {ramp({1, 2, 1, 3, 1})}, .outputs = {ramp({2, 3})}});
  check_op({.op = "Squeeze",
            .inputs = {ramp({1, 2, 1, 3, 1})},
            .attrs = {{"squeeze_dims", std::vector<int64_t>{0, -1}}},
            .outputs = {ramp({2, 1, 3})},
            .bad = {{.inputs = {ramp({2, 2, 1, 3, 1})},
                     .message = "Can not squeeze dim[0], expected a dimension of 1, got 2: [2,2,1,3,1]"},
                    {.inputs = {ramp({})}, .message = "axis 0 is out of valid range"}}});
}

}  // namespace

TEST(Reshape, ChecksSizesThatOnlyTheRunKnows) {
  Graph g;
  Output x = g.constant(Tensor(std::vector<float>{1, 2}));
  Output size = g.placeholder(int32, Shape{1});
  Output y = reshape(x, size);
  Session session(g);
  EXPECT_EQ(session.run(y, {{size, Tensor(std::vector<int32_t>{2})}}).elements(), 2);
  expect_error([&] { session.run(y, {{size, Tensor(std::vector<int32_t>{3})}}); }, Code::InvalidArgument, "[3]");
}

}  // namespace weir::testing
