#include "passes/stretches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "weir/queue_ops.h"
#include "weir/weir.h"

namespace weir {
namespace {

struct StretchesOf : ::testing::Test {
  Graph g;
  FifoQueue first{g, {float32}}, second{g, {float32}};
  Output a = first.dequeue("a")[0], b = second.dequeue("b")[0];

  // The stretch of a node in the plan for these fetches.
  int of(const Output& node, const std::vector<Output>& fetches) {
    ir = build_ir({fetches, {}, {}, {}});
    stretches = find_stretches(ir);
    for (size_t i = 0; i < ir.nodes.size(); ++i) {
      if (ir.nodes[i].name == node.node()->name) return stretches.of_node[i];
    }
    return -1;
  }
  Ir ir;
  Stretches stretches;
};

TEST_F(StretchesOf, APlanWithoutWaitsIsOne) {
  Output x = g.constant(Tensor(1.f)) + 1.f;
  EXPECT_EQ(of(x, {x}), 0);
  EXPECT_EQ(stretches.size(), 1);
}

TEST_F(StretchesOf, WhatNeedsOneWaitIsApartFromWhatNeedsAnother) {
  Output from_a = a * 2.f, from_b = b * 2.f, from_both = from_a + from_b, free = g.constant(Tensor(1.f)) + 1.f;
  const std::vector<Output> all = {from_a, from_b, from_both, free};
  const int of_a = of(from_a, all), of_b = of(from_b, all), of_both = of(from_both, all);
  EXPECT_EQ(of(free, all), 0);
  EXPECT_EQ(of(a, all), 0);  // it is started there
  EXPECT_NE(of_a, of_b);
  EXPECT_GT(of_both, of_a);
  EXPECT_GT(of_both, of_b);
  EXPECT_TRUE(stretches.follows(of_a, of_both));
  EXPECT_FALSE(stretches.follows(of_a, of_b));
  EXPECT_EQ(stretches.size(), 4);
}

TEST_F(StretchesOf, VariablesAreReadByTheStretchThatUsesThem) {
  Variable v = g.variable("v", 1.f);
  Output product = a * v, plain = v * 3.f;
  EXPECT_EQ(of(v.value(), {product}), of(product, {product}));
  EXPECT_EQ(of(v.value(), {product, plain}), 0);
}

Output blocking(const Output& x) {
  return NodeBuilder("PyFunc")
      .input(InList{x})
      .attr("token", std::string("f"))
      .attr("Tout", std::vector{float32})
      .output();
}

TEST_F(StretchesOf, WhatBlocksItsThreadStaysOnThatOfThePlanUnlessOthersWaitBeside) {
  Output x = g.constant(Tensor(1.f)), f = blocking(x);
  auto waiting = [&](const std::vector<Output>& fetches) {
    ir = build_ir({fetches, {}, {}, {}});
    wait_in_place(ir);
    return std::ranges::count_if(ir.nodes, [](const IrNode& node) { return !node.dead && node.waits(); });
  };
  EXPECT_EQ(waiting({f}), 0);
  EXPECT_EQ(waiting({blocking(f)}), 0);
  EXPECT_EQ(waiting({f, blocking(x)}), 2);
  EXPECT_EQ(waiting({f, a}), 2);
  EXPECT_EQ(waiting({a}), 1);
}

}  // namespace
}  // namespace weir
