#include "weir/towers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"
#include "weir/variable_scope.h"

namespace weir::train {
namespace {

using testing::expect_error;

Tensor ramp(const Shape& shape, float step) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = std::sin(step * static_cast<float>(i));
  return t;
}

// Two layers with a bias each, and the mean of squares.
Output loss_of(const Output& images, const Output& targets) {
  Graph& g = images.graph();
  Output h = images;
  for (auto [name, in, out] : {std::tuple{"hidden", 5, 7}, {"output", 7, 3}}) {
    auto scope = g.variable_scope(name);
    Variable w = g.get_variable("weights", {in, out}, {.initializer = ramp({in, out}, 0.7f)});
    Variable b = g.get_variable("biases", {out}, {.initializer = constant_initializer(0.1)});
    h = tanh(matmul(h, w) + b);
  }
  return reduce_mean(square(h - targets));
}

// The variables after some steps of that many towers, all of which together see twelve rows.
std::vector<Tensor> train_towers(const std::vector<std::string>& devices, std::vector<Tensor>* gradients = nullptr,
                                 const SessionOptions& session_options = {}) {
  const size_t count = devices.size();
  Graph g;
  Variable step = g.variable("global_step", Tensor(int64_t{0}), {.trainable = false});
  const auto rows = static_cast<int64_t>(12 / count);
  const Tensor images = ramp({12, 5}, 1.3f), targets = ramp({12, 3}, 0.4f);
  Momentum optimizer(0.5f, 0.9f);
  Towers towers = train::towers(g, optimizer, std::vector<std::string>(count, "/cpu:0"),
                                [&](const Tower& tower) {
                                  const int64_t first = static_cast<int64_t>(tower.index) * rows;
                                  return loss_of(slice(g.constant(images), {first, 0}, {rows, 5}),
                                                 slice(g.constant(targets), {first, 0}, {rows, 3}));
                                },
                                {.global_step = step});
  Session session(g, session_options);
  session.run(g.global_variables_initializer());
  if (gradients) {
    for (const auto& [gradient, variable] : towers.gradients) gradients->push_back(session.run(gradient.dense()));
    gradients->push_back(session.run(towers.loss));
  }
  for (int i = 0; i < 5; ++i) session.run(towers.train);
  EXPECT_EQ(session.run(step).scalar<int64_t>(), 5);
  std::vector<Tensor> values;
  for (const Variable& variable : g.trainable_variables()) values.push_back(session.run(variable));
  return values;
}

void expect_near(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape());
    for (size_t k = 0; k < a[i].data<float>().size(); ++k) {
      EXPECT_NEAR(a[i].data<float>()[k], b[i].data<float>()[k], 1e-6) << "tensor " << i << " element " << k;
    }
  }
}

TEST(Towers, GiveTheGradientsOfOneModelWithTheJointBatch) {
  std::vector<Tensor> one_gradients, two_gradients, three_gradients;
  const std::vector<Tensor> one = train_towers({""}, &one_gradients);
  EXPECT_EQ(one.size(), 4u);
  expect_near(train_towers({"/cpu:0", "/cpu:0"}, &two_gradients), one);
  expect_near(train_towers({"", "", ""}, &three_gradients), one);
  expect_near(two_gradients, one_gradients);
  expect_near(three_gradients, one_gradients);
}

TEST(Towers, GiveTheSameNumbersWhereverTheyStand) {
  const std::vector<Tensor> expected = train_towers({"", ""});
  const std::vector<Tensor> gpus =
      train_towers({"/gpu:0", "/gpu:1"}, nullptr, {.virtual_gpus = {.count = 2, .allow_growth = true}});
  expect_near(gpus, expected);
  expect_near(train_towers({"/cpu:0", "/cpu:1"}, nullptr, {.device_count = {{"CPU", 2}}}), expected);
}

TEST(Towers, NodesCarryTheirTowersNameAndDevice) {
  Graph g;
  GradientDescent optimizer(0.1f);
  std::vector<std::string> seen;
  Towers towers = train::towers(g, optimizer, {"/cpu:0", ""}, [&](const Tower& tower) {
    seen.push_back(tower.scope + "|" + tower.device + "|" + std::to_string(tower.index));
    Output loss = reduce_mean(square(g.get_variable("w", {2})), {}, "loss");
    EXPECT_EQ(loss.op().name(), tower.scope + "loss");
    return loss;
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"tower_0/|/cpu:0|0", "tower_1/||1"}));
  EXPECT_EQ(towers.losses[0].op().device(), "/device:CPU:0");
  EXPECT_EQ(towers.losses[1].op().device(), "");
  EXPECT_EQ(towers.losses.size(), 2u);
  EXPECT_EQ(towers.gradients.size(), 1u);
  EXPECT_EQ(g.trainable_variables().size(), 1u);
  EXPECT_FALSE(g.variable_scope().reuse()) << "sharing ends with the towers";
}

