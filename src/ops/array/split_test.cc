#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(Split, CutsIntoEqualPieces) {
  check_op({.op = "Split",
            .inputs = {1, {{1, 2, 3, 4}, {5, 6, 7, 8}}},
            .attrs = {{"num_split", int64_t{2}}},
            .outputs = {{{1, 2}, {5, 6}}, {{3, 4}, {7, 8}}},
            .bad = {{.inputs = {1, {{1, 2, 3}}}, .message = "divisible by 2 but is 3"},
                    {.inputs = {2, {{1, 2}}}, .message = "axis 2 is out of valid range"}}});
  check_op({.op = "Split",
            .inputs = {-2, {{1, 2}, {3, 4}}},
            .attrs = {{"num_split", int64_t{2}}},
            .outputs = {{{1, 2}}, {{3, 4}}}});
}

TEST(SplitV, CutsIntoPiecesOfGivenSizes) {
  check_op({.op = "SplitV",
            .inputs = {{{1, 2, 3}, {4, 5, 6}}, {1, 2}, 1},
            .attrs = {{"num_split", int64_t{2}}},
            .outputs = {{{1}, {4}}, {{2, 3}, {5, 6}}}});
  check_op({.op = "SplitV",
            .inputs = {{1, 2, 3, 4, 5}, {2, -1, 0}, 0},
            .attrs = {{"num_split", int64_t{3}}},
            .outputs = {{1, 2}, {3, 4, 5}, zeros({0})},
            .bad = {{.inputs = {{1, 2, 3}, {2, 2, 2}, 0}, .message = "the sizes add up to 6"},
                    {.inputs = {{1, 2, 3}, {-1, -1, 2}, 0}, .message = "only one size may be -1"},
                    {.inputs = {{1, 2, 3}, {1, 2}, 0}, .message = "2 sizes are given for 3 pieces"}}});
}

TEST(Pack, MakesADimension) {
  check_op({.op = "Pack", .inputs = {{1, 2}, {3, 4}, {5, 6}}, .outputs = {{{1, 2}, {3, 4}, {5, 6}}}});
  check_op({.op = "Pack",
            .inputs = {{1, 2}, {3, 4}, {5, 6}},
            .attrs = {{"axis", int64_t{-1}}},
            .outputs = {{{1, 3, 5}, {2, 4, 6}}},
            .bad = {{.inputs = {{1, 2}, {1, 2, 3}}, .message = "shapes of the values differ"},
                    {.inputs = {1, 2}, .attrs = {{"axis", int64_t{1}}}, .message = "axis = 1 not in"}}});
  check_op({.op = "Pack", .inputs = {7}, .outputs = {{7}}});
  check_op({.op = "Pack", .inputs = {"a", "b"}, .outputs = {{"a", "b"}}});
}

TEST(Unpack, DropsADimension) {
  check_op({.op = "Unpack",
            .inputs = {{{1, 2}, {3, 4}, {5, 6}}},
            .attrs = {{"num", int64_t{3}}},
            .outputs = {{1, 2}, {3, 4}, {5, 6}}});
  check_op({.op = "Unpack",
            .inputs = {{{1, 2}, {3, 4}, {5, 6}}},
            .attrs = {{"num", int64_t{2}}, {"axis", int64_t{1}}},
            .outputs = {{1, 3, 5}, {2, 4, 6}},
            .bad = {{.inputs = {{{1, 2, 3}}}, .message = "cannot be unpacked into 2 values"}}});
  Graph g;
  expect_error([&] { unstack(g.placeholder(float32, {kUnknown, 2})); }, Code::InvalidArgument, "Cannot infer num");
}

}  // namespace
}  // namespace weir::testing
