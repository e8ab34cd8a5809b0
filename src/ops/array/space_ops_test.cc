#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/index_ops.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/space_ops.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(SpaceToBatchNd, MakesBatchesOfPlacesInBlocks) {
  check_op({.op = "SpaceToBatchND",
            .inputs = {ramp({1, 2, 2, 1}), {2, 2}, {{0, 0}, {0, 0}}},
            .outputs = {{{{{1}}}, {{{2}}}, {{{3}}}, {{{4}}}}},
            .bad = {{.inputs = {ramp({1, 3, 2, 1}), {2, 2}, {{0, 0}, {0, 0}}}, .message = "not divisible"},
                    {.inputs = {ramp({1, 2, 2, 1}), {2, 0}, {{0, 0}, {0, 0}}}, .message = "not positive"}}});
  check_op({.op = "SpaceToBatchND",
            .inputs = {ramp({2, 3}), {2}, {{1, 2}}},
            .outputs = {{{0, 2, 0}, {0, 5, 0}, {1, 3, 0}, {4, 6, 0}}}});
  check_op({.op = "SpaceToBatchND", .inputs = {zeros({0, 4}), {2}, {{0, 0}}}, .outputs = {zeros({0, 2})}});
}

TEST(BatchToSpaceNd, IsTheInverse) {
  check_op({.op = "BatchToSpaceND",
            .inputs = {Tensor::from<double>({0, 2, 0, 0, 5, 0, 1, 3, 0, 4, 6, 0}, {4, 3}), {2}, {{1, 2}}},
            .outputs = {{{1, 2, 3}, {4, 5, 6}}},
            .bad = {{.inputs = {ramp({3, 2}), {2}, {{0, 0}}}, .message = "not divisible"}}});
}

TEST(SpaceToDepth, MovesBlocksIntoChannelsAndBack) {
  check_op({.op = "SpaceToDepth",
            .inputs = {ramp({1, 2, 2, 1})},
            .attrs = {{"block_size", int64_t{2}}},
            .outputs = {{{{{1, 2, 3, 4}}}}},
            .bad = {{.inputs = {ramp({1, 3, 2, 1})}, .message = "not divisible"}}});
  check_op({.op = "DepthToSpace",
            .inputs = {ramp({1, 1, 1, 8})},
            .attrs = {{"block_size", int64_t{2}}},
            .outputs = {{{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}}}});
  check_op({.op = "SpaceToDepth",
            .inputs = {ramp({1, 2, 2, 2})},
            .attrs = {{"block_size", int64_t{2}}, {"data_format", std::string("NCHW")}},
            .outputs = {{{{{1}}, {{5}}, {{2}}, {{6}}, {{3}}, {{7}}, {{4}}, {{8}}}}},
            .unknown_shapes = true});
}

TEST(MirrorPad, ReflectsWithAndWithoutTheBorder) {
  check_op({.op = "MirrorPad",
            .inputs = {{1, 2, 3}, {{2, 1}}},
            .attrs = {{"mode", std::string("REFLECT")}},
            .outputs = {{3, 2, 1, 2, 3, 2}},
            .bad = {{.inputs = {{1, 2, 3}, {{3, 1}}}, .message = "padding 3"}}});
  check_op({.op = "MirrorPad",
            .inputs = {ramp({2, 2}), {{1, 1}, {2, 0}}},
            .attrs = {{"mode", std::string("SYMMETRIC")}},
            .outputs = {{{2, 1, 1, 2}, {2, 1, 1, 2}, {4, 3, 3, 4}, {4, 3, 3, 4}}}});
  check_op({.op = "MirrorPadGrad",
            .inputs = {{1, 2, 3, 4, 5, 6}, {{2, 1}}},
            .attrs = {{"mode", std::string("REFLECT")}},
            .outputs = {{3, 2 + 4 + 6, 1 + 5}}});
}

// Padding rows, then columns, of images with channels is the same as doing one after the other.
TEST(MirrorPad, PadsInnerDimensionsOfABatch) {
  check_op({.op = "MirrorPad",
            .inputs = {ramp({2, 2, 1, 2}), {{0, 0}, {1, 1}, {0, 0}, {0, 0}}},
            .attrs = {{"mode", std::string("REFLECT")}},
            .outputs = {{{{{3, 4}}, {{1, 2}}, {{3, 4}}, {{1, 2}}}, {{{7, 8}}, {{5, 6}}, {{7, 8}}, {{5, 6}}}}}});
  check_op({.op = "MirrorPad",
            .inputs = {ramp({1, 2, 2, 1}), {{0, 0}, {1, 0}, {0, 1}, {0, 0}}},
            .attrs = {{"mode", std::string("REFLECT")}},
            .outputs = {{{{{3}, {4}, {3}}, {{1}, {2}, {1}}, {{3}, {4}, {3}}}}}});
  check_op({.op = "MirrorPadGrad",
            .inputs = {ramp({2, 3, 2}), {{0, 0}, {1, 0}, {0, 0}}},
            .attrs = {{"mode", std::string("SYMMETRIC")}},
            .outputs = {{{{1 + 3, 2 + 4}, {5, 6}}, {{7 + 9, 8 + 10}, {11, 12}}}}});
}

