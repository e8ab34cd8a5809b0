#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/train.h"

namespace weir::train {
namespace {

using testing::expect_error;

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>()>;

// Three steps on sum(x * x * c) / 10, where x is W or rows of it, one of them twice. The numbers are TensorFlow's.
struct Case {
  std::string name;
  MakeOptimizer make;
  std::vector<float> dense, sparse;
};

const std::vector<Case> kCases = {
    {"GradientDescent",
     [] { return std::make_unique<GradientDescent>(0.1f); },
     {0.941192f, 1.769472f, -0.830584f, 2.336064f, 0.3645f, -1.362944f},
     {0.830584f, 1.557376f, -1, 3, 0.340736f, -1.185408f}},
    {"Momentum",
     [] { return std::make_unique<Momentum>(0.1f, 0.9f); },
     {0.889712f, 1.566432f, -0.680464f, 1.744224f, 0.243f, -0.7883838f},
     {0.680464f, 1.162816f, -1, 3, 0.197096f, -0.4423679f}},
    {"Nesterov",
     [] { return std::make_unique<Momentum>(0.1f, 0.9f, MomentumOptions{.use_nesterov = true}); },
     {0.8445283f, 1.399708f, -0.5656472f, 1.324738f, 0.1636605f, -0.4450856f},
     {0.5656472f, 0.8831589f, -1, 3, 0.1112714f, -0.0802207f}},
    {"Adam",
     [] { return std::make_unique<Adam>(0.1f); },
     {0.7015877f, 1.700625f, -0.7015874f, 2.700383f, 0.2048724f, -1.700624f},
     {0.7015874f, 1.700624f, -1, 3, 0.2048723f, -1.700624f}},
    {"Adagrad",
     [] { return std::make_unique<Adagrad>(0.1f); },
     {0.8619052f, 1.786727f, -0.7983005f, 2.775677f, 0.3136336f, -1.777133f},
     {0.7983005f, 1.778733f, -1, 3, 0.3076346f, -1.776562f}},
    {"RMSProp",
     [] { return std::make_unique<RmsProp>(0.1f, RmsPropOptions{.momentum = 0.5f}); },
     {0.9086818f, 1.661391f, -0.744809f, 2.264311f, 0.293985f, -1.279991f},
     {0.744809f, 1.426551f, -1, 3, 0.2599285f, -1.189264f}},
};

Tensor train_three_steps(const MakeOptimizer& make, DType dtype, bool sparse, bool resource) {
  Graph g;
  Variable w = g.variable("W", {{1, 2}, {-1, 3}, {0.5, -2}}, {.dtype = dtype, .use_resource = resource});
  Output x = sparse ? gather(w, {2, 0, 2}) : Output(w);
  Output loss = reduce_sum(x * x * g.constant({{1, 2}, {3, 4}, {5, 6}}, dtype)) / 10;
  auto optimizer = make();
  Operation train = optimizer->minimize(loss);
  Session session(g);
  session.run(g.global_variables_initializer());
  for (int i = 0; i < 3; ++i) session.run(train);
  return session.run(w.value());
}

TEST(Optimizers, MoveVariablesAsTensorFlowDoes) {
  for (const Case& c : kCases) {
    for (bool resource : {false, true}) {
      SCOPED_TRACE(c.name + (resource ? " resource" : " ref"));
      const Tensor expected = Tensor::from(std::span<const float>(c.dense), {3, 2});
      testing::expect_near(train_three_steps(c.make, float32, false, resource), expected, 1e-6);
      testing::expect_near(train_three_steps(c.make, float64, false, resource), testing::converted(expected, float64),
                           1e-6);
      testing::expect_near(train_three_steps(c.make, float16, false, resource), testing::converted(expected, float16),
                           1e-2);
    }
  }
}

TEST(Optimizers, MoveOnlyTheRowsOfSparseGradients) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Tensor expected = Tensor::from(std::span<const float>(c.sparse), {3, 2});
    testing::expect_near(train_three_steps(c.make, float32, true, false), expected, 1e-6);
  }
}

