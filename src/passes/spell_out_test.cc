#include "passes/spell_out.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "weir/weir.h"

namespace weir {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Values whose leaky rectification is the same with and without the rewrite.
std::vector<float> numbers(int64_t n) {
  std::vector<float> v = {0.0f, -0.0f, kInfinity, -kInfinity, std::nanf(""), 1e-40f, -1e-40f};
  for (auto i = static_cast<int64_t>(v.size()); i < n; ++i) v.push_back(static_cast<float>(i * 37 % 97) / 23.f - 2.f);
  return v;
}

void expect_same(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
    const float e = expected.data<float>()[i], g = got.data<float>()[i];
    ASSERT_TRUE(std::isnan(e) ? std::isnan(g) : g == e) << i << ": " << g << " and not " << e;
  }
}

TEST(SpellOut, LeavesNoLeakyRectifierAndGivesItsValues) {
  for (float alpha : {0.2f, 1.0f, 0.0f, 1.5f, -0.5f}) {
    Graph g;
    Output x = g.placeholder(float32, {kUnknown, 8}), dy = g.placeholder(float32, {kUnknown, 8});
    Output y = nn::leaky_relu(x, alpha), dx = nn::leaky_relu_grad(dy, x, alpha);
    Session plain(g, {.passes = PassOptions::none()}), session(g);
    for (int64_t rows : {4, 1, 300}) {
      const std::vector<float> v = numbers(8 * rows);
      const Tensor values = Tensor::from<float>(v, {rows, 8});
      const Tensor grads = Tensor::from<float>(std::vector<float>(v.rbegin(), v.rend()), {rows, 8});
      const auto expected = plain.run({y, dx}, {{x, values}, {dy, grads}});
      const auto got = session.run({y, dx}, {{x, values}, {dy, grads}});
      expect_same(got[0], expected[0]);
      expect_same(got[1], expected[1]);
    }
  }
}

TEST(SpellOut, LetsLoopsTakeActivationAndGradient) {
  Graph g;
  Output x = g.placeholder(float32, {5, 8});
  Output y = nn::leaky_relu(x * 2.f, 0.1f), dx = gradients({reduce_sum(y * y)}, {x})[0].dense();
  const std::vector<FeedSpec> specs = {{DType::Float32, {5, 8}}};
  const std::vector<Output> fetches = {dx}, feeds = {x};
  ThreadPool pool(1);
  PassOptions options;
  PassContext context{options, pool};
  Ir ir = build_ir({fetches, feeds, specs});
  infer_ir(ir, context);
  rewrite(ir, context);
  int nodes = 0;
  for (int id : ir.topological_order()) nodes += !ir[id].is_feed() && !ir[id].is_constant();
  EXPECT_EQ(nodes, 1);
}

}  // namespace
}  // namespace weir
