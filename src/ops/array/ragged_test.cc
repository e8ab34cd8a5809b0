#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

const In kSplits = {0, 2, 2, 5};

TEST(RaggedRange, MakesARowForEachStart) {
  check_op({.op = "RaggedRange",
            .inputs = {{2, 5, 8}, {3, 5, 12}, 1},
            .outputs = {{0, 1, 1, 5}, {2, 8, 9, 10, 11}},
            .bad = {{.inputs = {{2}, {3}, 0}, .message = "delta != 0"},
                    {.inputs = {{2, 3}, {3, 4, 5}, 1}, .message = "same shape"}}});
}

TEST(RaggedGather, TakesRows) {
  check_op({.op = "RaggedGather",
            .inputs = {kSplits, {1, 2, 3, 4, 5}, {2, 1, 0}},
            .attrs = {{"PARAMS_RAGGED_RANK", 1}, {"OUTPUT_RAGGED_RANK", 1}},
            .outputs = {{0, 3, 3, 5}, {3, 4, 5, 1, 2}},
            .type_attr = "Tvalues",
            .bad = {{.inputs = {kSplits, {1, 2, 3, 4, 5}, {3}}, .message = "[0, 3)"},
                    {.inputs = {{0, 7}, {1, 2}, {0}}, .message = "Invalid ragged tensor"}}});
}

TEST(RaggedTensorToSparse, NamesEveryPlace) {
  check_op({.op = "RaggedTensorToSparse",
            .inputs = {kSplits, {1, 2, 3, 4, 5}},
            .attrs = {{"RAGGED_RANK", 1}},
            .outputs = {{{0, 0}, {0, 1}, {2, 0}, {2, 1}, {2, 2}}, {1, 2, 3, 4, 5}, {3, 3}},
            .gradient = false});
}

TEST(RaggedTensorToTensor, FillsAndCuts) {
  const std::vector<std::string> splits = {"ROW_SPLITS"};
  check_op({.op = "RaggedTensorToTensor",
            .inputs = {{-1, -1}, {1, 2, 3, 4, 5}, 9, kSplits},
            .attrs = {{"num_row_partition_tensors", 1}, {"row_partition_types", splits}},
            .outputs = {{{1, 2, 9}, {9, 9, 9}, {3, 4, 5}}},
            .constant_inputs = {},
            .bad = {{.inputs = {{-1}, {1, 2}, 9, {0, 2}}, .message = "incompatible"},
                    {.inputs = {{-1, -1}, {1, 2}, 9, {0, 3}}, .message = "Invalid ragged tensor"}}});
  check_op({.op = "RaggedTensorToTensor",
            .inputs = {{2, 2}, {1, 2, 3, 4, 5}, 9, kSplits},
            .attrs = {{"num_row_partition_tensors", 1}, {"row_partition_types", splits}},
            .outputs = {{{1, 2}, {9, 9}}}});
}

TEST(RaggedVariant, ComesBackWholeAndRowByRow) {
  for (bool batched : {false, true}) {
    Graph g;
    Output splits = g.constant(Tensor(std::vector<int64_t>{0, 2, 2, 5})),
           values = g.constant(Tensor(std::vector<float>{1, 2, 3, 4, 5}));
    Output encoded = NodeBuilder("RaggedTensorToVariant")
                         .input(InList{splits})
                         .input(values)
                         .attr("RAGGED_RANK", int64_t{1})
                         .attr("batched_input", batched)
                         .output();
    Operation back = NodeBuilder("RaggedTensorFromVariant")
                         .input(encoded)
                         .attr("input_ragged_rank", int64_t{-1})
                         .attr("output_ragged_rank", int64_t{1})
                         .attr("Tvalues", float32)
                         .attr("Tsplits", int64)
                         .build();
    Session session(g);
    expect_same(session.run(back.output(0)), Tensor(std::vector<int64_t>{0, 2, 2, 5}));
    expect_same(session.run(back.output(1)), Tensor(std::vector<float>{1, 2, 3, 4, 5}));
  }
}

}  // namespace
}  // namespace weir
