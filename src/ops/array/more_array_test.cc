#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(BroadcastArgs, IsTheShapeOfBoth) {
  check_op({.op = "BroadcastArgs",
            .inputs = {{2, 1, 3}, {4, 3}},
            .outputs = {{2, 4, 3}},
            .bad = {{.inputs = {{2}, {3}}, .message = "Incompatible shapes"}}});
}

TEST(ConjugateTranspose, ConjugatesComplexNumbers) {
  check_op({.op = "ConjugateTranspose", .inputs = {{{1, 2}, {3, 4}}, {1, 0}}, .outputs = {{{1, 3}, {2, 4}}}});
  Graph g;
  Output x = g.constant(Tensor::from<std::complex<float>>({{1, 2}, {3, 4}}, {1, 2}));
  Output y = NodeBuilder("ConjugateTranspose").input(x).input(Tensor(std::vector<int32_t>{1, 0})).output();
  expect_near(Session(g).run(y), Tensor::from<std::complex<float>>({{1, -2}, {3, -4}}, {2, 1}), 0);
}

TEST(Reverse, TakesATruthValueForEachDimension) {
  check_op({.op = "Reverse",
            .inputs = {{{1, 2}, {3, 4}}, {false, true}},
            .outputs = {{{2, 1}, {4, 3}}},
            .bad = {{.inputs = {{1, 2}, {true, true}}, .message = "rank"}}});
}

TEST(SpaceToBatch, MovesSquareBlocks) {
  const Tensor space = ramp({1, 2, 2, 1}), batch = ramp({4, 1, 1, 1}),
               none = Tensor::from<int32_t>({0, 0, 0, 0}, {2, 2});
  check_op({.op = "SpaceToBatch",
            .inputs = {space, none},
            .attrs = {{"block_size", 2}},
            .outputs = {batch},
            .bad = {{.inputs = {ramp({1, 3, 2, 1}), none}, .message = "not divisible"}}});
  check_op({.op = "BatchToSpace", .inputs = {batch, none}, .attrs = {{"block_size", 2}}, .outputs = {space}});
}

TEST(ParallelConcat, StacksRows) {
  check_op({.op = "ParallelConcat",
            .inputs = {{{1, 2}}, {{3, 4}}},
            .attrs = {{"N", 2}, {"shape", Shape{2, 2}}},
            .outputs = {{{1, 2}, {3, 4}}},
            .bad = {{.inputs = {{{1}}, {{3}}}, .message = "must be equal to"}}});
}

TEST(Copies, GiveTheTensorOn) {
  check_op({.op = "DeepCopy", .inputs = {{1, 2}}, .outputs = {{1, 2}}});
  check_op({.op = "Snapshot", .inputs = {{1, 2}}, .outputs = {{1, 2}}});
  check_op({.op = "GuaranteeConst", .inputs = {{1, 2}}, .outputs = {{1, 2}}});
  check_op({.op = "Empty", .inputs = {{2, 1}}, .attrs = {{"dtype", float32}}, .outputs = {{{0}, {0}}}});
}

TEST(PlaceholderV2, IsFed) {
  Graph g;
  Output x = NodeBuilder("PlaceholderV2").graph(g).attr("dtype", float32).attr("shape", Shape{2}).output();
  EXPECT_EQ(x.shape(), Shape{2});
  expect_near(Session(g).run(x + 1.0f, {{x, Tensor(std::vector<float>{1, 2})}}), Tensor(std::vector<float>{2, 3}), 0);
}

TEST(Inplace, SetsAndAddsRows) {
  check_op({.op = "InplaceUpdate",
            .inputs = {{{1, 1}, {2, 2}}, {1}, {{5, 6}}},
            .outputs = {{{1, 1}, {5, 6}}},
            .bad = {{.inputs = {{{1, 1}}, {0, 0}, {{5, 6}}}, .message = "index 0"}}});
  check_op({.op = "InplaceAdd", .inputs = {{1, 2, 3}, {0, 0}, {5, 6}}, .outputs = {{12, 2, 3}}});
  check_op({.op = "InplaceSub", .inputs = {{10, 20, 30}, {-1}, {5}}, .outputs = {{10, 20, 25}}});
}

TEST(UnravelIndex, GivesCoordinates) {
  check_op({.op = "UnravelIndex",
            .inputs = {{2, 5, 7}, {3, 3}},
            .outputs = {{{0, 1, 2}, {2, 2, 1}}},
            .type_attr = "Tidx",
            .bad = {{.inputs = {{9}, {3, 3}}, .message = "out of bound"},
                    {.inputs = {{0}, {3, 0}}, .message = "cannot contain a dim of zero"}}});
}

