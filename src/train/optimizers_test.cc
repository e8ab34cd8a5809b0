#include "weir/optimizers.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::train {
namespace {

using testing::expect_error;
using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const Variable& global_step)>;

// Three steps on sum(x * x * c) / 10, where x is W or rows of it, one of them twice. The numbers are TensorFlow's, and
// so are the names and types of the nodes.
struct Case {
  std::string name;
  MakeOptimizer make;
  std::vector<float> dense, sparse;
  std::string nodes;
};

const std::string kFtrlNodes =
    "Const_2:Const W/Ftrl:VariableV2 W/Ftrl/Assign:Assign W/Ftrl/read:Identity W/Ftrl_1/Initializer/zeros:Const "
    "W/Ftrl_1:VariableV2 W/Ftrl_1/Assign:Assign W/Ftrl_1/read:Identity Ftrl/learning_rate:Const "
    "Ftrl/l1_regularization_strength:Const Ftrl/l2_regularization_strength:Const "
    "Ftrl/l2_shrinkage_regularization_strength:Const Ftrl/learning_rate_power:Const ";

const std::vector<Case> kCases = {
    {"Adadelta",
     [](const Variable&) { return std::make_unique<Adadelta>(0.5f, AdadeltaOptions{.rho = 0.9f, .epsilon = 1e-3f}); },
     {0.86678684f, -1.8498104f, 2.848145f, 3.8476293f, -4.847374f, 5.8472185f},
     {0.85287929f, -1.8489189f, 3, 4, -4.8473644f, 5.8472118f},
     "W/Adadelta/Initializer/zeros:Const W/Adadelta:VariableV2 W/Adadelta/Assign:Assign W/Adadelta/read:Identity "
     "W/Adadelta_1/Initializer/zeros:Const W/Adadelta_1:VariableV2 W/Adadelta_1/Assign:Assign "
     "W/Adadelta_1/read:Identity Adadelta/lr:Const Adadelta/rho:Const Adadelta/epsilon:Const "
     "Adadelta/update_W/ApplyAdadelta:ApplyAdadelta Adadelta/update:NoOp Adadelta/value:Const Adadelta:AssignAdd"},
    {"CenteredRmsProp",
     [](const Variable&) {
       return std::make_unique<RmsProp>(
           0.1f, RmsPropOptions{.decay = 0.8f, .momentum = 0.5f, .epsilon = 0.01f, .centered = true});
     },
     {0.89926219f, -1.6364114f, 2.3649769f, 3.2045965f, -4.1307373f, 5.0971904f},
     {0.72353071f, -1.4142679f, 3, 4, -4.1132879f, 5.0837569f},
     "W/RMSProp/Initializer/ones:Const W/RMSProp:VariableV2 W/RMSProp/Assign:Assign W/RMSProp/read:Identity "
     "W/RMSProp_1/Initializer/zeros:Const W/RMSProp_1:VariableV2 W/RMSProp_1/Assign:Assign W/RMSProp_1/read:Identity "
     "W/RMSProp_2/Initializer/zeros:Const W/RMSProp_2:VariableV2 W/RMSProp_2/Assign:Assign W/RMSProp_2/read:Identity "
     "RMSProp/learning_rate:Const RMSProp/decay:Const RMSProp/momentum:Const RMSProp/epsilon:Const "
     "RMSProp/update_W/ApplyCenteredRMSProp:ApplyCenteredRMSProp RMSProp/update:NoOp RMSProp/value:Const "
     "RMSProp:AssignAdd"},
    {"Ftrl",
     [](const Variable&) {
       return std::make_unique<Ftrl>(
           0.2f, FtrlOptions{.l1_regularization_strength = 0.05f, .l2_regularization_strength = 0.1f});
     },
     {0.015643056f, -0.86697233f, 2.0173385f, 3.1313207f, -4.2075481f, 5.2606926f},
     {0.22844361f, -1.1765345f, 3, 4, -4.2638927f, 5.3322067f},
     kFtrlNodes + "Ftrl/update_W/ApplyFtrl:ApplyFtrl Ftrl/update:NoOp Ftrl/value:Const Ftrl:AssignAdd"},
    {"Ftrl with another power",
     [](const Variable&) {
       return std::make_unique<Ftrl>(0.2f,
                                     FtrlOptions{.learning_rate_power = -0.6f, .l1_regularization_strength = 0.05f});
     },
     {0.015243647f, -1.0168083f, 2.2650635f, 3.4147086f, -4.5065956f, 5.568109f},
     {0.26725662f, -1.3502645f, 3, 4, -4.5528917f, 5.6251192f},
     kFtrlNodes + "Ftrl/update_W/ApplyFtrl:ApplyFtrl Ftrl/update:NoOp Ftrl/value:Const Ftrl:AssignAdd"},
    {"Ftrl with shrinkage",
     [](const Variable&) {
       return std::make_unique<Ftrl>(
           0.2f, FtrlOptions{.l2_regularization_strength = 0.1f, .l2_shrinkage_regularization_strength = 0.3f});
     },
     {-0.093882903f, -0.48116562f, 1.6482204f, 2.826843f, -3.9542093f, 5.0451746f},
     {0.076281168f, -0.92098403f, 3, 4, -4.0512066f, 5.1694169f},
     kFtrlNodes + "Ftrl/update_W/ApplyFtrlV2:ApplyFtrlV2 Ftrl/update:NoOp Ftrl/value:Const Ftrl:AssignAdd"},
    {"ProximalGradientDescent",
     [](const Variable&) {
       return std::make_unique<ProximalGradientDescent>(
           0.1f, ProximalOptions{.l1_regularization_strength = 0.5f, .l2_regularization_strength = 0.2f});
     },
     {0.74553913f, -1.5288352f, 2.2122073f, 2.8019884f, -3.3043287f, 3.7251999f},
     {0.64685148f, -1.3344381f, 3, 4, -3.0830338f, 3.2284753f},
     "ProximalGradientDescent/learning_rate:Const ProximalGradientDescent/l1_regularization_strength:Const "
     "ProximalGradientDescent/l2_regularization_strength:Const "
     "ProximalGradientDescent/update_W/ApplyProximalGradientDescent:ApplyProximalGradientDescent "
     "ProximalGradientDescent/update:NoOp ProximalGradientDescent/value:Const ProximalGradientDescent:AssignAdd"},
    {"ProximalAdagrad",
     [](const Variable&) {
       return std::make_unique<ProximalAdagrad>(
           0.3f, ProximalAdagradOptions{.l1_regularization_strength = 0.1f, .l2_regularization_strength = 0.2f});
     },
     {0.24466713f, -1.0861942f, 2.129128f, 3.1682458f, -4.1952353f, 5.21422f},
     {0.26846889f, -1.2020621f, 3, 4, -4.2172771f, 5.2422123f},
     "Const_2:Const W/ProximalAdagrad:VariableV2 W/ProximalAdagrad/Assign:Assign W/ProximalAdagrad/read:Identity "
     "ProximalAdagrad/learning_rate:Const ProximalAdagrad/l1_regularization_strength:Const "
     "ProximalAdagrad/l2_regularization_strength:Const "
     "ProximalAdagrad/update_W/ApplyProximalAdagrad:ApplyProximalAdagrad ProximalAdagrad/update:NoOp "
     "ProximalAdagrad/value:Const ProximalAdagrad:AssignAdd"},
    {"AdagradDA",
     [](const Variable& step) {
       return std::make_unique<AdagradDA>(
           0.3f, step, AdagradDAOptions{.l1_regularization_strength = 0.1f, .l2_regularization_strength = 0.2f});
     },
     {0, 0.099327907f, -0.17907485f, -0.21765591f, 0.23899265f, -0.25214463f},
     {-0.03999025f, 0.15152533f, 3, 4, 0.24313048f, -0.25659811f},
     "Const_2:Const Const_3:Const W/AdagradDA:VariableV2 W/AdagradDA/Assign:Assign W/AdagradDA/read:Identity "
     "W/AdagradDA_1:VariableV2 W/AdagradDA_1/Assign:Assign W/AdagradDA_1/read:Identity AdagradDA/learning_rate:Const "
     "AdagradDA/Identity:Identity AdagradDA/add/y:Const AdagradDA/add:AddV2 AdagradDA/update_W/Identity:Identity "
     "AdagradDA/update_W/Cast/x:Const AdagradDA/update_W/Cast_1/x:Const "
     "AdagradDA/update_W/ApplyAdagradDA:ApplyAdagradDA AdagradDA/update:NoOp AdagradDA/value:Const "
     "AdagradDA:AssignAdd"},
};