TEST(ReverseSequence, TurnsTheBeginningOfEachRow) {
  check_op({.op = "ReverseSequence",
            .inputs = {ramp({2, 4}), {3, 0}},
            .attrs = {{"seq_dim", int64_t{1}}},
            .outputs = {{{3, 2, 1, 4}, {5, 6, 7, 8}}},
            .bad = {{.inputs = {ramp({2, 4}), {5, 0}}, .message = "seq_lens(0) > input.dims(seq_dim): 5 > 4"}}});
  check_op({.op = "ReverseSequence",
            .inputs = {ramp({3, 2, 2}), {2, 3}},
            .attrs = {{"seq_dim", int64_t{0}}, {"batch_dim", int64_t{1}}},
            .outputs = {{{{5, 6}, {11, 12}}, {{1, 2}, {7, 8}}, {{9, 10}, {3, 4}}}}});
}

TEST(SparseToDense, PutsValuesAtCoordinates) {
  check_op({.op = "SparseToDense",
            .inputs = {{{0, 1}, {1, 0}}, {2, 3}, {5, 6}, 9},
            .outputs = {{{9, 5, 9}, {6, 9, 9}}},
            .gradient = false,
            .bad = {{.inputs = {{{0, 1}, {2, 0}}, {2, 3}, {5, 6}, 9}, .message = "out of bounds"},
                    {.inputs = {{{1, 0}, {0, 1}}, {2, 3}, {5, 6}, 9}, .message = "out of order"}}});
  check_op({.op = "SparseToDense", .inputs = {{1, 3}, {4}, 7, 0}, .outputs = {{0, 7, 0, 7}}, .gradient = false});
}

TEST(ListDiff, KeepsWhatIsNotInTheOther) {
  check_op({.op = "ListDiff", .inputs = {{1, 2, 3, 4, 5, 6}, {1, 3, 5}}, .outputs = {{2, 4, 6}, {1, 3, 5}}});
}

TEST(LinSpace, IsEvenlySpaced) {
  check_op({.op = "LinSpace",
            .inputs = {1, 2, 5},
            .outputs = {{1, 1.25, 1.5, 1.75, 2}},
            .bad = {{.inputs = {1, 2, 0}, .message = "num > 0"}}});
}

TEST(EnsureShape, ChecksAndTellsTheShape) {
  check_op({.op = "EnsureShape",
            .inputs = {ramp({2, 3})},
            .attrs = {{"shape", Shape{kUnknown, 3}}},
            .outputs = {ramp({2, 3})},
            .bad = {{.inputs = {ramp({2, 2})}, .message = "not compatible"}}});
}

TEST(ParallelDynamicStitch, MergesByIndex) {
  check_op({.op = "ParallelDynamicStitch",
            .inputs = {{2, 0}, {1}, {{5, 6}, {1, 2}}, {{3, 4}}},
            .attrs = {{"N", int64_t{2}}},
            .outputs = {{{1, 2}, {3, 4}, {5, 6}}},
            .gradient = false});
}

TEST(ResourceGather, ReadsRowsAndHasASparseGradient) {
  Graph g;
  Variable w = g.variable("w", {{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}, {.use_resource = true});
  Output ids = g.placeholder(int32, {kUnknown});
  Output rows = resource_gather(w, ids);
  EXPECT_EQ(rows.shape(), (Shape{kUnknown, 2}));
  Gradient grad = gradients({reduce_sum(rows * rows)}, {w.handle()})[0];
  ASSERT_TRUE(grad.sparse());
  Session session(g);
  session.run(g.global_variables_initializer());
  const Tensor two(std::vector<int32_t>{2, 0});
  expect_near(session.run(rows, {{ids, two}}), Tensor::from<float>({5, 6, 1, 2}, {2, 2}), 0);
  expect_near(session.run(grad.slices().values, {{ids, two}}), Tensor::from<float>({10, 12, 2, 4}, {2, 2}), 0);
  expect_error(
      [&] {
        session.run(rows, {{ids, Tensor(std::vector<int32_t>{3})}});
      },
      Code::InvalidArgument, "not in [0, 3)");
}

TEST(ResourceGather, GathersInBatches) {
  Graph g;
  Variable w = g.variable("w", {{{1.f, 2.f}, {3.f, 4.f}}, {{5.f, 6.f}, {7.f, 8.f}}}, {.use_resource = true});
  Output ids = g.constant(Tensor(std::vector<int32_t>{1, 0, 1, 0, 0, 0}).reshaped({2, 3}));
  auto gathered = [&](int64_t batch_dims) {
    return NodeBuilder("ResourceGather")
        .input(w.handle())
        .input(ids)
        .attr("dtype", float32)
        .attr("batch_dims", batch_dims)
        .output();
  };
  Output rows = gathered(1);
  EXPECT_EQ(rows.shape(), (Shape{2, 3, 2}));
  Session session(g);
  session.run(g.global_variables_initializer());
  expect_near(session.run(rows), Tensor::from<float>({3, 4, 1, 2, 3, 4, 5, 6, 5, 6, 5, 6}, {2, 3, 2}), 0);
  expect_error([&] { gathered(2); }, Code::InvalidArgument, "dimension 1 of the variable and the indices differ");
  expect_error([&] { gathered(-1); }, Code::InvalidArgument, "batch_dims is -1");
}

}  // namespace
}  // namespace weir
