#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::ops {
namespace {

Tensor draw(const char* op, const Tensor& parameter, int64_t count) {
  Graph g;
  NodeBuilder node(op);
  node.graph(g).input(Tensor(std::vector<int32_t>{static_cast<int32_t>(count)})).input(g.constant(parameter));
  node.attr("seed", int64_t{3}).attr("seed2", int64_t{5});
  if (std::string_view(op) == "RandomPoissonV2") node.attr("dtype", float32);
  Output samples = node.output();
  EXPECT_EQ(samples.shape(), (Shape{count, parameter.elements()}));
  return Session(g).run(samples);
}

// Mean and variance of column `i`.
std::pair<double, double> moments(const Tensor& samples, size_t i) {
  const auto values = samples.data<float>();
  const auto columns = static_cast<size_t>(samples.shape()[1]), rows = values.size() / columns;
  double sum = 0, squares = 0;
  for (size_t r = 0; r < rows; ++r) {
    const double x = values[r * columns + i];
    sum += x;
    squares += x * x;
  }
  const double mean = sum / static_cast<double>(rows);
  return {mean, squares / static_cast<double>(rows) - mean * mean};
}

TEST(RandomGamma, HasTheMomentsOfItsAlpha) {
  const std::vector<float> alphas = {0.3f, 1, 4.5f};
  const Tensor samples = draw("RandomGamma", Tensor(alphas), 20000);
  for (size_t i = 0; i < alphas.size(); ++i) {
    const auto [mean, variance] = moments(samples, i);
    EXPECT_NEAR(mean, alphas[i], 0.05 * std::max(1.0f, alphas[i]));
    EXPECT_NEAR(variance, alphas[i], 0.1 * std::max(1.0f, alphas[i]));
  }
  testing::expect_same(draw("RandomGamma", Tensor(alphas), 20000), samples);
  testing::expect_error([] { draw("RandomGamma", Tensor(std::vector<float>{-1}), 2); }, Code::InvalidArgument,
                        "alpha must not be negative");
}

TEST(RandomPoissonV2, HasTheMomentsOfItsRate) {
  const std::vector<float> rates = {0, 2.5f, 40};
  const Tensor samples = draw("RandomPoissonV2", Tensor(rates), 20000);
  for (size_t i = 0; i < rates.size(); ++i) {
    const auto [mean, variance] = moments(samples, i);
    EXPECT_NEAR(mean, rates[i], 0.03 * rates[i]);
    EXPECT_NEAR(variance, rates[i], 0.06 * rates[i]);
  }
  testing::expect_error([] { draw("RandomPoissonV2", Tensor(std::vector<float>{-1}), 2); }, Code::InvalidArgument,
                        "rate must be in");
}

}  // namespace
}  // namespace weir::ops
