#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(UnsortedSegmentSum, SumsRowsOfEqualIds) {
  check_op({.op = "UnsortedSegmentSum",
            .inputs = {{{1, 2}, {3, 4}, {5, 6}}, {2, 0, 2}, 4},
            .outputs = {{{3, 4}, {0, 0}, {6, 8}, {0, 0}}}});
  check_op({.op = "UnsortedSegmentSum", .inputs = {{{1, 2}, {3, 4}}, {{1, 1}, {-1, 0}}, 2}, .outputs = {{4, 3}}});
  check_op({.op = "UnsortedSegmentSum",
            .inputs = {{1, 2}, {0, -1}, 1},
            .outputs = {{1}},
            .bad = {{.inputs = {{1, 2}, {0, 3}, 2}, .message = "segment_ids[1] = 3 is out of range [0, 2)"},
                    {.inputs = {{1, 2}, {0, 1, 1}, 2}, .message = "must begin with that of segment_ids"}}});
}

TEST(UnsortedSegmentSum, GivesTheSameBitsForManyThreads) {
  constexpr int kRows = 900, kWidth = 64, kSegments = 37;
  Tensor data = scattered({kRows, kWidth}), ids(int32, {kRows});
  for (int i = 0; i < kRows; ++i) ids.mutable_data<int32_t>()[i] = (i * 7919) % (kSegments + 1) - 1;
  check_op({.op = "UnsortedSegmentSum",
            .inputs = {data, ids, kSegments},
            .reference =
                [&](const Tensors& in) {
                  Tensor sums = zeros({kSegments, kWidth});
                  for (int i = 0; i < kRows; ++i) {
                    int id = ids.data<int32_t>()[static_cast<size_t>(i)];
                    for (int k = 0; id >= 0 && k < kWidth; ++k) {
                      sums.mutable_data<double>()[id * kWidth + k] +=
                          in[0].data<double>()[static_cast<size_t>(i * kWidth + k)];
                    }
                  }
                  return Tensors{sums};
                },
            .types = {float32, float64},
            .gradient = false});
}

TEST(DynamicStitch, PutsRowsWhereTheyBelong) {
  check_op(
      {.op = "DynamicStitch",
       .inputs =
           {6, {4, 1}, {{5, 2}, {0, 3}}, {61, 62}, {{41, 42}, {11, 12}}, {{{51, 52}, {21, 22}}, {{1, 2}, {31, 32}}}},
       .attrs = {{"N", int64_t{3}}},
       .outputs = {{{1, 2}, {11, 12}, {21, 22}, {31, 32}, {41, 42}, {51, 52}, {61, 62}}}});
  check_op({.op = "DynamicStitch",
            .inputs = {{0, 1}, {1, 0}, {1, 2}, {3, 4}},
            .attrs = {{"N", int64_t{2}}},
            .outputs = {{4, 3}},
            .gradient = false,  // rows that are written over get a gradient too, as in TensorFlow
            .bad = {{.inputs = {{0}, {-1}, {1}, {1}}, .message = "indices[1] holds -1"},
                    {.inputs = {{0, 1}, {0}, {1}, {1}}, .message = "must begin with that of indices[0]"},
                    {.inputs = {{0}, {1}, {1}, {{2, 3}}}, .message = "rows of data[1] have shape [2]"}}});
}

TEST(DynamicPartition, SortsRowsIntoOutputs) {
  check_op({.op = "DynamicPartition",
            .inputs = {{{1, 2}, {3, 4}, {5, 6}}, {1, 0, 1}},
            .attrs = {{"num_partitions", int64_t{3}}},
            .outputs = {{{3, 4}}, {{1, 2}, {5, 6}}, zeros({0, 2})},
            .bad = {{.inputs = {{1, 2}, {0, 3}}, .message = "partitions[1] = 3 is not in [0, 3)"},
                    {.inputs = {{1, 2}, {0, -1}}, .message = "partitions[1] = -1"},
                    {.inputs = {{1, 2}, {0}}, .message = "must begin with that of partitions"}}});
}

TEST(OneHot, SetsOneElementOfEachRow) {
  check_op(
      {.op = "OneHot", .inputs = {{0, 2, -1, 3}, 3, 5, 1}, .outputs = {{{5, 1, 1}, {1, 1, 5}, {1, 1, 1}, {1, 1, 1}}}});
  check_op({.op = "OneHot",
            .inputs = {Tensor(std::vector<uint8_t>{0, 2}), 3, 1, 0},
            .attrs = {{"axis", int64_t{0}}},
            .outputs = {{{1, 0}, {0, 0}, {0, 1}}}});
  check_op({.op = "OneHot",
            .inputs = {{{1}, {0}}, 2, 1, 0},
            .attrs = {{"axis", int64_t{1}}},
            .outputs = {{{{0}, {1}}, {{1}, {0}}}},
            .bad = {{.inputs = {{0}, -1, 1, 0}, .message = "depth must be non-negative"},
                    {.inputs = {{0}, 2, 1, 0}, .attrs = {{"axis", int64_t{2}}}, .message = "axis 2"}}});
  Graph g;
  Output ids = g.placeholder(int64, {kUnknown});
  EXPECT_EQ(one_hot(ids, 10).shape().str(), "[?,10]");
  EXPECT_EQ(one_hot(ids, 10).dtype(), float32);
  EXPECT_EQ(one_hot(ids, 10, {.dtype = uint8}).dtype(), uint8);
}

TEST(Where, ListsCoordinatesInOrder) {
  check_op({.op = "Where", .inputs = {{{0, 1, 0}, {1, 0, 1}}}, .outputs = {{{0, 1}, {1, 0}, {1, 2}}}});
  check_op({.op = "Where", .inputs = {zeros({3})}, .outputs = {zeros({0, 1})}});
  check_op({.op = "Where", .inputs = {1}, .outputs = {zeros({1, 0})}});
}

}  // namespace
}  // namespace weir::testing
