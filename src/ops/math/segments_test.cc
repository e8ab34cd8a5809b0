#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

TEST(SegmentOps, ReduceRowsWithSortedIds) {
  check_op(
      {.op = "SegmentMean", .inputs = {{{1, 2}, {3, 6}, {5, 7}}, {0, 0, 2}}, .outputs = {{{2, 4}, {0, 0}, {5, 7}}}});
  check_op(
      {.op = "SegmentMax", .inputs = {{{1, 6}, {3, 2}, {5, 7}}, {0, 0, 2}}, .outputs = {{{3, 6}, {0, 0}, {5, 7}}}});
  check_op({.op = "SegmentMin", .inputs = {{{1, 6}, {3, 2}, {5, 7}}, {0, 0, 1}}, .outputs = {{{1, 2}, {5, 7}}}});
  check_op(
      {.op = "SegmentProd", .inputs = {{{1, 6}, {3, 2}, {5, 7}}, {0, 0, 2}}, .outputs = {{{3, 12}, {1, 1}, {5, 7}}}});
}

TEST(UnsortedSegmentOps, ReduceRowsAndDropNegativeIds) {
  check_op({.op = "UnsortedSegmentMax",
            .inputs = {{{1, 6}, {3, 2}, {5, 7}}, {1, 0, 1}, 2},
            .outputs = {{{3, 2}, {5, 7}}},
            .gradient_inputs = {0},
            .unknown_shapes = false,
            .bad = {{.inputs = {ramp({2, 2}), {0, 2}, 2}, .message = "out of range"}}});
  check_op({.op = "UnsortedSegmentMin",
            .inputs = {{{1, 6}, {3, 2}, {5, 7}}, {0, 0, -1}, 1},
            .outputs = {{{1, 2}}},
            .unknown_shapes = false});
  check_op({.op = "UnsortedSegmentProd",
            .inputs = {{1, 6, 3, 9}, {2, 2, 0, -1}, 3},
            .outputs = {{3, 1, 6}},
            .gradient_inputs = {0},
            .unknown_shapes = false});
  // Zeros: one in a segment, and two.
  check_op({.op = "UnsortedSegmentProd",
            .inputs = {{{2, 0}, {0, 0}, {5, 4}}, {0, 0, 0}, 1},
            .outputs = {{{0, 0}}},
            .gradient_inputs = {0},
            .unknown_shapes = false});
}

TEST(UnsortedSegmentOps, GiveTheLargestFiniteNumberForNothing) {
  check_op({.op = "UnsortedSegmentMax",
            .inputs = {{1}, {0}, 2},
            .outputs = {{1.0, -65504.0}},
            .types = {float16},
            .gradient = false});
  check_op({.op = "UnsortedSegmentMin",
            .inputs = {{1}, {0}, 2},
            .outputs = {{1.0, 3.3895313892515355e38}},
            .types = {bfloat16},
            .gradient = false});
}

TEST(Bincount, CountsOrAddsWeights) {
  check_op({.op = "Bincount",
            .inputs = {{1, 2, 1, 5}, 4, zeros({0})},
            .outputs = {{0, 2, 1, 0}},
            .bad = {{.inputs = {{-1}, 4, zeros({0})}, .message = "non-negative"}}});
  check_op({.op = "Bincount", .inputs = {{1, 2, 1}, 3, {2, 3, 4}}, .outputs = {{0, 6, 3}}});
}

TEST(UniqueWithCounts, CountsInOrderOfAppearance) {
  check_op({.op = "UniqueWithCounts",
            .inputs = {{7, 2, 7, 7, 1, 2}},
            .outputs = {{7, 2, 1}, {0, 1, 0, 0, 2, 1}, {3, 2, 1}}});
}

TEST(SparseSegmentOps, ReduceChosenRows) {
  const In data = {{1, 2}, {3, 4}, {5, 6}};
  check_op({.op = "SparseSegmentSum",
            .inputs = {data, {2, 0, 0}, {0, 0, 2}},
            .outputs = {{{6, 8}, {0, 0}, {1, 2}}},
            .bad = {{.inputs = {ramp({2, 2}), {2}, {0}}, .message = "indices[0] == 2 out of range [0, 2)"},
                    {.inputs = {ramp({2, 2}), {-1}, {0}}, .message = "out of range"},
                    {.inputs = {ramp({2, 2}), {0, 1}, {1, 0}}, .message = "increasing"},
                    {.inputs = {ramp({2, 2}), {0, 1}, {-1, 0}}, .message = "Segment id -1"},
                    {.inputs = {ramp({2, 2}), {0}, {-1}}, .message = "segment ids must be >= 0"},
                    {.inputs = {ramp({2, 2}), {0, 1}, {0}}, .message = "[2]"},
                    {.inputs = {3, {0}, {0}}, .message = "rank"}}});
  const Tensor none = Tensor::zeros(int32, {0});
  check_op({.op = "SparseSegmentSum", .inputs = {ramp({3, 2}), none, none}, .outputs = {zeros({0, 2})}});
  check_op({.op = "SparseSegmentSum",
            .inputs = {ramp({2, 70}), {1, 1, 0}, {0, 0, 1}},  // rows of more than one block
            .reference = [](const Tensors& in) {
              Tensor sums(float64, {2, 70});
              for (int64_t k = 0; k < 70; ++k) {
                sums.mutable_data<double>()[k] = 2 * in[0].data<double>()[70 + k];
                sums.mutable_data<double>()[70 + k] = in[0].data<double>()[k];
              }
              return Tensors{sums};
            }});
  check_op({.op = "SparseSegmentMean", .inputs = {data, {2, 0, 0}, {0, 0, 2}}, .outputs = {{{3, 4}, {0, 0}, {1, 2}}}});
  check_op({.op = "SparseSegmentSqrtN", .inputs = {data, {0, 1, 2, 2}, {0, 0, 0, 0}}, .outputs = {{{7, 9}}}});
  check_op({.op = "SparseSegmentMeanGrad",
            .inputs = {{{2, 4}, {1, 1}}, {2, 0, 0}, {0, 0, 1}, 4},
            .outputs = {{{2, 3}, {0, 0}, {1, 2}, {0, 0}}},
            .bad = {{.inputs = {ramp({1, 2}), {0}, {1}, 3}, .message = "Invalid number of segments"},
                    {.inputs = {ramp({1, 2}), {3}, {0}, 3}, .message = "Index 3 out of range [0, 3)"},
                    {.inputs = {ramp({1, 2}), {0}, {0}, -1}, .message = "output_dim0 is -1"}}});
  check_op({.op = "SparseSegmentSqrtNGrad",
            .inputs = {{{2, 4}}, {0, 0, 1, 1}, {0, 0, 0, 0}, 2},
            .outputs = {{{2, 4}, {2, 4}}}});
}

