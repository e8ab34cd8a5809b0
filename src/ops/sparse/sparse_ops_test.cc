#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/sparse_ops.h"

namespace weir {
namespace {

using namespace weir::testing;

Tensor ints(std::vector<int64_t> values, const Shape& shape) { return Tensor(values).reshaped(shape); }

// [0 1 0; 2 0 3]
const Tensor kIndices = ints({0, 1, 1, 0, 1, 2}, {3, 2});
const Tensor kShape = ints({2, 3}, {2});
// [0 5 6; 0 0 7]
const Tensor kOther = ints({0, 1, 0, 2, 1, 2}, {3, 2});

TEST(SparseReorder, PutsRowsInOrder) {
  check_op({.op = "SparseReorder",
            .inputs = {ints({1, 2, 0, 1, 1, 0}, {3, 2}), {3, 1, 2}, kShape},
            .outputs = {kIndices, {1, 2, 3}},
            .bad = {{.inputs = {kIndices, {3}, kShape}, .message = "Number of values"},
                    {.inputs = {kIndices, {1, 2, 3}, ints({2}, {1})}, .message = "Number of dimensions"}}});
}

TEST(SparseReorder, TakesRowsOutsideAsTheyAre) {
  check_op({.op = "SparseReorder",
            .inputs = {ints({1, 0, 0, -1}, {2, 2}), {3, 1}, kShape},
            .outputs = {ints({0, -1, 1, 0}, {2, 2}), {1, 3}}});
}

TEST(SparseSlice, DropsRowsOutside) {
  check_op({.op = "SparseSlice",
            .inputs = {ints({0, -1, 1, 0}, {2, 2}), {1, 3}, kShape, ints({0, 0}, {2}), kShape},
            .outputs = {ints({1, 0}, {1, 2}), {3}, {2, 3}},
            .gradient_inputs = {1}});
}

TEST(SparseReshape, KeepsTheOrderOfElements) {
  check_op(
      {.op = "SparseReshape",
       .inputs = {kIndices, kShape, ints({3, -1}, {2})},
       .outputs = {ints({0, 1, 1, 1, 2, 1}, {3, 2}), {3, 2}},
       .bad = {{.inputs = {kIndices, kShape, ints({-1, -1}, {2})}, .message = "only one output dimension may be -1"},
               {.inputs = {kIndices, kShape, ints({4, -1}, {2})}, .message = "requires a multiple of 4"},
               {.inputs = {kIndices, kShape, ints({5}, {1})}, .message = "but the requested shape has 5"}}});
}

TEST(SparseReshape, LeavesRowsOutsideAsTheyAreInTheSameShape) {
  const Tensor outside = ints({0, 0, 2, 1, 2, 0}, {2, 3});
  check_op({.op = "SparseReshape",
            .inputs = {outside, ints({2, 2, 2}, {3}), ints({2, 2, -1}, {3})},
            .outputs = {outside, {2, 2, 2}},
            .bad = {{.inputs = {outside, ints({2, 0, 2}, {3}), ints({0}, {1})}, .message = "has no elements"}}});
  check_op({.op = "SparseReshape",
            .inputs = {ints({5, 1}, {1, 2}), ints({2, 2}, {2}), ints({4}, {1})},
            .outputs = {ints({11}, {1, 1}), {4}}});
}

TEST(SparseSlice, CutsABox) {
  check_op({.op = "SparseSlice",
            .inputs = {kIndices, {1, 2, 3}, kShape, ints({0, 1}, {2}), ints({2, 5}, {2})},
            .outputs = {ints({0, 0, 1, 1}, {2, 2}), {1, 3}, {2, 2}},
            .gradient_inputs = {1},
            .bad = {{.inputs = {kIndices, {1, 2, 3}, kShape, ints({-1, 1}, {2}), ints({2, 5}, {2})},
                     .message = "below zero"}}});
  check_op({.op = "SparseSliceGrad",
            .inputs = {{5, 7}, kIndices, ints({0, 1}, {2}), ints({0, 0, 1, 1}, {2, 2})},
            .outputs = {{5, 0, 7}},
            .bad = {{.inputs = {{5}, kIndices, ints({0, 1}, {2}), ints({9, 9}, {1, 2})}, .message = "propagated"}}});
}

TEST(SparseConcat, MergesRows) {
  check_op({.op = "SparseConcat",
            .inputs = {kIndices, kOther, {1, 2, 3}, {5, 6, 7}, kShape, kShape},
            .attrs = {{"concat_dim", 1}, {"N", 2}},
            .outputs = {ints({0, 1, 0, 4, 0, 5, 1, 0, 1, 2, 1, 5}, {6, 2}), {1, 5, 6, 2, 3, 7}, {2, 6}},
            .bad = {{.inputs = {kIndices, kOther, {1, 2, 3}, {5, 6, 7}, kShape, ints({3, 3}, {2})},
                     .message = "Input shapes must match"},
                    {.inputs = {kIndices, kOther, {1, 2, 3}, {5, 6, 7}, kShape, kShape},
                     .attrs = {{"concat_dim", 2}},
                     .message = "Concat dimension"}}});
}

TEST(SparseSplit, MakesTheFirstPartsLonger) {
  check_op({.op = "SparseSplit",
            .inputs = {Tensor(int64_t{1}), kIndices, {1, 2, 3}, kShape},
            .attrs = {{"num_split", 2}},
            .outputs = {ints({0, 1, 1, 0}, {2, 2}), ints({1, 0}, {1, 2}), {1, 2}, {3}, {2, 2}, {2, 1}},
            .bad = {{.inputs = {Tensor(int64_t{2}), kIndices, {1, 2, 3}, kShape}, .message = "split_dim"}}});
}

TEST(SparseAddGrad, PassesNoGradientOn) {
  Graph g;
  Output x = g.placeholder(float32, {4});
  Operation grads = NodeBuilder("SparseAddGrad")
                        .input(x)
                        .input(kIndices)
                        .input(kOther)
                        .input(ints({0, 1, 0, 2, 1, 0, 1, 2}, {4, 2}))
                        .build();
  EXPECT_TRUE(gradients({grads.output(0)}, {x})[0].none());
}

TEST(SparseAdd, LeavesSmallSumsOut) {
  check_op({.op = "SparseAdd",
            .inputs = {kIndices, {1, 2, 3}, kShape, kOther, {5, 6, -3}, kShape, 0},
            .outputs = {ints({0, 1, 0, 2, 1, 0, 1, 2}, {4, 2}), {6, 6, 2, 0}, {2, 3}},
            .type_attr = "T",
            .gradient_inputs = {1, 4},
            .bad = {{.inputs = {kIndices, {1, 2, 3}, kShape, kOther, {5, 6, 7}, ints({2, 4}, {2}), 0},
                     .message = "shapes do not match"}}});
  Graph g;
  SparseTensor sum = sparse_add(SparseInput{kIndices, Tensor(std::vector<float>{1, 2, 3}), kShape},
                                {g.constant(kOther), Tensor(std::vector<float>{5, 6, -3}), kShape}, 0.1f);
  expect_same(Session(g).run(sum.values), Tensor(std::vector<float>{6, 6, 2}));
}

TEST(SparseExtremum, TakesWhatIsMissingForZero) {
  check_op({.op = "SparseSparseMaximum",
            .inputs = {kIndices, {1, -2, 3}, kShape, kOther, {5, 6, 7}, kShape},
            .outputs = {ints({0, 1, 0, 2, 1, 0, 1, 2}, {4, 2}), {5, 6, 0, 7}}});
  check_op({.op = "SparseSparseMinimum",
            .inputs = {kIndices, {1, -2, 3}, kShape, kOther, {5, 6, 7}, kShape},
            .outputs = {ints({0, 1, 0, 2, 1, 0, 1, 2}, {4, 2}), {1, 0, -2, 3}}});
}

TEST(SparseFillEmptyRows, GivesEmptyRowsADefault) {
  check_op({.op = "SparseFillEmptyRows",
            .inputs = {ints({0, 1, 2, 0}, {2, 2}), {1, 2}, ints({4, 3}, {2}), 9},
            .outputs = {ints({0, 1, 1, 0, 2, 0, 3, 0}, {4, 2}),
                        {1, 9, 2, 9},
                        Tensor::from<bool>({false, true, false, true}, {4}),
                        {0, 2}},
            .gradient_inputs = {1, 3},
            .constant_inputs = {2}});
  check_op({.op = "SparseFillEmptyRowsGrad",
            .inputs = {ints({0, 2}, {2}), {1, 2, 3, 4}},
            .outputs = {{1, 3}, 6},
            .bad = {{.inputs = {ints({4}, {1}), {1, 2}}, .message = "reverse index"}}});
}

TEST(SparseDenseCwise, BroadcastsTheDenseOperand) {
  check_op({.op = "SparseDenseCwiseMul",
            .inputs = {kIndices, {1, 2, 3}, kShape, {{2}, {4}}},
            .outputs = {{2, 8, 12}},
            .gradient_inputs = {1, 3},
            .bad = {{.inputs = {kIndices, {1, 2, 3}, kShape, {1, 2}}, .message = "broadcasts dense to sparse only"}}});
  check_op({.op = "SparseDenseCwiseDiv",
            .inputs = {kIndices, {2, 4, 6}, kShape, {2, 1, 3}},
            .outputs = {{2, 2, 2}},
            .gradient_inputs = {1, 3}});
  check_op({.op = "SparseDenseCwiseAdd", .inputs = {kIndices, {1, 2, 3}, kShape, 1}, .outputs = {{2, 3, 4}}});
  check_op({.op = "SparseTensorDenseAdd",
            .inputs = {kIndices, {1, 2, 3}, kShape, {{1, 1, 1}, {2, 2, 2}}},
            .attrs = {{"Tindices", int64}},
            .outputs = {{{1, 2, 1}, {4, 2, 5}}},
            .gradient_inputs = {1, 3},
            .bad = {{.inputs = {kIndices, {1, 2, 3}, kShape, {{1, 1}, {2, 2}}}, .message = "no broadcasting"}}});
}

TEST(SparseReduce, ReducesWhatIsThere) {
  check_op({.op = "SparseReduceSum",
            .inputs = {kIndices, {1, 2, 3}, kShape, {1}},
            .outputs = {{1, 5}},
            .gradient_inputs = {1},
            .bad = {{.inputs = {kIndices, {1, 2, 3}, kShape, {2}}, .message = "Invalid reduction dimension 2"}}});
  check_op({.op = "SparseReduceSum",
            .inputs = {kIndices, {1, 2, 3}, kShape, {-1, 0}},
            .attrs = {{"keep_dims", true}},
            .outputs = {{{6}}},
            .gradient_inputs = {1}});
  check_op({.op = "SparseReduceMax", .inputs = {kIndices, {1, 2, 3}, kShape, {1}}, .outputs = {{1, 3}}});
  check_op({.op = "SparseReduceSumSparse",
            .inputs = {kIndices, {1, 2, 3}, kShape, {0}},
            .outputs = {ints({0, 1, 2}, {3, 1}), {2, 1, 3}, {3}}});
  check_op({.op = "SparseReduceMaxSparse",
            .inputs = {kIndices, {1, 2, 3}, kShape, {1}},
            .attrs = {{"keep_dims", true}},
            .outputs = {ints({0, 0, 1, 0}, {2, 2}), {1, 3}, {2, 1}}});
}

TEST(SparseSoftmax, IsOverTheValuesOfARow) {
  check_op({.op = "SparseSoftmax",
            .inputs = {kIndices, {7, 2, 2}, kShape},
            .outputs = {{1, 0.5, 0.5}},
            .gradient_inputs = {1},
            .bad = {{.inputs = {ints({0}, {1, 1}), {1}, ints({1}, {1})}, .message = "rank >= 2"}}});
}

TEST(SparseMatMul, IsTheProductOfDenseMatrices) {
  check_op({.op = "SparseMatMul",
            .inputs = {{{1, 0}, {0, 2}}, {{3, 4}, {5, 6}}},
            .outputs = {{{3, 4}, {10, 12}}},
            .tolerance = 1e-5,
            .gradient = false,
            .bad = {{.inputs = {{{1, 0}}, {{3, 4}}}, .message = "Matrix size incompatible"}}});
  check_op({.op = "SparseMatMul",
            .inputs = {{{1, 3}}, {{3}, {5}}},
            .attrs = {{"transpose_a", true}, {"transpose_b", true}},
            .outputs = {{{3, 5}, {9, 15}}},
            .gradient = false});
}

TEST(SerializeSparse, ComesBack) {
  Graph g;
  Output values = g.constant({1, 2, 3}, float32);
  Operation many = NodeBuilder("SerializeManySparse").input(kIndices).input(values).input(kShape).build();
  Operation back = NodeBuilder("DeserializeManySparse").input(many.output(0)).attr("dtype", float32).build();
  Session session(g);
  expect_same(session.run(back.output(0)), kIndices);
  expect_same(session.run(back.output(1)), Tensor(std::vector<float>{1, 2, 3}));
  expect_same(session.run(back.output(2)), kShape);
  Operation bad = NodeBuilder("DeserializeSparse")
                      .input(g.constant(Tensor(std::vector<std::string>{"a", "b", "c"})))
                      .attr("dtype", float32)
                      .build();
  expect_error([&] { session.run(bad.output(1)); }, Code::InvalidArgument, "Could not parse serialized_sparse[0]");
}

TEST(SparseCross, HasAllCombinations) {
  const Tensor a = Tensor(std::vector<std::string>{"a", "b", "c"}), b = Tensor(std::vector<std::string>{"x", "y"});
  const Tensor b_indices = ints({0, 0, 1, 0}, {2, 2}), b_shape = ints({2, 1}, {2});
  Graph g;
  const auto cross = [&](const Tensor& shape) {
    return NodeBuilder("SparseCross")
        .graph(g)
        .input(InList{g.constant(kIndices), g.constant(b_indices)})
        .input(InList{g.constant(a), g.constant(b)})
        .input(InList{g.constant(kShape), g.constant(shape)})
        .input(InList(std::vector<In>{}))
        .attr("num_buckets", 0)
        .attr("hash_key", 956888297470)
        .attr("hashed_output", false)
        .attr("out_type", string)
        .attr("internal_type", string)
        .build();
  };
  Operation good = cross(b_shape);
  Session session(g);
  expect_same(session.run(good.output(0)), ints({0, 0, 1, 0, 1, 1}, {3, 2}));
  expect_same(session.run(good.output(1)), Tensor(std::vector<std::string>{"a_X_x", "b_X_y", "c_X_y"}));
  expect_same(session.run(good.output(2)), ints({2, 2}, {2}));
  Operation bad = cross(ints({3, 1}, {2}));
  expect_error([&] { session.run(bad.output(1)); }, Code::InvalidArgument, "Expected batch size");
}

}  // namespace
}  // namespace weir