TEST(UniqueV2, FindsDistinctSlices) {
  check_op({.op = "UniqueV2", .inputs = {{{1, 0}, {1, 0}, {2, 0}}, {0}}, .outputs = {{{1, 0}, {2, 0}}, {0, 0, 1}}});
  check_op({.op = "UniqueWithCountsV2",
            .inputs = {{4, 4, 7}, Tensor(std::vector<int64_t>{})},
            .outputs = {{4, 7}, {0, 0, 1}, {2, 1}},
            .bad = {{.inputs = {{{1, 2}}, Tensor(std::vector<int64_t>{})}, .message = "1D vector"}}});
}

TEST(TileGrad, SumsTheCopies) {
  check_op({.op = "TileGrad",
            .inputs = {{1, 2, 10, 20}, {2}},
            .outputs = {{11, 22}},
            .bad = {{.inputs = {{1, 2, 3}, {2}}, .message = "divisible"}}});
}

TEST(CompareAndBitpack, PutsTheFirstAnswerFirst) {
  check_op({.op = "CompareAndBitpack",
            .inputs = {{1, 0, 0, 0, 0, 0, 1, 1}, 0.5},
            .outputs = {{131}},
            .types = {},
            .bad = {{.inputs = {{1, 2, 3}, 0}, .message = "divisible by 8"}}});
}

TEST(StridedSliceAssign, WritesIntoASlice) {
  check_op({.op = "TensorStridedSliceUpdate",
            .inputs = {{1, 2, 3, 4, 5}, {1}, {4}, {2}, {20, 40}},
            .outputs = {{1, 20, 3, 40, 5}},
            .bad = {{.inputs = {{1, 2, 3}, {0}, {2}, {1}, {7, 8, 9}}, .message = "Assign requires shapes to match"}}});
  for (bool resource : {false, true}) {
    Graph g;
    Variable v = g.variable("v", Tensor(std::vector<float>{1, 2, 3}), {.use_resource = resource});
    Operation assign = NodeBuilder(resource ? "ResourceStridedSliceAssign" : "StridedSliceAssign")
                           .input(v.handle())
                           .input(Tensor(std::vector<int32_t>{1}))
                           .input(Tensor(std::vector<int32_t>{2}))
                           .input(Tensor(std::vector<int32_t>{1}))
                           .input(Tensor(std::vector<float>{9}))
                           .build();
    Session session(g);
    session.run(g.global_variables_initializer());
    session.run(assign);
    expect_near(session.run(v.value()), Tensor(std::vector<float>{1, 9, 3}), 0);
  }
}

TEST(ResourceGatherNd, ReadsSlicesOfAVariable) {
  Graph g;
  Variable v = g.variable("v", Tensor::from<float>({1, 2, 3, 4}, {2, 2}), {.use_resource = true});
  auto gather = [&](const In& indices) {
    return NodeBuilder("ResourceGatherNd").input(v.handle()).input(indices).attr("dtype", float32).output();
  };
  Session session(g);
  session.run(g.global_variables_initializer());
  expect_near(session.run(gather({{1}})), Tensor::from<float>({3, 4}, {1, 2}), 0);
  expect_near(session.run(gather({{1, 0}, {0, 1}})), Tensor(std::vector<float>{3, 2}), 0);
  Output wrong = gather({{2}});
  expect_error([&] { session.run(wrong); }, Code::InvalidArgument, "");
}

TEST(ExtractVolumePatches, TakesBoxes) {
  check_op({.op = "ExtractVolumePatches",
            .inputs = {ramp({1, 1, 2, 2, 1})},
            .attrs = {{"ksizes", std::vector<int64_t>{1, 1, 2, 1, 1}},
                      {"strides", std::vector<int64_t>{1, 1, 1, 1, 1}},
                      {"padding", "VALID"}},
            .outputs = {{{{{{1, 3}, {2, 4}}}}}}});
}

TEST(MatrixDiagV2, BuildsAndReadsBands) {
  check_op({.op = "MatrixDiagV2",
            .inputs = {{1, 2}, 1, -1, -1, 9},
            .outputs = {{{9, 1, 9}, {9, 9, 2}, {9, 9, 9}}},
            .gradient_inputs = {0},
            .bad = {{.inputs = {{1, 2}, {1, 0}, -1, -1, 0}, .message = "must not be larger"}}});
  check_op({.op = "MatrixDiagPartV2",
            .inputs = {{{1, 2, 3}, {4, 5, 6}}, {-1, 1}, 0},
            .outputs = {{{2, 6}, {1, 5}, {4, 0}}},
            .gradient_inputs = {0},
            .bad = {{.inputs = {{{1, 2}, {3, 4}}, 2, 0}, .message = "out of bound"}}});
  check_op(
      {.op = "MatrixSetDiagV2",
       .inputs = {{{1, 2}, {3, 4}}, {7}, -1},
       .outputs = {{{1, 2}, {7, 4}}},
       .bad = {{.inputs = {{{1, 2}, {3, 4}}, {7}, {-9, 9}}, .message = "out of bound"},
               {.inputs = {{{1, 2}, {3, 4}}, {7}, {-1, 0}}, .message = "the diagonals of [2,2] have shape [2,2]"}}});
}

}  // namespace
}  // namespace weir
