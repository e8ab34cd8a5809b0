#include "weir/custom_gradient.h"

#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/nn.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::testing {
namespace {

Tensor slope(const Output& y, const Output& x) { return Session(x.graph()).run(gradients({y}, {x})[0].dense()); }

TEST(CustomGradient, ReplacesTheRuleOfAnOperation) {
  Graph g;
  Output x = g.constant({-1, 2}, float32);
  set_gradient(g, "Square", [](const Operation& op, const std::vector<Output>& grads) {
    EXPECT_EQ(op.type(), "Square");
    return std::vector<Gradient>{grads[0] * 10.0f};
  });
  expect_near(slope(square(x), x), Tensor::from<float>({10, 10}, {2}), 0);
}

TEST(CustomGradient, GoesToNodesThatWereMadeUnderAnOverride) {
  Graph g;
  Output x = g.constant({-1, 2}, float32);
  Output before = nn::relu(x), guided, as_identity;
  {
    GradientOverride outer(g, {{"Relu", "Guided"}});
    guided = nn::relu(x);
    GradientOverride inner(g, {{"Relu", "Identity"}});
    as_identity = nn::relu(x);
  }
  Output after = nn::relu(x);
  set_gradient(g, "Guided", [](const Operation& op, const std::vector<Output>& grads) {
    return std::vector<Gradient>{grads[0] * op.output(0) * 3.0f};
  });
  expect_near(slope(before, x), Tensor::from<float>({0, 1}, {2}), 0);
  expect_near(slope(guided, x), Tensor::from<float>({0, 6}, {2}), 0);
  expect_near(slope(as_identity, x), Tensor::from<float>({1, 1}, {2}), 0);
  expect_near(slope(after, x), Tensor::from<float>({0, 1}, {2}), 0);
}

TEST(CustomGradient, MustFitTheInputs) {
  Graph g;
  Output x = g.constant({-1, 2}, float32);
  set_gradient(g, "Square", [](const Operation&, const std::vector<Output>&) { return std::vector<Gradient>(2); });
  expect_error([&] { gradients({square(x)}, {x}); }, Code::InvalidArgument, "2 gradients for 1 inputs");
  GradientOverride unknown(g, {{"Abs", "NobodyKnows"}});
  expect_error([&] { gradients({abs(x)}, {x}); }, Code::NotFound, "No gradient defined");
}

}  // namespace
}  // namespace weir::testing