struct Trained {
  Tensor w;
  std::string nodes;  // of the optimizer
};

Trained train_three_steps(const MakeOptimizer& make, DType dtype, bool sparse, bool resource) {
  Graph g;
  Variable w = g.variable("W", {{1, -2}, {3, 4}, {-5, 6}}, {.dtype = dtype, .use_resource = resource});
  Variable step = g.variable("gs", Tensor(int64_t{0}), {.trainable = false});
  Output x = sparse ? gather(w, {2, 0, 2}) : Output(w);
  Output loss = reduce_sum(x * x * g.constant({{1, 2}, {3, 4}, {5, 6}}, dtype)) / 10;
  size_t made = g.operations().size();
  auto optimizer = make(step);
  Operation train = optimizer->minimize(loss, {.global_step = step});
  Trained result;
  for (const Operation& op : g.operations()) {
    if (made > 0 ? (--made, true) : op.name().starts_with("gradients")) continue;
    result.nodes += (result.nodes.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  Session session(g);
  session.run(g.global_variables_initializer());
  for (int i = 0; i < 3; ++i) session.run(train);
  result.w = session.run(w.value());
  return result;
}

TEST(FurtherOptimizers, MoveVariablesAsTensorFlowDoes) {
  for (const Case& c : kCases) {
    for (bool resource : {false, true}) {
      SCOPED_TRACE(c.name + (resource ? " resource" : " ref"));
      const Tensor expected = Tensor::from(std::span<const float>(c.dense), {3, 2});
      testing::expect_near(train_three_steps(c.make, float32, false, resource).w, expected, 2e-6);
      testing::expect_near(train_three_steps(c.make, float64, false, resource).w, testing::converted(expected, float64),
                           2e-6);
      testing::expect_near(train_three_steps(c.make, float16, false, resource).w, testing::converted(expected, float16),
                           2e-2);
    }
  }
}

TEST(FurtherOptimizers, MoveOnlyTheRowsOfSparseGradients) {
  for (const Case& c : kCases) {
    for (bool resource : {false, true}) {
      SCOPED_TRACE(c.name + (resource ? " resource" : " ref"));
      const Tensor expected = Tensor::from(std::span<const float>(c.sparse), {3, 2});
      testing::expect_near(train_three_steps(c.make, float32, true, resource).w, expected, 2e-6);
    }
  }
}

TEST(FurtherOptimizers, HaveTensorFlowsNodes) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(train_three_steps(c.make, float32, false, false).nodes, c.nodes);
  }
}

TEST(FurtherOptimizers, RejectBadParameters) {
  expect_error([] { Ftrl(0.1f, {.learning_rate_power = 0.5f}); }, Code::InvalidArgument, "learning_rate_power");
  expect_error([] { Ftrl(0.1f, {.l1_regularization_strength = -1}); }, Code::InvalidArgument, "negative");
  expect_error([] { ProximalAdagrad(0.1f, {.initial_accumulator_value = 0}); }, Code::InvalidArgument, "positive");
}

}  // namespace
}  // namespace weir::train
