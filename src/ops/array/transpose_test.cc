#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

// Element by element, straight from the definition.
Tensor permuted(const Tensor& x, const std::vector<int>& perm) {
  Shape to;
  for (int p : perm) to.append(x.shape()[p]);
  Tensor y(float64, to);
  std::vector<int64_t> strides(perm.size() + 1, 1), at(perm.size(), 0);
  for (int i = x.shape().rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = strides[static_cast<size_t>(i + 1)] * x.shape()[i];
  }
  for (int64_t i = 0; i < y.elements(); ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < perm.size(); ++d) from += at[d] * strides[static_cast<size_t>(perm[d]) + 1];
    y.mutable_data<double>()[i] = x.data<double>()[static_cast<size_t>(from)];
    for (size_t d = perm.size(); d-- > 0 && ++at[d] == to[static_cast<int>(d)];) at[d] = 0;
  }
  return y;
}

void expect_permutes(const Shape& shape, const std::vector<int>& perm) {
  SCOPED_TRACE(shape.str());
  Tensor x = ramp(shape, 0);
  check_op(
      {.op = "Transpose", .inputs = {x, perm}, .outputs = {permuted(x, perm)}, .gradient = shape.elements() < 100});
}

TEST(Transpose, PermutesDimensionsInEveryType) {
  expect_permutes({2, 3}, {1, 0});
  expect_permutes({3}, {0});
  expect_permutes({}, {});
  expect_permutes({0, 4}, {1, 0});
  expect_permutes({2, 3, 4}, {2, 0, 1});
  expect_permutes({2, 3, 4}, {0, 1, 2});
  expect_permutes({2, 1, 3, 2, 2}, {4, 0, 2, 1, 3});
  check_op({.op = "Transpose", .inputs = {{{"a", "b"}, {"c", "d"}}, {1, 0}}, .outputs = {{{"a", "c"}, {"b", "d"}}}});
}

TEST(Transpose, AgreesOnSizesThatTilesDoNotDivide) {
  expect_permutes({37, 53}, {1, 0});
  expect_permutes({64, 48}, {1, 0});
  expect_permutes({2, 7, 19, 3}, {0, 3, 1, 2});   // NHWC to NCHW
  expect_permutes({2, 20, 5, 17}, {0, 2, 3, 1});  // and back
  expect_permutes({3, 3, 18, 33}, {3, 2, 0, 1});
  expect_permutes({5, 16, 4, 16}, {0, 2, 1, 3});
}

TEST(Transpose, SpreadsLargeTensorsOverThreads) {
  Tensor x = ramp({700, 300}, 0);
  check_op({.op = "Transpose",
            .inputs = {x, {1, 0}},
            .outputs = {permuted(x, {1, 0})},
            .types = {float64, float32},
            .gradient = false});
}

TEST(Transpose, RejectsWhatIsNoPermutation) {
  check_op({.op = "Transpose",
            .inputs = {ramp({2, 1}), {1, 0}},
            .outputs = {ramp({1, 2})},
            .bad = {{.inputs = {ramp({2, 3}), {0, 0}}, .message = "dimension 0 stands twice"},
                    {.inputs = {ramp({2, 3}), {0, 2}}, .message = "2 is out of range [0 .. 2)"},
                    {.inputs = {ramp({2, 3}), {-1, 0}}, .message = "-1 is out of range [0 .. 2)"},
                    {.inputs = {ramp({2, 3}), {0, 1, 2}}, .message = "3 dimensions is given for shape [2,3]"}}});
}

TEST(Transpose, ReversesDimensionsWithoutAPermutation) {
  Graph g;
  EXPECT_EQ(transpose(g.placeholder(float32, {2, 3, kUnknown})).shape().str(), "[?,3,2]");
  Output x = g.placeholder(float32);
  Output y = transpose(x);
  EXPECT_EQ(y.op().name(), "transpose_1");
  expect_same(interpret({y}, {{x, Tensor::from<float>({1, 2, 3, 4}, {2, 2})}})[0],
              Tensor::from<float>({1, 3, 2, 4}, {2, 2}));
}

TEST(InvertPermutation, Inverts) {
  check_op({.op = "InvertPermutation",
            .inputs = {{3, 0, 2, 1}},
            .outputs = {{1, 3, 2, 0}},
            .bad = {{.inputs = {{0, 2}}, .message = "2 is not between 0 and 2"},
                    {.inputs = {{-1, 0}}, .message = "-1 is not between"},
                    {.inputs = {{0, 0}}, .message = "duplicated"}}});
}

TEST(ReverseV2, WalksAxesBackwards) {
  check_op({.op = "ReverseV2", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {1}}, .outputs = {{{3, 2, 1}, {6, 5, 4}}}});
  check_op({.op = "ReverseV2", .inputs = {{{1, 2, 3}, {4, 5, 6}}, {0, -1}}, .outputs = {{{6, 5, 4}, {3, 2, 1}}}});
  check_op({.op = "ReverseV2", .inputs = {zeros({0, 2}), {0}}, .outputs = {zeros({0, 2})}});
  check_op({.op = "ReverseV2",
            .inputs = {ramp({3}), Tensor(int32, Shape{0})},
            .outputs = {ramp({3})},
            .bad = {{.inputs = {ramp({3}), {1}}, .message = "axis 1 is out of valid range"},
                    {.inputs = {ramp({3}), {0, -1}}, .message = "axis 0 specified more than once"}}});
}

}  // namespace
}  // namespace weir::testing
