#include <gtest/gtest.h>

#include <cmath>

#include "weir/control_flow.h"
#include "weir/edit_graph.h"
#include "weir/gradients.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

Operation switched(const Output& data, const Output& pred) {
  return NodeBuilder(data.is_ref() ? "RefSwitch" : "Switch").input(data).input(pred).build();
}
Operation merged(const std::vector<Output>& inputs) {
  std::vector<In> all(inputs.begin(), inputs.end());
  return NodeBuilder(inputs[0].is_ref() ? "RefMerge" : "Merge").input(InList(all)).build();
}
Output entered(const Output& data, const std::string& frame, bool constant = false) {
  return NodeBuilder("Enter").input(data).attr("frame_name", frame).attr("is_constant", constant).output();
}
Output one(const char* op, const Output& input) { return NodeBuilder(op).input(input).output(); }

// A constant of the iteration that `x` is in.
Output one_after(const Output& x) {
  Scope after = x.graph().control_dependencies({x.op()});
  return x.graph().constant(1);
}

// The values 0, 1, ... below `limit` and the product of `factor` by itself: i, then product.
std::pair<Output, Output> count_up(Graph& g, const Output& limit, const Output& factor, const std::string& frame) {
  Output i = entered(g.constant(0), frame), product = entered(g.constant(1.f), frame);
  Output end = entered(limit, frame, true), by = entered(factor, frame, true);
  Operation i_merge = merged({i, i}), product_merge = merged({product, product});
  Output goes_on = one("LoopCond", i_merge.output(0) < end);
  Operation i_switch = switched(i_merge.output(0), goes_on),
            product_switch = switched(product_merge.output(0), goes_on);
  Output inside = identity(i_switch.output(1));
  Output next_i = one("NextIteration", inside + one_after(inside));
  Output next_product = one("NextIteration", product_switch.output(1) * by);
  update_input(i_merge, 1, next_i);
  update_input(product_merge, 1, next_product);
  return {one("Exit", i_switch.output(0)), one("Exit", product_switch.output(0))};
}

TEST(Dataflow, RunsOneSideOfASwitch) {
  Graph g;
  Output pred = g.placeholder(boolean, {}), x = g.placeholder(float32, {kUnknown});
  Operation sides = switched(x, pred);
  Operation ends = merged({sides.output(0) * 2, sides.output(1) + 10});
  Output dx = gradients({ends.output(0)}, {x})[0].dense();
  Session s(g);
  for (int size : {1, 3}) {
    std::vector<float> values(static_cast<size_t>(size), 3);
    auto [a, which, da] = s.run({ends.output(0), ends.output(1), dx}, {{pred, true}, {x, values}});
    EXPECT_EQ(a.data<float>()[0], 13);
    EXPECT_EQ(which.scalar<int32_t>(), 1);
    EXPECT_EQ(da.data<float>()[0], 1);
    auto [b, other, db] = s.run({ends.output(0), ends.output(1), dx}, {{pred, false}, {x, values}});
    EXPECT_EQ(b.data<float>()[0], 6);
    EXPECT_EQ(other.scalar<int32_t>(), 0);
    EXPECT_EQ(db.data<float>()[0], 2);
  }
}

