#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir::testing {
namespace {

TEST(Shape, IsGivenAsInt32OrInt64) {
  check_op({.op = "Shape", .inputs = {zeros({2, 0, 3})}, .outputs = {{2, 0, 3}}});
  check_op({.op = "Shape", .inputs = {1}, .attrs = {{"out_type", int64}}, .outputs = {Tensor(int64, Shape{0})}});
  check_op({.op = "ShapeN", .inputs = {zeros({2, 1}), zeros({5})}, .outputs = {{2, 1}, {5}}});
  check_op({.op = "Size", .inputs = {zeros({2, 3})}, .outputs = {6}});
  check_op({.op = "Size", .inputs = {zeros({2, 0})}, .attrs = {{"out_type", int64}}, .outputs = {0}});
  check_op({.op = "Rank", .inputs = {zeros({2, 3, 1})}, .outputs = {3}});
}

TEST(Shape, IsAConstantWhereItIsKnown) {
  Graph g;
  Output known = g.placeholder(float32, {2, 3}), partly = g.placeholder(float32, {kUnknown, 3});
  EXPECT_EQ(shape(known).op().type(), "Const");
  EXPECT_EQ(shape(partly).op().type(), "Shape");
  EXPECT_EQ(size(known).op().type(), "Const");
  EXPECT_EQ(size(partly).op().type(), "Size");
  EXPECT_EQ(rank(partly).op().type(), "Const");
  EXPECT_EQ(rank(g.placeholder(float32)).op().type(), "Rank");
  EXPECT_EQ(shape(known, int64).op().name(), "Shape_2");
}

}  // namespace
}  // namespace weir::testing
