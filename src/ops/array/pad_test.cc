#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(Pad, PutsZerosAround) {
  check_op({.op = "Pad",
            .inputs = {{{1, 2}, {3, 4}}, {{1, 0}, {0, 2}}},
            .outputs = {{{0, 0, 0, 0}, {1, 2, 0, 0}, {3, 4, 0, 0}}}});
  check_op({.op = "Pad", .inputs = {ramp({2}), {{0, 0}}}, .outputs = {ramp({2})}});
  check_op({.op = "Pad", .inputs = {zeros({0}), {{1, 1}}}, .outputs = {{0, 0}}});
  check_op({.op = "Pad", .inputs = {{"a"}, {{1, 1}}}, .outputs = {{"", "a", ""}}});
  check_op(
      {.op = "Pad",
       .inputs = {7, Tensor(int32, Shape{0, 2})},
       .outputs = {7},
       .bad = {{.inputs = {{1, 2}, {{-1, 0}}}, .message = "non-negative"},
               {.inputs = {{1, 2}, {{1, 0}, {1, 0}}}, .message = "must be the rank of inputs: [2,2] for shape [2]"},
               {.inputs = {{1, 2}, {{1, 0, 1}}}, .message = "must have shape [1,2]"}}});
}

TEST(PadV2, PutsAValueAround) {
  check_op({.op = "PadV2",
            .inputs = {{{1, 2}}, {{1, 1}, {1, 0}}, 9},
            .outputs = {{{9, 9, 9}, {9, 1, 2}, {9, 9, 9}}},
            .gradient_inputs = {0},
            .bad = {{.inputs = {{1, 2}, {{1, 0}}, {9}}, .message = "rank 0"}}});
  Graph g;
  Output x = g.placeholder(float32, {2});
  EXPECT_EQ(pad(x, {{1, 1}}).op().type(), "Pad");
  EXPECT_EQ(pad(x, {{1, 1}}, 1).op().type(), "PadV2");
}

}  // namespace
}  // namespace weir::testing