TEST(Dataflow, RefusesToGiveWhatIsDead) {
  Graph g;
  Output pred = g.placeholder(boolean, {});
  Operation sides = switched(g.constant(1.f), pred);
  Output behind = sides.output(1) * 2;
  Session s(g);
  EXPECT_EQ(s.run(behind, {{pred, true}}).scalar<float>(), 2);
  try {
    s.run(behind, {{pred, false}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::InvalidArgument);
    EXPECT_NE(e.message().find("Retval[0] does not have value"), std::string::npos);
  }
  s.run(behind.op(), {{pred, false}});  // as a target it is just not run
}

TEST(Dataflow, ControlInputsFromADeadSideKeepNodesFromRunning) {
  Graph g;
  Output pred = g.placeholder(boolean, {});
  Variable v = g.variable("v", 0.f);
  Operation sides = switched(pred, pred);
  Output taken = identity(sides.output(1));
  Operation update, trigger;
  {
    Scope after = g.control_dependencies({taken.op()});
    update = assign_add(v, 1.f).op();
    trigger = NodeBuilder("ControlTrigger").graph(g).build();
  }
  Output always;
  {
    Scope after = g.control_dependencies({trigger});
    always = identity(g.constant(7.f));
  }
  Session s(g);
  s.run(g.global_variables_initializer());
  s.run(update, {{pred, false}});
  EXPECT_EQ(s.run(v).scalar<float>(), 0);
  s.run(update, {{pred, true}});
  EXPECT_EQ(s.run(v).scalar<float>(), 1);
  EXPECT_EQ(s.run(always, {{pred, false}}).scalar<float>(), 7);
}

TEST(Dataflow, RunsALoop) {
  Graph g;
  Output limit = g.placeholder(int32, {});
  auto [i, product] = count_up(g, limit, g.constant(2.f), "loop");
  Session s(g);
  for (int n : {0, 1, 5, 1000}) {
    auto [count, power] = s.run({i, product}, {{limit, n}});
    EXPECT_EQ(count.scalar<int32_t>(), n);
    EXPECT_EQ(power.scalar<float>(), std::pow(2.f, static_cast<float>(n)));
  }
}

TEST(Dataflow, ALoopInADeadSideGivesNothing) {
  Graph g;
  Output pred = g.placeholder(boolean, {});
  Operation sides = switched(g.constant(4), pred);
  auto [i, product] = count_up(g, sides.output(1), g.constant(3.f), "inner");
  Operation ends = merged({cast(sides.output(0), float32), product});
  Session s(g);
  EXPECT_EQ(s.run(ends.output(0), {{pred, true}}).scalar<float>(), 81);
  EXPECT_EQ(s.run(ends.output(0), {{pred, false}}).scalar<float>(), 4);
}

TEST(Dataflow, RefersToVariablesThroughSwitches) {
  Graph g;
  Output pred = g.placeholder(boolean, {});
  Variable v = g.variable("v", 1.f);
  Operation sides = switched(v.handle(), pred);
  Output added = NodeBuilder("AssignAdd").input(sides.output(1)).input(g.constant(10.f)).output();
  Output set = NodeBuilder("Assign").input(sides.output(0)).input(g.constant(5.f)).output();
  Operation ends = merged({set, added});
  Session s(g);
  s.run(g.global_variables_initializer());
  EXPECT_EQ(s.run(ends.output(0), {{pred, true}}).scalar<float>(), 11);
  EXPECT_EQ(s.run(ends.output(0), {{pred, false}}).scalar<float>(), 5);
}

TEST(Dataflow, DrawsOnceForTheBranchesThatShareANumber) {
  Graph g;
  Output pred = g.placeholder(boolean, {}), x = switched(g.constant(std::vector<float>{1, 1}), pred).output(1);
  Output positive = reduce_sum(x) > 0, drawn;
  const auto untouched = [&] { return x; };
  Output first = cond(
      positive, [&] { return x + (drawn = random_uniform(g, {2})); }, untouched);
  Output second = cond(
      positive, [&] { return x + drawn; }, untouched);
  Session s(g);
  auto [a, b] = s.run({first, second}, {{pred, true}});
  for (int i : {0, 1}) EXPECT_EQ(a.data<float>()[i], b.data<float>()[i]);
}

TEST(Dataflow, RefusesCyclesThatAreNoLoops) {
  Graph g;
  Output a = identity(g.constant(1.f)), b = identity(a), c = identity(b);
  EXPECT_THROW(update_input(b.op(), 0, c), Error);
  EXPECT_THROW(add_control_input(a.op(), c.op()), Error);
  update_input(c.op(), 0, a);
  add_control_input(b.op(), c.op());
  EXPECT_EQ(c.op().input(0), a);
  remove_control_input(b.op(), c.op());
  EXPECT_THROW(remove_control_input(b.op(), c.op()), Error);
  add_control_input(c.op(), b.op());
}

TEST(Dataflow, RefusesInputsFromDifferentFrames) {
  Graph g;
  Output a = entered(g.constant(1.f), "a"), b = entered(g.constant(2.f), "b");
  Output sum = one("Exit", a + b);
  Session s(g);
  try {
    s.run(sum);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("has inputs from different frames"), std::string::npos);
  }
}

}  // namespace
}  // namespace weir