TEST(Towers, VariablesAndAveragesStandOnTheirOwnDevice) {
  Graph g;
  GradientDescent optimizer(0.1f);
  auto model = [&](const Tower&) {
    Variable free = g.get_variable("free", {2});
    auto device = g.device("/gpu:7");
    return reduce_sum(free * g.get_variable("placed", {2}));
  };
  Towers towers = train::towers(g, optimizer, {"/gpu:0", "/gpu:1"}, model);
  EXPECT_EQ(g.operation("free").device(), "/device:CPU:0");
  EXPECT_EQ(g.operation("placed").device(), "/device:GPU:7");
  EXPECT_EQ(g.operation("tower_1/mul").device(), "/device:GPU:7");
  EXPECT_EQ(towers.gradients[0].first.dense().op().device(), "/device:CPU:0");
  EXPECT_EQ(towers.loss.op().device(), "/device:CPU:0");

  Graph other;
  train::towers(other, optimizer, {"/gpu:1"}, [&](const Tower&) { return reduce_sum(other.get_variable("free", {2})); },
                {.variable_device = ""});
  EXPECT_EQ(other.operation("free").device(), "/device:GPU:1");
}

TEST(Towers, UseVariablesOfTheScopeTheyStandIn) {
  Graph g;
  GradientDescent optimizer(0.1f);
  auto scope = g.variable_scope("net");
  towers(g, optimizer, {"", ""}, [&](const Tower&) { return reduce_sum(square(g.get_variable("w", {2}))); });
  EXPECT_EQ(g.trainable_variables()[0].name(), "net/w");
}

TEST(Towers, RefuseModelsThatCannotBeReplicated) {
  Graph g;
  GradientDescent optimizer(0.1f);
  expect_error([&] { towers(g, optimizer, {}, [](const Tower&) { return Output(); }); }, Code::InvalidArgument,
               "no devices");
  expect_error([&] { towers(g, optimizer, {""}, [](const Tower&) { return Output(); }); }, Code::InvalidArgument,
               "tower 0 gives no loss");
  expect_error(
      [&] {
        towers(g, optimizer, {"", ""}, [&](const Tower&) { return reduce_sum(g.variable("own", {1.f, 2.f})); });
      },
      Code::InvalidArgument, "tower 1 makes variables that the first does not have: 'tower_1/own'");
  expect_error(
      [&] {
        towers(g, optimizer, {"", ""}, [&](const Tower& tower) -> Output {
          if (tower.index == 1) throw Error(Code::Aborted, "the second model failed");
          return reduce_sum(g.get_variable("shared", {2}));
        });
      },
      Code::Aborted, "the second model failed");
  EXPECT_FALSE(g.variable_scope().reuse());
  EXPECT_EQ(g.current_name_scope(), "");
}

TEST(AverageGradients, IsTheMeanOverTheTowers) {
  Graph g;
  Variable w = g.variable("w", {1.f, 2.f});
  GradientDescent optimizer(1.f);
  GradsAndVars one = optimizer.compute_gradients(reduce_sum(w * 2.f)),
               two = optimizer.compute_gradients(reduce_sum(w * 6.f));
  const GradsAndVars average = average_gradients({one, two});
  Session session(g);
  EXPECT_EQ(session.run(average[0].first.dense()).data<float>()[1], 4);
  expect_error([&] { average_gradients({one, {}}); }, Code::InvalidArgument, "differ at place 0");
  expect_error([&] { average_gradients({}); }, Code::InvalidArgument, "no towers");
}

TEST(AverageGradients, OneThatATowerDoesNotHaveIsNone) {
  Graph g;
  Variable v = g.variable("v", 1.f), w = g.variable("w", 1.f);
  GradientDescent optimizer(1.f);
  const GradsAndVars average =
      average_gradients({optimizer.compute_gradients(v * w), optimizer.compute_gradients(square(w))});
  EXPECT_TRUE(average[0].first.none());
  EXPECT_FALSE(average[1].first.none());
}

TEST(AverageGradients, OfRowsIsMadeOfRows) {
  Graph g;
  Variable w = g.variable("w", {{1.f}, {2.f}, {3.f}});
  GradientDescent optimizer(1.f);
  const GradsAndVars average = average_gradients({optimizer.compute_gradients(reduce_sum(gather(w, {0, 2}))),
                                                  optimizer.compute_gradients(reduce_sum(gather(w, {2}) * 3.f))});
  ASSERT_TRUE(average[0].first.sparse());
  Operation train = optimizer.apply_gradients(average);
  Session session(g);
  session.run(g.global_variables_initializer());
  session.run(train);
  const Tensor values = session.run(w);
  EXPECT_EQ(values.data<float>()[0], 1 - 0.5f);
  EXPECT_EQ(values.data<float>()[1], 2);
  EXPECT_EQ(values.data<float>()[2], 3 - (1 + 3) / 2.f);
}

}  // namespace
}  // namespace weir::train
