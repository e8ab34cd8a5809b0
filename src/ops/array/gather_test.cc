#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(GatherV2, TakesSlicesAlongAnAxis) {
  check_op({.op = "GatherV2",
            .inputs = {{{1, 2}, {3, 4}, {5, 6}}, {2, 0, 2}, 0},
            .outputs = {{{5, 6}, {1, 2}, {5, 6}}},
            .type_attr = "Tparams",
            .constant_inputs = {2}});
  check_op({.op = "GatherV2",
            .inputs = {{{1, 2, 3}, {4, 5, 6}}, {{2, 0}, {1, 1}}, 1},
            .outputs = {{{{3, 1}, {2, 2}}, {{6, 4}, {5, 5}}}},
            .type_attr = "Tparams"});
  check_op(
      {.op = "GatherV2", .inputs = {ramp({2, 3, 2}), 1, -2}, .outputs = {{{3, 4}, {9, 10}}}, .type_attr = "Tparams"});
  check_op({.op = "GatherV2",
            .inputs = {ramp({2, 3}), Tensor(int64, Shape{0}), 0},
            .outputs = {zeros({0, 3})},
            .type_attr = "Tparams",
            .constant_inputs = {2}});
  check_op({.op = "GatherV2", .inputs = {{"a", "b"}, {1, 1}, 0}, .outputs = {{"b", "b"}}, .type_attr = "Tparams"});
}

TEST(GatherV2, TakesFromEachBatchItsOwn) {
  check_op({.op = "GatherV2",
            .inputs = {{{1, 2, 3}, {4, 5, 6}}, {{2, 0}, {1, 1}}, 1},
            .attrs = {{"batch_dims", int64_t{1}}},
            .outputs = {{{3, 1}, {5, 5}}},
            .type_attr = "Tparams",
            .gradient = false});
}

TEST(GatherV2, NamesTheIndexThatIsOutOfRange) {
  check_op({.op = "GatherV2",
            .inputs = {{1, 2, 3}, {0, 2}, 0},
            .outputs = {{1, 3}},
            .type_attr = "Tparams",
            .constant_inputs = {2},
            .bad = {{.inputs = {{1, 2, 3}, {0, 3}, 0}, .message = "indices[1] = 3 is not in [0, 3)"},
                    {.inputs = {{1, 2, 3}, {{0, 1}, {-1, 2}}, 0}, .message = "indices[1,0] = -1 is not in [0, 3)"},
                    {.inputs = {{1, 2, 3}, {0}, 1}, .message = "axis 1 is out of valid range"},
                    {.inputs = {1, {0}, 0}, .message = "at least 1-dim"}}});
}

TEST(GatherV2, HasASparseGradientForRows) {
  Graph g;
  Output params = g.placeholder(float32, {10, 4}), ids = g.placeholder(int32, {kUnknown, 2});
  Gradient rows = gradients({gather(params, ids)}, {params})[0];
  ASSERT_TRUE(rows.sparse());
  EXPECT_EQ(rows.slices().values.shape().str(), "[?,4]");
  EXPECT_EQ(rows.slices().indices.shape().str(), "[?]");
  EXPECT_TRUE(gradients({gather(params, {1, 1})}, {params})[0].sparse());
  EXPECT_FALSE(gradients({gather(params, {1, 1}, 1)}, {params})[0].sparse());
}

TEST(GatherV2, DifferentiatesThroughBatches) {
  Graph g;
  Output params = g.placeholder(float32, {2, 3, 2}), ids = g.constant({{2, 2}, {0, 1}}, int32);
  Output picked = NodeBuilder("GatherV2").input(params).input(ids).input(1).attr("batch_dims", int64_t{1}).output();
  Output grad = gradients({picked}, {params})[0].dense();
  Tensor x = Tensor::zeros(float32, {2, 3, 2});
  expect_same(interpret({grad}, {{params, x}})[0],
              Tensor::from<float>({0, 0, 0, 0, 2, 2, 1, 1, 1, 1, 0, 0}, {2, 3, 2}));
}

TEST(Gather, IsGatherV2OfRows) {
  check_op({.op = "Gather",
            .inputs = {{{1, 2}, {3, 4}, {5, 6}}, {{2}, {0}}},
            .outputs = {{{{5, 6}}, {{1, 2}}}},
            .type_attr = "Tparams",
            .bad = {{.inputs = {{1, 2, 3}, {7}}, .message = "indices[0] = 7 is not in [0, 3)"}}});
}

