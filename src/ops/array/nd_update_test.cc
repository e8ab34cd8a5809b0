#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(TensorScatter, ChangesSlicesAtCoordinates) {
  const Tensor rows = Tensor::from<int32_t>({2, 0}, {2, 1});
  check_op({.op = "TensorScatterUpdate",
            .inputs = {{{1, 2}, {3, 4}, {5, 6}}, rows, {{7, 8}, {9, 10}}},
            .outputs = {{{9, 10}, {3, 4}, {7, 8}}},
            .bad = {{.inputs = {{{1, 2}, {3, 4}}, rows, {{7, 8}, {9, 10}}}, .message = "does not index into param"},
                    {.inputs = {{{1, 2}, {3, 4}, {5, 6}}, rows, {{7, 8}}}, .message = "updates"}}});
  check_op({.op = "TensorScatterAdd",
            .inputs = {{1, 2, 3}, Tensor::from<int32_t>({1, 1}, {2, 1}), {10, 20}},
            .outputs = {{1, 32, 3}}});
  check_op({.op = "TensorScatterSub",
            .inputs = {{50, 60, 3}, Tensor::from<int32_t>({1, 1}, {2, 1}), {10, 20}},
            .outputs = {{50, 30, 3}}});
  check_op({.op = "ScatterNdNonAliasingAdd",
            .inputs = {{1, 2, 3}, Tensor::from<int32_t>({1, 1}, {2, 1}), {10, 20}},
            .outputs = {{1, 32, 3}}});
}

TEST(ScatterNdUpdate, ChangesVariablesOfBothKinds) {
  Graph g;
  Variable v = g.variable("v", g.constant({{1, 2}, {3, 4}}, float32));
  Output at = g.constant(Tensor::from<int64_t>({0, 1, 1, 0}, {2, 2}));
  Output added = NodeBuilder("ScatterNdAdd").input(v.handle()).input(at).input(g.constant({10, 20}, float32)).output();
  Output set = NodeBuilder("ScatterNdUpdate")
                   .input(v.handle())
                   .input(Tensor::from<int32_t>({1}, {1, 1}))
                   .input(g.constant({{8, 9}}, float32))
                   .output();
  Output bad = NodeBuilder("ScatterNdSub")
                   .input(v.handle())
                   .input(Tensor::from<int32_t>({2}, {1, 1}))
                   .input(g.constant({{8, 9}}, float32))
                   .output();
  Session session(g);
  session.run(g.global_variables_initializer());
  expect_same(session.run(added), Tensor::from<float>({1, 12, 23, 4}, {2, 2}));
  expect_same(session.run(set), Tensor::from<float>({1, 12, 8, 9}, {2, 2}));
  expect_error([&] { session.run(bad); }, Code::InvalidArgument, "does not index into param");
}

TEST(Bounds, FindPlacesInSortedRows) {
  check_op({.op = "LowerBound",
            .inputs = {{{1, 3, 3, 7}}, {{0, 3, 8}}},
            .outputs = {{{0, 1, 4}}},
            .type_attr = "T",
            .bad = {{.inputs = {{{1}, {2}}, {{1}}}, .message = "Leading dim_size"}}});
  check_op({.op = "UpperBound", .inputs = {{{1, 3, 3, 7}}, {{0, 3, 8}}}, .outputs = {{{0, 3, 4}}}, .type_attr = "T"});
  check_op({.op = "Bucketize",
            .inputs = {{-5, 10, 11, 100}},
            .attrs = {{"boundaries", std::vector<float>{0, 10, 100}}},
            .outputs = {{0, 2, 2, 3}},
            .bad = {{.inputs = {{1, 2}},
                     .attrs = {{"boundaries", std::vector<float>{3, 1}}},
                     .message = "Expected sorted boundaries"}}});
  check_op({.op = "HistogramFixedWidth",
            .inputs = {{-1, 0, 1, 2, 4, 15}, {0, 5}, 5},
            .outputs = {{2, 1, 1, 0, 2}},
            .type_attr = "T",
            .bad = {{.inputs = {{1, 2}, {5, 0}, 5}, .message = "value_range"},
                    {.inputs = {{1, 2}, {0, 5}, 0}, .message = "nbins"}}});
}

}  // namespace
}  // namespace weir
