#include "weir/schedules.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::train {
namespace {

using testing::expect_error;

std::string nodes(const Graph& g) {
  std::string text;
  for (const Operation& op : g.operations()) {
    if (op.name() != "gs") text += (text.empty() ? "" : " ") + op.name() + ":" + op.type();
  }
  return text;
}

// The rates at steps 0, 3, 10, 17 and 25 are `rates`, and the nodes `names`; both are TensorFlow's.
void expect_schedule(const std::function<Output(Output)>& make, const std::vector<float>& rates,
                     const std::string& names, double tolerance = 1e-7) {
  Graph g;
  Output step = g.placeholder(int32, {}, "gs");
  Output rate = make(step);
  if (!names.empty()) {
    EXPECT_EQ(nodes(g), names);
  }
  Session session(g);
  std::vector<float> got;
  for (int i : {0, 3, 10, 17, 25}) got.push_back(session.run(rate, {{step, Tensor(i)}}).scalar<float>());
  testing::expect_near(Tensor(got), Tensor(rates), tolerance);
}

TEST(ExponentialDecay, IsTensorFlows) {
  expect_schedule([](Output s) { return exponential_decay(0.1, s, 10, 0.96); },
                  {0.1f, 0.098782808f, 0.096000001f, 0.093295582f, 0.09029799f},
                  "ExponentialDecay/initial_learning_rate:Const ExponentialDecay/Cast/x:Const "
                  "ExponentialDecay/Cast:Cast ExponentialDecay/Cast_1/x:Const ExponentialDecay/Cast_2:Cast "
                  "ExponentialDecay/truediv:RealDiv ExponentialDecay/Pow:Pow ExponentialDecay:Mul");
  expect_schedule([](Output s) { return exponential_decay(0.1, s, 10, 0.96, {.staircase = true}, "lr"); },
                  {0.1f, 0.1f, 0.096000001f, 0.096000001f, 0.092160001f},
                  "lr/initial_learning_rate:Const lr/Cast/x:Const lr/Cast:Cast lr/Cast_1/x:Const lr/Cast_2:Cast "
                  "lr/truediv:RealDiv lr/Floor:Floor lr/Pow:Pow lr:Mul");
}

TEST(NaturalExpDecay, IsTensorFlows) {
  expect_schedule([](Output s) { return natural_exp_decay(0.1, s, 10, 0.5); },
                  {0.1f, 0.086070798f, 0.060653068f, 0.042741492f, 0.028650481f},
                  "Neg/x:Const Neg:Neg Exp:Exp ExponentialDecay/initial_learning_rate:Const "
                  "ExponentialDecay/Cast/x:Const ExponentialDecay/Cast:Cast ExponentialDecay/Cast_1:Cast "
                  "ExponentialDecay/truediv:RealDiv ExponentialDecay/Pow:Pow ExponentialDecay:Mul");
}

TEST(InverseTimeDecay, IsTensorFlows) {
  expect_schedule([](Output s) { return inverse_time_decay(0.1, s, 10, 0.5); },
                  {0.1f, 0.086956523f, 0.06666667f, 0.054054055f, 0.044444446f},
                  "InverseTimeDecay/initial_learning_rate:Const InverseTimeDecay/Cast/x:Const "
                  "InverseTimeDecay/Cast:Cast InverseTimeDecay/Cast_1/x:Const InverseTimeDecay/Cast_2:Cast "
                  "InverseTimeDecay/truediv:RealDiv InverseTimeDecay/Const:Const InverseTimeDecay/Cast_3:Cast "
                  "InverseTimeDecay/Mul:Mul InverseTimeDecay/Add:Add InverseTimeDecay:RealDiv");
}

TEST(PolynomialDecay, IsTensorFlows) {
  expect_schedule(
      [](Output s) { return polynomial_decay(0.1, s, 10, {.end_learning_rate = 0.01, .power = 0.5}); },
      {0.1f, 0.085299402f, 0.01f, 0.01f, 0.01f},
      "PolynomialDecay/initial_learning_rate:Const PolynomialDecay/Cast/x:Const PolynomialDecay/Cast_1/x:Const "
      "PolynomialDecay/Cast_2:Cast PolynomialDecay/Cast_3/x:Const PolynomialDecay/Cast_3:Cast "
      "PolynomialDecay/Minimum/y:Const PolynomialDecay/Minimum:Minimum PolynomialDecay/truediv:RealDiv "
      "PolynomialDecay/sub:Sub PolynomialDecay/sub_1/x:Const PolynomialDecay/sub_1:Sub PolynomialDecay/Pow:Pow "
      "PolynomialDecay/Mul:Mul PolynomialDecay:Add");
  expect_schedule([](Output s) { return polynomial_decay(0.1, s, 10, {.end_learning_rate = 0.0, .cycle = true}); },
                  {0.1f, 0.07f, 0, 0.015f, 0.1f / 6}, "");
}

TEST(CosineDecay, IsTensorFlows) {
  expect_schedule([](Output s) { return cosine_decay(0.1, s, 10); }, {0.1f, 0.079389267f, 0, 0, 0},
                  "CosineDecay/initial_learning_rate:Const CosineDecay/Cast/x:Const CosineDecay/Cast:Cast "
                  "CosineDecay/Cast_1:Cast CosineDecay/Minimum:Minimum CosineDecay/truediv:RealDiv "
                  "CosineDecay/Const:Const CosineDecay/mul:Mul CosineDecay/Cos:Cos CosineDecay/add/x:Const "
                  "CosineDecay/add:AddV2 CosineDecay/mul_1/x:Const CosineDecay/mul_1:Mul CosineDecay/mul_2/x:Const "
                  "CosineDecay/mul_2:Mul CosineDecay/add_1/y:Const CosineDecay/add_1:AddV2 CosineDecay/Mul_3:Mul");
}

// Steps 0, 3, 10, 17 and 25.
TEST(CosineDecayRestarts, BeginsAgainWithLongerPeriods) {
  expect_schedule([](Output s) { return cosine_decay_restarts(1.0, s, 10); },
                  {1, 0.79389263f, 1, 0.72699525f, 0.14644661f}, "", 1e-5);
  expect_schedule(
      [](Output s) { return cosine_decay_restarts(1.0, s, 10, {.t_mul = 1, .m_mul = 0.5f, .alpha = 0.1f}); },
      {1, 0.81450337f, 0.55f, 0.19274832f, 0.2125f}, "", 1e-5);
}

TEST(LinearCosineDecay, IsALineTimesAWave) {
  expect_schedule([](Output s) { return linear_cosine_decay(1.0, s, 10); },
                  {1.001f, 0.7f * 0.79389263f + 0.001f, 0.001f, 0.001f, 0.001f}, "", 1e-6);
}

TEST(PiecewiseConstant, ChoosesByBoundariesThatAreIncluded) {
  expect_schedule(
      [](Output s) {
        return piecewise_constant(s, {3, 10}, {1.0, 0.5, 0.25});
      },
      {1, 1, 0.5f, 0.25f, 0.25f}, "");
  Graph g;
  Output step = g.placeholder(int32, {});
  expect_error(
      [&] {
        piecewise_constant(step, {3.0, 10.0}, {1.0, 0.5, 0.1});
      },
      Code::InvalidArgument, "same dtype as x");
  expect_error(
      [&] {
        piecewise_constant(step, {3, 10}, {1.0, 2, 3});
      },
      Code::InvalidArgument, "all with the same dtype");
  expect_error([&] { piecewise_constant(step, {3, 10}, {1.0, 0.5}); }, Code::InvalidArgument, "need 3 values");
}

}  // namespace
}  // namespace weir::train