// Nodes made since `from`, without the gradients.
std::string nodes(const Graph& g, int64_t from) {
  std::string text;
  for (const Operation& op : g.operations()) {
    if (from-- > 0 || op.name().starts_with("gradients")) continue;
    text += (text.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  return text;
}

struct Model {
  Graph g;
  Variable w = g.variable("W", {1.f, 2.f}), b = g.variable("b", 0.5f);
  Variable global_step = g.variable("gs", 0, {.trainable = false});
  Output loss = reduce_sum(w * w + b);
  int64_t made = g.version();
};

TEST(GradientDescent, HasTensorFlowsNodes) {
  Model m;
  Operation train = GradientDescent(0.1f).minimize(m.loss, {.global_step = m.global_step});
  EXPECT_EQ(nodes(m.g, m.made),
            "GradientDescent/learning_rate:Const GradientDescent/update_W/ApplyGradientDescent:ApplyGradientDescent "
            "GradientDescent/update_b/ApplyGradientDescent:ApplyGradientDescent GradientDescent/update:NoOp "
            "GradientDescent/value:Const GradientDescent:AssignAdd");
  EXPECT_EQ(train.name(), "GradientDescent");
  Session session(m.g);
  session.run(m.g.global_variables_initializer());
  session.run(train);
  EXPECT_EQ(session.run(m.global_step.value()).scalar<int32_t>(), 1);
}

TEST(Momentum, HasTensorFlowsNodes) {
  Model m;
  Momentum optimizer(0.1f, 0.9f);
  optimizer.minimize(m.loss);
  EXPECT_EQ(nodes(m.g, m.made),
            "W/Momentum/Initializer/zeros:Const W/Momentum:VariableV2 W/Momentum/Assign:Assign "
            "W/Momentum/read:Identity b/Momentum/Initializer/zeros:Const b/Momentum:VariableV2 "
            "b/Momentum/Assign:Assign b/Momentum/read:Identity Momentum/learning_rate:Const Momentum/momentum:Const "
            "Momentum/update_W/ApplyMomentum:ApplyMomentum Momentum/update_b/ApplyMomentum:ApplyMomentum "
            "Momentum:NoOp");
  EXPECT_EQ(optimizer.slot(m.w, "momentum").name(), "W/Momentum");
  EXPECT_EQ(optimizer.slot_names(), std::vector<std::string>{"momentum"});
  EXPECT_FALSE(optimizer.slot(m.global_step, "momentum"));
}

TEST(Adam, HasTensorFlowsNodes) {
  Model m;
  Adam optimizer(0.1f);
  optimizer.minimize(m.loss, {.var_list = {m.w}});
  EXPECT_EQ(nodes(m.g, m.made),
            "beta1_power/initial_value:Const beta1_power:VariableV2 beta1_power/Assign:Assign "
            "beta1_power/read:Identity beta2_power/initial_value:Const beta2_power:VariableV2 "
            "beta2_power/Assign:Assign beta2_power/read:Identity W/Adam/Initializer/zeros:Const W/Adam:VariableV2 "
            "W/Adam/Assign:Assign W/Adam/read:Identity W/Adam_1/Initializer/zeros:Const W/Adam_1:VariableV2 "
            "W/Adam_1/Assign:Assign W/Adam_1/read:Identity Adam/learning_rate:Const Adam/beta1:Const Adam/beta2:Const "
            "Adam/epsilon:Const Adam/update_W/ApplyAdam:ApplyAdam Adam/mul:Mul Adam/Assign:Assign Adam/mul_1:Mul "
            "Adam/Assign_1:Assign Adam:NoOp");
  EXPECT_EQ(optimizer.variables().size(), 4u);
  for (const Variable& variable : optimizer.variables()) {
    EXPECT_EQ(variable.handle().op().attrs().get<std::vector<std::string>>("_class"),
              std::vector<std::string>{"loc:@W"});
  }
}

TEST(Optimizer, TakesATensorAsLearningRate) {
  Model m;
  Output rate = m.g.placeholder(float32, {}, "rate");
  Operation train = GradientDescent(rate).minimize(m.loss, {.var_list = {m.b}});
  Session session(m.g);
  session.run(m.g.global_variables_initializer());
  session.run(train, {{rate, Tensor(0.25f)}});
  EXPECT_EQ(session.run(m.b.value()).scalar<float>(), 0.5f - 0.25f * 2);
}

TEST(Optimizer, SharesSlotsWhereTheScopeSharesVariables) {
  Graph g;
  Variable w = g.variable("w", std::vector<float>{1, 2});
  auto names_with = [&](Reuse reuse) {
    VariableScope scope = g.variable_scope("optimizer", {.reuse = reuse});
    RmsProp optimizer(0.1f, {.momentum = 0.9f});
    optimizer.minimize(reduce_sum(w * w));
    return std::vector<std::string>{optimizer.slot(w, "rms").name(), optimizer.slot(w, "momentum").name()};
  };
  const std::vector<std::string> first = names_with(false);
  EXPECT_EQ(first, (std::vector<std::string>{"optimizer/w/RMSProp", "optimizer/w/RMSProp_1"}));
  const size_t variables = g.global_variables().size();
  EXPECT_EQ(names_with(true), first);
  EXPECT_EQ(names_with(kAutoReuse), first);
  EXPECT_EQ(g.global_variables().size(), variables);
  expect_error([&] { names_with(false); }, Code::InvalidArgument, "optimizer/w/RMSProp");
}

TEST(Optimizer, ComplainsWhenThereIsNothingToOptimize) {
  Graph g;
  Output loss = g.constant({1, 2}, float32);
  expect_error([&] { GradientDescent(0.1f).minimize(loss); }, Code::InvalidArgument, "no variables");
  g.variable("unrelated", 1.f);
  expect_error([&] { GradientDescent(0.1f).minimize(loss); }, Code::InvalidArgument, "unrelated");
}

}  // namespace
}  // namespace weir::train
