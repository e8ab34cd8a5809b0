#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

TEST(Slice, CutsOutABox) {
  check_op(
      {.op = "Slice", .inputs = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, {1, 0}, {2, 2}}, .outputs = {{{4, 5}, {7, 8}}}});
  check_op({.op = "Slice", .inputs = {ramp({2, 3, 4}), {0, 1, 2}, {-1, 1, -1}}, .outputs = {{{{7, 8}}, {{19, 20}}}}});
  check_op({.op = "Slice", .inputs = {ramp({3}), {3}, {0}}, .outputs = {zeros({0})}});
  check_op(
      {.op = "Slice", .inputs = {ramp({}), Tensor(int32, Shape{0}), Tensor(int32, Shape{0})}, .outputs = {ramp({})}});
}

TEST(Slice, RejectsBoxesThatStandOut) {
  check_op({.op = "Slice",
            .inputs = {ramp({3}), {1}, {2}},
            .outputs = {ramp({2}, 2)},
            .bad = {{.inputs = {ramp({3}), {2}, {2}}, .message = "begin[0] + size[0] is 2 + 2"},
                    {.inputs = {ramp({3}), {-1}, {1}}, .message = "begin[0] is -1"},
                    {.inputs = {ramp({3}), {4}, {-1}}, .message = "begin[0] is 4"},
                    {.inputs = {ramp({3}), {0}, {-2}}, .message = "size[0] is -2"},
                    {.inputs = {ramp({3}), {0, 0}, {1, 1}}, .message = "'begin' has 2 entries"}}});
}

TEST(Slice, KnowsTheRestOfADimensionWhoseBeginningIsKnown) {
  Graph g;
  Output begin = stack({g.placeholder(int32, {}), g.constant(1), g.constant(0)});
  Output part = slice(g.placeholder(float32, {5, 4, kUnknown}), begin, {1, -1, -1});
  EXPECT_EQ(part.shape(), Shape({1, 3, kUnknown}));
}

TEST(Slice, ChecksABeginThatOnlyTheRunKnows) {
  Graph g;
  Output begin = g.placeholder(int32, {1});
  Output part = slice(g.constant({1, 2, 3}, float32), begin, {2});
  Session session(g);
  expect_same(session.run(part, {{begin, Tensor(std::vector<int>{1})}}), Tensor(std::vector<float>{2, 3}));
  for (int bad : {2, -1}) {
    expect_error(
        [&] {
          session.run(part, {{begin, Tensor(std::vector<int>{bad})}});
        },
        Code::InvalidArgument, "begin[0] is " + std::to_string(bad));
  }
}

}  // namespace
}  // namespace weir::testing
