#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "weir/weir.h"

namespace weir {
namespace {

Tensor values(const Shape& shape, unsigned seed) {
  Tensor t(float32, shape);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = uniform(engine);
  return t;
}

// A convolution with bias and activation, and its gradients, for which Winograd's method pays.
class DirectConvolutions : public ::testing::Test {
 protected:
  DirectConvolutions() {
    x = g.placeholder(float32, {8, 12, 12, 32});
    f = g.placeholder(float32, {5, 5, 32, 32});
    Output y = nn::relu(nn::bias_add(nn::conv2d(x, f), g.constant(values({32}, 3))));
    fetches = {y};
    for (const Gradient& grad : gradients({y}, {x, f})) fetches.push_back(grad.dense());
  }

  std::vector<Tensor> run(const SessionOptions& options) {
    return Session(g, options).run(fetches, {{x, values({8, 12, 12, 32}, 1)}, {f, values({5, 5, 32, 32}, 2)}});
  }
  static bool same_bits(const Tensor& a, const Tensor& b) {
    return std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.elements()) * sizeof(float)) == 0;
  }

  Graph g;
  Output x, f;
  std::vector<Output> fetches;
};

TEST_F(DirectConvolutions, UseAnotherMethodForAllThree) {
  const auto winograd = run({}), direct = run({.direct_convolutions = true});
  for (size_t i = 0; i < fetches.size(); ++i) EXPECT_FALSE(same_bits(winograd[i], direct[i])) << i;
}

TEST_F(DirectConvolutions, AgreeWithWinogradsMethod) {
  const auto winograd = run({}), direct = run({.direct_convolutions = true});
  for (size_t i = 0; i < fetches.size(); ++i) {
    float largest = 0, error = 0;
    for (int64_t at = 0; at < direct[i].elements(); ++at) {
      const float expected = direct[i].data<float>()[at];
      largest = std::max(largest, std::abs(expected));
      error = std::max(error, std::abs(expected - winograd[i].data<float>()[at]));
    }
    // The gradient of x goes through Relu, where a sum of about zero may fall on either side.
    EXPECT_LT(error, (i == 0 ? 1e-4f : 2e-2f) * largest) << i;
  }
}

// What the graph says is computed by sums of the same terms in the same order, fused or not.
TEST_F(DirectConvolutions, AreTheSameWithoutPasses) {
  const auto fused = run({.direct_convolutions = true});
  const auto plain = run({.passes = PassOptions::none(), .direct_convolutions = true});
  for (size_t i = 1; i < fetches.size(); ++i) EXPECT_TRUE(same_bits(fused[i], plain[i])) << i;
}

}  // namespace
}  // namespace weir
