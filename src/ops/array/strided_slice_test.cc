#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

struct Case {
  std::vector<int> begin, end, strides;
  StridedSliceOptions masks;
  std::vector<int64_t> shape;
  std::vector<double> values;
};

// What TensorFlow 1.15 gives for slices of 0 .. 23 in shape [2,3,4].
const std::vector<Case>& recorded() {
  static const std::vector<Case> cases = {
      {{0}, {1}, {1}, {0, 0, 0, 0, 0}, {1, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
      {{1}, {2}, {1}, {0, 0, 0, 0, 1}, {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{-1}, {0}, {1}, {0, 0, 0, 0, 1}, {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{0, 0, 0}, {2, 3, 4}, {1, 2, 3}, {0, 0, 0, 0, 0}, {2, 2, 2}, {0, 3, 8, 11, 12, 15, 20, 23}},
      {{0, -1, 3}, {2, -4, 0}, {1, -1, -2}, {0, 0, 0, 0, 0}, {2, 3, 2}, {11, 9, 7, 5, 3, 1, 23, 21, 19, 17, 15, 13}},
      {{0, 0}, {0, 2}, {1, 1}, {0, 0, 1, 0, 0}, {2, 3, 2}, {0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21}},
      {{0, 1}, {0, 0}, {1, 1}, {0, 0, 1, 0, 2}, {2, 3}, {1, 5, 9, 13, 17, 21}},
      {{0, 0, 0}, {0, 0, 0}, {1, 1, 1}, {0, 0, 2, 1, 0}, {1, 2, 3, 0}, {}},
      {{1, 0, 0, 2}, {2, 0, 0, 3}, {1, 1, 1, 1}, {0, 0, 4, 2, 9}, {1, 3}, {14, 18, 22}},
      {{5, -9}, {9, 9}, {1, 2}, {0, 0, 0, 0, 0}, {0, 2, 4}, {}},
      {{1, 2}, {0, 0}, {-1, -1}, {0, 3, 0, 0, 0}, {2, 3, 4}, {20, 21, 22, 23, 16, 17, 18, 19, 12, 13, 14, 15,
                                                              8,  9,  10, 11, 4,  5,  6,  7,  0,  1,  2,  3}},
      {{0, 0, 0}, {0, 0, 0}, {-1, 1, -2}, {7, 7, 0, 0, 0}, {2, 3, 2}, {15, 13, 19, 17, 23, 21, 3, 1, 7, 5, 11, 9}},
      {{0, 0, 1}, {0, 0, 3}, {1, 1, 1}, {3, 3, 0, 0, 0}, {2, 3, 2}, {1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22}},
      {{1, 1, 1}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0, 0, 7}, {}, {17}},
      {{0, 2}, {2, 1}, {1, 1}, {0, 0, 0, 0, 0}, {2, 0, 4}, {}},
      {{0, 0, 0, 0}, {1, 1, 0, 4}, {1, 1, 1, 3}, {0, 0, 0, 4, 0}, {1, 1, 1, 2}, {0, 3}},
  };
  return cases;
}

AttrMap attrs_of(const StridedSliceOptions& masks) {
  return {{"begin_mask", masks.begin_mask},
          {"end_mask", masks.end_mask},
          {"ellipsis_mask", masks.ellipsis_mask},
          {"new_axis_mask", masks.new_axis_mask},
          {"shrink_axis_mask", masks.shrink_axis_mask}};
}

TEST(StridedSlice, GivesTensorFlowsElements) {
  for (const Case& c : recorded()) {
    SCOPED_TRACE(&c - recorded().data());
    check_op({.op = "StridedSlice",
              .inputs = {ramp({2, 3, 4}, 0), c.begin, c.end, c.strides},
              .attrs = attrs_of(c.masks),
              .outputs = {Tensor(c.values).reshaped(c.shape)}});
  }
}

TEST(StridedSliceGrad, PutsElementsBackWhereTheyWere) {
  for (const Case& c : recorded()) {
    SCOPED_TRACE(&c - recorded().data());
    Tensor dy = ramp(c.shape, 1), expected = zeros({2, 3, 4});
    for (int64_t i = 0; i < dy.elements(); ++i) {
      auto at = static_cast<size_t>(c.values[static_cast<size_t>(i)]);
      expected.mutable_data<double>()[at] = dy.data<double>()[static_cast<size_t>(i)];
    }
    check_op({.op = "StridedSliceGrad",
              .inputs = {{2, 3, 4}, c.begin, c.end, c.strides, dy},
              .attrs = attrs_of(c.masks),
              .outputs = {expected}});
  }
}

TEST(StridedSlice, RejectsWhatNumpyWould) {
  check_op({.op = "StridedSlice",
            .inputs = {ramp({3}), {0}, {2}, {1}},
            .outputs = {ramp({2})},
            .bad = {{.inputs = {ramp({3}), {0}, {2}, {0}}, .message = "strides[0] must be non-zero"},
                    {.inputs = {ramp({3}), {3}, {4}, {1}},
                     .attrs = {{"shrink_axis_mask", int64_t{1}}},
                     .message = "slice index 3 of dimension 0 out of bounds"},
                    {.inputs = {ramp({3}), {0, 0}, {1, 1}, {1, 1}}, .message = "2 dimensions are indexed"},
                    {.inputs = {ramp({3}), {0, 0}, {1, 1}, {1, 1}},
                     .attrs = {{"ellipsis_mask", int64_t{3}}},
                     .message = "Multiple ellipses"},
                    {.inputs = {ramp({3}), {0}, {1, 1}, {1}}, .message = "equal lengths"}}});
}

TEST(StridedSlice, KnowsSizesThatDoNotDependOnValues) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 5, 7}), i = g.placeholder(int32, Shape{});
  EXPECT_EQ(subscript(x, {i}).shape().str(), "[5,7]");
  EXPECT_EQ(subscript(x, {kAll, i, between(1, 6, 2)}).shape().str(), "[?,?]");
  EXPECT_EQ(subscript(x, {kAll, between(i, 4)}).shape().str(), "[?,?,7]");
  EXPECT_EQ(subscript(x, {kEllipsis, kNewAxis}).shape().str(), "[?,5,7,1]");
  EXPECT_EQ(subscript(x, {}).shape().str(), "[?,5,7]");
}

TEST(Subscript, ReadsLikeBrackets) {
  Graph g;
  Output x = g.constant(Tensor(std::vector<float>{0, 1, 2, 3, 4, 5}).reshaped({2, 3}));
  Output one = g.constant(1, int32), wide = g.constant(1, int64);
  Tensors values = interpret({subscript(x, {1}), subscript(x, {kAll, -1}), subscript(x, {one, from(1)}),
                              subscript(x, {kNewAxis, 0, until(2)}), subscript(x, {kEllipsis, between(2, -4, -1)}),
                              subscript(x, {wide, wide})});
  expect_same(values[0], Tensor(std::vector<float>{3, 4, 5}));
  expect_same(values[1], Tensor(std::vector<float>{2, 5}));
  expect_same(values[2], Tensor(std::vector<float>{4, 5}));
  expect_same(values[3], Tensor::from<float>({0, 1}, {1, 2}));
  expect_same(values[4], Tensor::from<float>({2, 1, 0, 5, 4, 3}, {2, 3}));
  expect_same(values[5], Tensor(4.f));
}

}  // namespace
}  // namespace weir::testing
