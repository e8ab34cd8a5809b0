#include <gtest/gtest.h>

#include "graph/node.h"
#include "ops/evaluate.h"
#include "tests/support/check_op.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

TEST(Placeholder, MustBeFed) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 3}, "x"), y = g.placeholder(int64, Shape::unknown(), "y");
  ThreadPool pool(1);
  auto compute = [&](const Output& placeholder) {
    const Node& node = *placeholder.node();
    run_kernel(NodeView(*node.op, node.attrs, node.name), {}, node.output_types, pool);
  };
  expect_error([&] { compute(x); }, Code::InvalidArgument,
               "You must feed a value for placeholder tensor 'x' with dtype float and shape [?,3]");
  expect_error([&] { compute(y); }, Code::InvalidArgument,
               "You must feed a value for placeholder tensor 'y' with dtype int64");
  expect_error([&] { Session(g).run(identity(x)); }, Code::InvalidArgument, "Placeholder 'x'");
}

TEST(PlaceholderWithDefault, CanBeFedWithAnotherSize) {
  Graph g;
  Output x = placeholder_with_default(g.constant({1, 2}, float32), {kUnknown}), y = identity(x);
  EXPECT_EQ(x.shape().str(), "[?]");
  Session session(g);
  expect_same(session.run(y), Tensor(std::vector<float>{1, 2}));
  expect_same(session.run(y, {{x, Tensor(std::vector<float>{5})}}), Tensor(std::vector<float>{5}));
  check_op({.op = "PlaceholderWithDefault", .inputs = {{1, 2}}, .attrs = {{"shape", Shape{2}}}, .outputs = {{1, 2}}});
  expect_error([&] { placeholder_with_default(g.constant({1, 2}, float32), {3}); }, Code::InvalidArgument, "[2]");
}

TEST(Const, MustHoldTheTypeItSays) {
  Graph g;
  expect_error(
      [&] {
        g.add({.op = "Const", .attrs = {{"value", Tensor(1.f)}, {"dtype", int32}}});
      },
      Code::InvalidArgument, "attribute 'value' is float, attribute 'dtype' says int32");
  EXPECT_EQ(g.constant({{1, 2}, {3, 4}}, float32).shape().str(), "[2,2]");
}

TEST(Identity, PassesValuesAndGradientsOn) {
  check_op({.op = "Identity", .inputs = {ramp({2, 3})}, .outputs = {ramp({2, 3})}});
  Graph g;
  Output x = g.placeholder(float32, {2}), text = g.constant("a", string);
  std::vector<Output> both = identity_n({x, text});
  Tensor value(std::vector<float>{1, 2});
  Tensors values = interpret(both, {{x, value}});
  expect_same(values[0], value);
  expect_same(values[1], Tensor("a"));
  EXPECT_FALSE(gradients({both[0]}, {x})[0].none());
}

TEST(StopGradient, LetsNoGradientThrough) {
  check_op({.op = "StopGradient", .inputs = {ramp({2})}, .outputs = {ramp({2})}});
  Graph g;
  Output x = g.placeholder(float32, {2});
  EXPECT_TRUE(gradients({stop_gradient(x)}, {x})[0].none());
  expect_error([&] { gradients({prevent_gradient(x, "not here")}, {x}); }, Code::NotFound, "not here");
}

TEST(Group, WaitsForItsOperations) {
  Graph g;
  Operation a = g.no_op(), b = g.no_op("b");
  Operation both[] = {a, b};
  Operation group = g.group(both);
  EXPECT_EQ(a.name(), "NoOp");
  EXPECT_EQ(group.name(), "group_deps");
  EXPECT_EQ(group.control_inputs(), (std::vector<Operation>{a, b}));
  EXPECT_EQ(g.group({}, "nothing").name(), "nothing");
}

TEST(Group, HasOneNodeForEachDevice) {
  Graph g;
  Operation a = g.no_op("a");
  Scope device = g.device("/cpu:1");
  Operation b = g.no_op("b");
  Operation both[] = {a, b};
  Operation group = g.group(both, "all");
  std::vector<Operation> waits = group.control_inputs();
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].control_inputs(), (std::vector<Operation>{a}));
  EXPECT_EQ(waits[1].control_inputs(), (std::vector<Operation>{b}));
  EXPECT_EQ(waits[1].name(), "all/NoOp_1");
}

}  // namespace
}  // namespace weir::testing
