#include "weir/custom_gradient.h"

#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/control_flow.h"
#include "weir/index_ops.h"
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

TEST(CustomGradient, ReachesIntoBranchesAndLoops) {
  Graph g;
  Output x = g.constant(2.0f);
  set_gradient(g, "Tripled", [](const Operation& op, const std::vector<Output>& grads) {
    return std::vector<Gradient>{grads[0] * op.input(0) * 3.0f};
  });
  GradientOverride tripled(g, {{"Square", "Tripled"}});
  Output branch = cond(
      g.constant(true), [&] { return square(x); }, [&] { return x; });
  expect_near(slope(branch, x), Tensor(6.0f), 0);
  std::vector<Output> last = while_loop([](const std::vector<Output>& v) { return less(v[0], 2); },
                                        [](const std::vector<Output>& v) {
                                          return std::vector<Output>{v[0] + 1, square(v[1])};
                                        },
                                        {0, x});
  expect_near(slope(last[1], x), Tensor(72.0f), 0);  // 3 * 4 times 3 * 2
}

TEST(CustomGradient, GetsZerosForOutputsThatNobodyReadsAndNothingForIntegers) {
  Graph g;
  Output x = g.constant({1, 2}, float32);
  set_gradient(g, "Split", [](const Operation&, const std::vector<Output>& grads) {
    return std::vector<Gradient>{Gradient(), concat({grads[0] * 5.0f, grads[1]}, 0)};
  });
  expect_near(slope(split(x, 2)[0], x), Tensor::from<float>({5, 0}, {2}), 0);
  set_gradient(g, "Unique", [](const Operation&, const std::vector<Output>& grads) {
    EXPECT_FALSE(grads[1]);
    return std::vector<Gradient>{grads[0]};
  });
  expect_near(slope(unique(x).y, x), Tensor::from<float>({1, 1}, {2}), 0);
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
