#include "graph/bodies.h"

#include <gtest/gtest.h>

#include "weir/control_flow.h"
#include "weir/ops.h"

namespace weir {
namespace {

using List = std::vector<Output>;

TEST(Bodies, CollectWhatTheyReadAndWaitForAround) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2}), y = g.placeholder(float32, {2});
  Variable v = g.variable("v", {1.f, 2.f});
  Operation before = g.no_op("before");
  Output result = cond(
      p,
      [&] {
        Scope after = g.control_dependencies({before});
        return x + y;
      },
      [&] { return x * identity(v.handle()); });
  const Node& node = *result.op().input(0).node();
  EXPECT_EQ(node.op->name, "If");  // it reads a variable
  EXPECT_EQ(node.inputs, (List{p, x, y, v.handle()}));
  EXPECT_EQ(node.control_inputs, std::vector<Node*>{before.node()});
  auto [then_branch, else_branch] = bodies_of(node);
  EXPECT_EQ(then_branch->parameters, (List{x, y, v.handle()}));
  EXPECT_EQ(then_branch->parameters, else_branch->parameters);
  EXPECT_EQ(then_branch->name, "cond_true");
  EXPECT_EQ(then_branch->results[0].node()->body, then_branch);
  EXPECT_EQ(result.node()->body, nullptr);
}

TEST(Bodies, OfLoopsReturnWhatTheyReadAround) {
  Graph g;
  Output x = g.placeholder(float32, {2}), n = g.placeholder(int32, {});
  List results = while_loop([&](const List& v) { return less(v[0], n); },
                            [&](const List& v) {
                              return List{v[0] + 1, v[1] * x};
                            },
                            {0, x});
  const Node& node = *results[0].op().input(0).node();
  EXPECT_EQ(node.op->name, "StatelessWhile");
  auto [condition, body] = bodies_of(node);
  ASSERT_EQ(node.inputs.size(), 4u);
  EXPECT_EQ(node.inputs[2], n);
  EXPECT_EQ(node.inputs[3], x);
  EXPECT_EQ(body->parameters[3], x);
  EXPECT_EQ(body->results[3], x);
  EXPECT_EQ(condition->parameters.size(), 4u);
  EXPECT_TRUE(body->is_loop && body->encloses(body->results[1].node()->body));
  EXPECT_EQ(enclosing_loop(*body->results[1].node()), body);
}

TEST(Bodies, GainOutputsAndLoopVariables) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {2}), inner;
  Output y = cond(
      p,
      [&] {
        inner = exp(x);
        return inner * 2;
      },
      [&] { return x; });
  Node& if_node = *y.op().input(0).node();
  auto [then_branch, else_branch] = bodies_of(if_node);
  Output added = add_if_output(if_node, *then_branch, inner);
  EXPECT_EQ(added.shape(), Shape({2}));
  EXPECT_FALSE(else_branch->results[1]);
  EXPECT_EQ(add_if_output(if_node, *then_branch, inner), added);  // once is enough

  List loop = while_loop([](const List& v) { return less(v[0], 3); }, [](const List& v) { return List{v[0] + 1}; },
                         {g.constant(0)});
  Node& while_node = *loop[0].op().input(0).node();
  Output variable = add_loop_variable(while_node, x, "more");
  EXPECT_EQ(variable.node()->body, bodies_of(while_node).second);
  EXPECT_EQ(while_node.inputs.back(), x);
  EXPECT_EQ(while_node.output_types.back(), float32);
  EXPECT_EQ(while_node.attrs.get<std::vector<DType>>("T"), (std::vector<DType>{int32, float32}));
}

TEST(Bodies, ReplaceTensorsInTheBodiesInsideThem) {
  Graph g;
  Output p = g.placeholder(boolean, {}), x = g.placeholder(float32, {}), z = g.placeholder(float32, {});
  Output result = cond(
      p,
      [&] {
        return cond(
            p, [&] { return x + 1; }, [&] { return x; });
      },
      [&] { return x; });
  Body& outer = *bodies_of(*result.op().input(0).node()).first;
  Node& nested = *outer.results[0].op().input(0).node();
  replace_in_body(outer, x, z);
  EXPECT_EQ(nested.inputs[1], z);
  Body& inner = *bodies_of(nested).first;
  EXPECT_EQ(inner.parameters[0], z);
  EXPECT_EQ(inner.results[0].op().input(0), z);
}

TEST(Bodies, CommonShapesForgetWhatDiffers) {
  EXPECT_EQ(common_shape({2, 3}, {2, 3}), Shape({2, 3}));
  EXPECT_EQ(common_shape({2, 3}, {4, 3}).str(), Shape({kUnknown, 3}).str());
  EXPECT_FALSE(common_shape({2, 3}, {2}).has_rank());
}

}  // namespace
}  // namespace weir
