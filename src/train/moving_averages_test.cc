#include "weir/moving_averages.h"

#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/clip.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/train.h"

namespace weir::train {
namespace {

using testing::expect_error;

std::string nodes(const Graph& g, int64_t from) {
  std::string text;
  for (const Operation& op : g.operations()) {
    if (from-- <= 0) text += (text.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  return text;
}

TEST(ExponentialMovingAverage, FollowsVariablesAsTensorFlowDoes) {
  Graph g;
  Variable w = g.variable("W", {1.f, 2.f}), b = g.variable("b", 0.5f);
  Variable step = g.variable("gs", 0, {.trainable = false});
  ExponentialMovingAverage ema(0.9f, {.num_updates = step});
  const int64_t made = g.version();
  Operation update = ema.apply({w, b});
  EXPECT_EQ(nodes(g, made),
            // TensorFlow has a Switch and a Merge where these have an If.
            "IsVariableInitialized:IsVariableInitialized cond/read:Identity cond/If:If cond/Merge:Identity "
            "W/ExponentialMovingAverage:VariableV2 W/ExponentialMovingAverage/Assign:Assign "
            "W/ExponentialMovingAverage/read:Identity "
            "IsVariableInitialized_1:IsVariableInitialized cond_1/read:Identity cond_1/If:If cond_1/Merge:Identity "
            "b/ExponentialMovingAverage:VariableV2 "
            "b/ExponentialMovingAverage/Assign:Assign b/ExponentialMovingAverage/read:Identity "
            "ExponentialMovingAverage/decay:Const ExponentialMovingAverage/num_updates:Cast "
            "ExponentialMovingAverage/add/x:Const ExponentialMovingAverage/add:AddV2 "
            "ExponentialMovingAverage/add_1/x:Const ExponentialMovingAverage/add_1:AddV2 "
            "ExponentialMovingAverage/truediv:RealDiv ExponentialMovingAverage/Minimum:Minimum "
            "ExponentialMovingAverage/AssignMovingAvg/sub/x:Const ExponentialMovingAverage/AssignMovingAvg/sub:Sub "
            "ExponentialMovingAverage/AssignMovingAvg/sub_1:Sub ExponentialMovingAverage/AssignMovingAvg/mul:Mul "
            "ExponentialMovingAverage/AssignMovingAvg:AssignSub "
            "ExponentialMovingAverage/AssignMovingAvg_1/sub/x:Const ExponentialMovingAverage/AssignMovingAvg_1/sub:Sub "
            "ExponentialMovingAverage/AssignMovingAvg_1/sub_1:Sub ExponentialMovingAverage/AssignMovingAvg_1/mul:Mul "
            "ExponentialMovingAverage/AssignMovingAvg_1:AssignSub ExponentialMovingAverage:NoOp");
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(assign(b, 2.5f));
  session.run(update);  // the decay is min(0.9, 1 / 10)
  EXPECT_NEAR(session.run(ema.average(b).value()).scalar<float>(), 0.1f * 0.5f + 0.9f * 2.5f, 1e-6);
  EXPECT_EQ(ema.average(b).name(), "b/ExponentialMovingAverage");
  EXPECT_EQ(ema.average_name(step), "gs/ExponentialMovingAverage");
  EXPECT_FALSE(ema.average(step));
  EXPECT_EQ(g.collection("moving_average_variables").size(), 2u);

  std::map<std::string, Variable> names = ema.variables_to_restore(g);
  EXPECT_EQ(names.at("W/ExponentialMovingAverage").name(), "W");
  EXPECT_EQ(names.at("gs").name(), "gs");
  EXPECT_FALSE(names.contains("W"));
  EXPECT_EQ(names.size(), 3u);
}

TEST(ExponentialMovingAverage, BeginsWithTheValueOfAVariableThatHasOne) {
  for (bool resource : {false, true}) {
    Graph g;
    Variable w = g.variable("W", 1.f, {.use_resource = resource});
    ExponentialMovingAverage ema(0.9f);
    ema.apply({w});
    Session session(g);
    session.run(ema.average(w).initializer());
    EXPECT_EQ(session.run(ema.average(w).value()).scalar<float>(), 1);
    session.run(assign(w, 5.f).op());  // as a restore does
    session.run(ema.average(w).initializer());
    EXPECT_EQ(session.run(ema.average(w).value()).scalar<float>(), 5);
  }
}

TEST(ExponentialMovingAverage, CorrectsAveragesOfTensorsThatBeginAtZero) {
  Graph g;
  Variable w = g.variable("W", {1.f, 2.f});
  Output x = w * 2.f;
  ExponentialMovingAverage ema(0.9f, {.zero_debias = true});
  const int64_t made = g.version();
  Operation update = ema.apply({x});
  EXPECT_EQ(
      nodes(g, made),
      "mul/ExponentialMovingAverage/Initializer/zeros:Const mul/ExponentialMovingAverage:VariableV2 "
      "mul/ExponentialMovingAverage/Assign:Assign mul/ExponentialMovingAverage/read:Identity "
      "ExponentialMovingAverage/decay:Const ExponentialMovingAverage/AssignMovingAvg/sub/x:Const "
      "ExponentialMovingAverage/AssignMovingAvg/sub:Sub "
      "mul/ExponentialMovingAverage/biased/Initializer/zeros:Const mul/ExponentialMovingAverage/biased:VariableV2 "
      "mul/ExponentialMovingAverage/biased/Assign:Assign mul/ExponentialMovingAverage/biased/read:Identity "
      "mul/ExponentialMovingAverage/local_step/Initializer/zeros:Const "
      "mul/ExponentialMovingAverage/local_step:VariableV2 mul/ExponentialMovingAverage/local_step/Assign:Assign "
      "mul/ExponentialMovingAverage/local_step/read:Identity ExponentialMovingAverage/AssignMovingAvg/sub_1:Sub "
      "ExponentialMovingAverage/AssignMovingAvg/mul:Mul "
      "ExponentialMovingAverage/AssignMovingAvg/AssignSub:AssignSub "
      "ExponentialMovingAverage/AssignMovingAvg/AssignAdd/value:Const "
      "ExponentialMovingAverage/AssignMovingAvg/AssignAdd:AssignAdd "
      "ExponentialMovingAverage/AssignMovingAvg/sub_2/x:Const ExponentialMovingAverage/AssignMovingAvg/sub_2:Sub "
      "ExponentialMovingAverage/AssignMovingAvg/Pow:Pow ExponentialMovingAverage/AssignMovingAvg/sub_3/x:Const "
      "ExponentialMovingAverage/AssignMovingAvg/sub_3:Sub ExponentialMovingAverage/AssignMovingAvg/truediv:RealDiv "
      "ExponentialMovingAverage/AssignMovingAvg:Assign ExponentialMovingAverage:NoOp");
  Session session(g);
  session.run(g.global_variables_initializer());
  for (int i = 0; i < 3; ++i) {
    session.run(update);
    testing::expect_near(session.run(ema.average(x).value()), Tensor(std::vector<float>{2, 4}), 1e-5);
  }
}

TEST(ExponentialMovingAverage, ServesResourceVariables) {
  Graph g;
  Variable w = g.variable("W", {1.f, 2.f}, {.use_resource = true});
  ExponentialMovingAverage ema(0.75f);
  Operation update = ema.apply(g.trainable_variables());
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(assign(w, Tensor(std::vector<float>{5, 6})));
  session.run(update);
  testing::expect_near(session.run(ema.average(w).value()), Tensor(std::vector<float>{2, 3}), 1e-6);
  expect_error([&] { ema.apply({g.variable("n", 1)}); }, Code::InvalidArgument, "int32");
}

struct Gated {
  Graph g;
  Variable w = g.variable("W", {{1.f, 2.f}, {3.f, 4.f}}), b = g.variable("b", {0.5f, 1.f});
  Output loss = reduce_sum(matmul(w, w) + b);
  int64_t made = g.version();
};

TEST(GateGradients, MakesTensorFlowsTuples) {
  Gated op, graph, none;
  GradientDescent optimizer(0.1f);
  optimizer.compute_gradients(op.loss);
  EXPECT_TRUE(op.g.find("gradients/add_grad/tuple/group_deps"));
  EXPECT_TRUE(op.g.find("gradients/add_grad/tuple/control_dependency_1"));
  EXPECT_TRUE(op.g.find("gradients/MatMul_grad/tuple/control_dependency_1"));
  EXPECT_FALSE(op.g.find("gradients/Sum_grad/tuple/group_deps"));  // one gradient needs no gate

  GradientDescent other(0.1f);
  other.compute_gradients(graph.loss, {.gate_gradients = GateGradients::Graph});
  EXPECT_TRUE(nodes(graph.g, graph.made)
                  .ends_with("tuple/group_deps:NoOp tuple/control_dependency:Identity "
                             "tuple/control_dependency_1:Identity"));
  EXPECT_FALSE(graph.g.find("gradients/add_grad/tuple/group_deps"));

  GradientDescent third(0.1f);
  third.compute_gradients(none.loss, {.gate_gradients = GateGradients::None});
  EXPECT_EQ(nodes(none.g, none.made).find("tuple"), std::string::npos);
}

TEST(GateGradients, DoesNotChangeTheGradients) {
  for (GateGradients gate : {GateGradients::None, GateGradients::Op, GateGradients::Graph}) {
    Gated m;
    Operation train = GradientDescent(0.1f).minimize(m.loss, {.gate_gradients = gate});
    Session session(m.g);
    session.run(m.g.global_variables_initializer());
    session.run(train);
    testing::expect_near(session.run(m.w.value()), Tensor::from<float>({0.3f, 0.9f, 2.1f, 2.7f}, {2, 2}), 1e-6);
    testing::expect_near(session.run(m.b.value()), Tensor(std::vector<float>{0.3f, 0.8f}), 1e-6);
  }
}

TEST(Clip, TakesSparseGradientsAndNone) {
  Graph g;
  Output a = g.constant({{1, 2}, {3, 4}}, float32);
  IndexedSlices sparse{a, g.constant({0, 1}, int32), g.constant({3, 2}, int32)};
  Gradient by_norm = clip_gradient_by_norm(sparse, 1.0);
  auto [clipped, norm] = clip_gradients_by_global_norm({a, Gradient(), sparse}, 2.0);
  ASSERT_TRUE(by_norm.sparse() && clipped[2].sparse() && clipped[1].none());
  EXPECT_EQ(clipped[2].slices().indices, sparse.indices);
  Output average = clip_by_average_norm(a, 1.0);
  Session session(g);
  const float length = std::sqrt(30.f), both = std::sqrt(60.f);
  testing::expect_near(session.run(by_norm.slices().values),
                       Tensor::from<float>({1 / length, 2 / length, 3 / length, 4 / length}, {2, 2}), 1e-6);
  EXPECT_NEAR(session.run(norm).scalar<float>(), both, 1e-5);
  testing::expect_near(session.run(clipped[2].slices().values),
                       Tensor::from<float>({2 / both, 4 / both, 6 / both, 8 / both}, {2, 2}), 1e-6);
  // The mean norm is 5.48 / 4.
  testing::expect_near(session.run(average),
                       Tensor::from<float>({4 / length, 8 / length, 12 / length, 16 / length}, {2, 2}), 1e-6);
}

TEST(Clip, ByAverageNormHasTensorFlowsNodes) {
  Graph g;
  Output a = g.constant({{1, 2}, {3, 4}}, float32, "a");
  clip_by_average_norm(a, 1.0);
  EXPECT_EQ(nodes(g, 1),
            "clip_by_average_norm/Size:Const clip_by_average_norm/Cast:Cast clip_by_average_norm/mul:Mul "
            "clip_by_average_norm/Rank:Const clip_by_average_norm/range/start:Const "
            "clip_by_average_norm/range/delta:Const clip_by_average_norm/range:Range clip_by_average_norm/Sum:Sum "
            "clip_by_average_norm/Rsqrt:Rsqrt clip_by_average_norm/mul_1/y:Const clip_by_average_norm/mul_1:Mul "
            "clip_by_average_norm/mul_2:Mul clip_by_average_norm/Const:Const clip_by_average_norm/truediv/y:Const "
            "clip_by_average_norm/truediv:RealDiv clip_by_average_norm/Minimum:Minimum clip_by_average_norm/mul_3:Mul "
            "clip_by_average_norm:Identity");
}

}  // namespace
}  // namespace weir::train