TEST(SparseSegmentOps, GiveAsManySegmentsAsTheyAreTold) {
  const In data = {{1, 2}, {3, 4}, {5, 6}};
  check_op({.op = "SparseSegmentSumWithNumSegments",
            .inputs = {data, {2, 0, 0}, {0, 0, 2}, 4},
            .outputs = {{{6, 8}, {0, 0}, {1, 2}, {0, 0}}},
            .bad = {{.inputs = {ramp({2, 2}), {1}, {3}, 3}, .message = "segment ids must be < num_segments"},
                    {.inputs = {ramp({2, 2}), {1}, {0}, -1},
                     .message = "Cannot specify a negative value for num_segments"}}});
  check_op({.op = "SparseSegmentMeanWithNumSegments",
            .inputs = {data, {2, 0, 0}, {1, 1, 2}, 3},
            .outputs = {{{0, 0}, {3, 4}, {1, 2}}}});
  check_op({.op = "SparseSegmentSqrtNWithNumSegments",
            .inputs = {data, {0, 1, 2, 2}, {0, 0, 0, 0}, 1},
            .outputs = {{{7, 9}}}});
}

TEST(SparseTensorDenseMatMul, IsTheProductOfTheDenseMatrices) {
  const In indices = {{0, 1}, {1, 0}, {1, 2}}, values = {2, 3, 4};
  auto adjoint = [](const char* name) { return AttrMap{{name, true}}; };
  check_op({.op = "SparseTensorDenseMatMul",
            .inputs = {indices, values, {2, 3}, {{1, 2}, {3, 4}, {5, 6}}},
            .outputs = {{{6, 8}, {23, 30}}},
            .gradient_inputs = {1, 3},
            .bad = {{.inputs = {{{2, 0}}, {1}, {2, 3}, ramp({3, 2})}, .message = "out of bounds"},
                    {.inputs = {{{0, 3}}, {1}, {2, 3}, ramp({3, 2})}, .message = "out of bounds"},
                    {.inputs = {{{0, -1}}, {1}, {2, 3}, ramp({3, 2})}, .message = "out of bounds"},
                    {.inputs = {{{0, 1}}, {1}, {2, 4}, ramp({3, 2})}, .message = "inner dimensions differ"},
                    {.inputs = {{{0, 1}}, {1}, {2, 3, 1}, ramp({3, 2})}, .message = "2 elements"},
                    {.inputs = {{{0, 1}}, {1}, {-1, 3}, ramp({3, 2})}, .message = "-1"},
                    {.inputs = {{{0, 1}}, {1, 2}, {2, 3}, ramp({3, 2})},
                     .message = "values of shape [2] at indices of shape [1,2]"},
                    {.inputs = {{{0, 1, 0}}, {1}, {2, 3}, ramp({3, 2})},
                     .message = "values of shape [1] at indices of shape [1,3]"}}});
  check_op({.op = "SparseTensorDenseMatMul",
            .inputs = {Tensor::zeros(int64, {0, 2}), zeros({0}), {2, 3}, ramp({3, 2})},
            .outputs = {zeros({2, 2})},
            .gradient_inputs = {1, 3}});
  check_op({.op = "SparseTensorDenseMatMul",
            .inputs = {indices, values, {2, 3}, {{1, 3}, {2, 4}}},
            .attrs = adjoint("adjoint_a"),
            .outputs = {{{6, 12}, {2, 6}, {8, 16}}},
            .gradient_inputs = {1, 3}});
  check_op({.op = "SparseTensorDenseMatMul",
            .inputs = {indices, values, {2, 3}, {{1, 3, 5}, {2, 4, 6}}},
            .attrs = adjoint("adjoint_b"),
            .outputs = {{{6, 8}, {23, 30}}},
            .gradient_inputs = {1, 3}});
}

}  // namespace
}  // namespace weir::testing