TEST(GatherNd, TakesSlicesAtCoordinates) {
  check_op(
      {.op = "GatherNd", .inputs = {{{1, 2}, {3, 4}}, {{0, 1}, {1, 0}}}, .outputs = {{2, 3}}, .type_attr = "Tparams"});
  check_op({.op = "GatherNd",
            .inputs = {{{1, 2}, {3, 4}}, {{1}, {0}, {1}}},
            .outputs = {{{3, 4}, {1, 2}, {3, 4}}},
            .type_attr = "Tparams"});
  check_op(
      {.op = "GatherNd",
       .inputs = {ramp({2, 2}), Tensor(int32, Shape{2, 0})},
       .outputs = {{{{1, 2}, {3, 4}}, {{1, 2}, {3, 4}}}},
       .type_attr = "Tparams",
       .bad = {{.inputs = {ramp({2, 2}), {{0, 1}, {0, 2}}}, .message = "indices[1, :] = [0, 2] does not index into"},
               {.inputs = {ramp({2}), {{0, 1}}}, .message = "longer than the rank"}}});
}

TEST(ScatterNd, AddsUpdatesThatMeet) {
  check_op({.op = "ScatterNd",
            .inputs = {{{1}, {0}, {1}}, {"a", "b", "c"}, {3}},
            .outputs = {{"b", "ac", ""}},
            .types = {string}});
  check_op({.op = "ScatterNd", .inputs = {{{4}, {3}, {4}}, {9, 10, 1}, {6}}, .outputs = {{0, 0, 0, 10, 10, 0}}});
  check_op({.op = "ScatterNd",
            .inputs = {{{1}, {0}}, {{1, 2}, {3, 4}}, {3, 2}},
            .outputs = {{{3, 4}, {1, 2}, {0, 0}}},
            .bad = {{.inputs = {{{3}}, {{1, 2}}, {3, 2}}, .message = "indices[0, :] = [3] does not index into"},
                    {.inputs = {{{0}}, {{1, 2, 3}}, {3, 2}}, .message = "updates must have shape [1,2]"}}});
}

TEST(Roll, TurnsAxesRound) {
  check_op({.op = "Roll", .inputs = {{1, 2, 3, 4, 5}, 2, 0}, .outputs = {{4, 5, 1, 2, 3}}});
  check_op({.op = "Roll",
            .inputs = {{{1, 2, 3}, {4, 5, 6}}, {1, -1, 3}, {0, 1, -1}},
            .outputs = {{{5, 6, 4}, {2, 3, 1}}},
            .bad = {{.inputs = {ramp({2, 3}), {1}, {2}}, .message = "axis"},
                    {.inputs = {ramp({2, 3}), {1, 2}, {0}}, .message = "[2]"},
                    {.inputs = {ramp({2, 3}), {{1}}, {{0}}}, .message = "1-D vector"},
                    {.inputs = {3, 1, 0}, .message = "rank"}}});
  check_op({.op = "Roll", .inputs = {zeros({0, 3}), 1, 0}, .outputs = {zeros({0, 3})}});
  check_op({.op = "Roll",
            .inputs = {ramp({2, 3}), Tensor::zeros(int32, {0}), Tensor::zeros(int32, {0})},
            .outputs = {ramp({2, 3})}});
}

TEST(Bitcast, KeepsTheBytes) {
  Graph g;
  Session session(g);
  auto cast_to = [&](const Output& x, DType type) {
    return session.run(NodeBuilder("Bitcast").input(x).attr("type", type).output());
  };
  expect_same(cast_to(g.constant({1, -2}, float32), int32), Tensor::from<int32_t>({0x3f800000, -1073741824}, {2}));
  Tensor halves = cast_to(g.constant({0x00020001, 0x00040003}, int32), int16);
  expect_same(halves, Tensor::from<int16_t>({1, 2, 3, 4}, {2, 2}));
  expect_same(cast_to(g.constant(halves), int32), Tensor::from<int32_t>({0x00020001, 0x00040003}, {2}));
  expect_error([&] { cast_to(g.constant({1, 2, 3}, int16), int64); }, Code::InvalidArgument, "must be 4");
}

}  // namespace
}  // namespace weir::testing
