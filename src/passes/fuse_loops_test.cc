#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "passes/place.h"
#include "weir/weir.h"

namespace weir {
namespace {

// Programs whose values must be the same with and without the rewrites, and the kernels that are left of them.
class FuseLoops : public ::testing::Test {
 protected:
  using Names = std::vector<std::string>;

  static Tensor numbers(const Shape& shape, int salt = 0) {
    Tensor t(float32, shape);
    for (int64_t i = 0; i < t.elements(); ++i) {
      t.mutable_data<float>()[i] = static_cast<float>((i * 37 + salt * 101) % 97) / 48.0f - 1.0f;
    }
    return t;
  }

  // Operations that run, without those that only read, shape or move.
  Names running(const std::vector<Output>& fetches, const std::map<std::string, Tensor>& feeds) {
    std::vector<Output> fed;
    std::vector<FeedSpec> specs;
    for (const auto& [name, value] : feeds) {
      fed.push_back(g.output(name + ":0"));
      specs.push_back({value.dtype(), value.shape()});
    }
    Ir ir = build_ir({fetches, fed, specs});
    infer_ir(ir, context_);
    fold_constants(ir, context_);
    remove_identities(ir, context_);
    share_common_subexpressions(ir, context_);
    spread_late(ir, context_);
    fuse_bias_activation(ir, context_);
    fuse_loops(ir, context_);
    fuse_elementwise(ir, context_);
    ir.sweep();
    Names names;
    for (int id : schedule(ir)) {
      const IrNode& node = ir[id];
      if (node.is_feed() || node.is_constant() || node.op->def->alias >= 0 || node.op->role != Role::None) continue;
      names.push_back(node.op->name);
    }
    return names;
  }

  void expect_same(const std::vector<Output>& fetches, const std::map<std::string, Tensor>& feeds) {
    std::vector<Feed> fed;
    for (const auto& [name, value] : feeds) fed.push_back({g.output(name + ":0"), value});
    Session plain(g, {.passes = PassOptions::none()});
    const std::vector<Tensor> expected = plain.run(fetches, fed);
    for (int threads : {1, 3}) {
      Session session(g, {.intra_op_parallelism_threads = threads});
      const std::vector<Tensor> first = session.run(fetches, fed), again = session.run(fetches, fed);
      for (size_t i = 0; i < fetches.size(); ++i) {
        ASSERT_EQ(first[i].shape(), expected[i].shape());
        double scale = 1e-3;
        for (float e : expected[i].data<float>()) scale = std::max(scale, std::abs(static_cast<double>(e)));
        for (size_t k = 0; k < static_cast<size_t>(first[i].elements()); ++k) {
          ASSERT_NEAR(first[i].data<float>()[k], expected[i].data<float>()[k], 2e-5 * scale) << i << " at " << k;
          ASSERT_EQ(first[i].data<float>()[k], again[i].data<float>()[k]) << i << " at " << k;
        }
      }
    }
  }

  ThreadPool pool_{1};
  PassOptions options_;
  PassContext context_{options_, pool_};
  Graph g;
};

TEST_F(FuseLoops, MakesOneLoopOfALayerNormalisation) {
  Output x = g.placeholder(float32, {kUnknown, 5, 70}, "x"), scale = g.placeholder(float32, {70}, "scale"),
         offset = g.placeholder(float32, {70}, "offset");
  Output mean = reduce_mean(x, {.axes = {-1}, .keep_dims = true});
  Output variance = reduce_mean(squared_difference(x, stop_gradient(mean)), {.axes = {-1}, .keep_dims = true});
  Output y = (x - mean) * rsqrt(variance + 1e-3f) * scale + offset;
  const std::map<std::string, Tensor> feeds = {
      {"x", numbers({3, 5, 70})}, {"scale", numbers({70}, 1)}, {"offset", numbers({70}, 2)}};
  EXPECT_EQ(running({y}, feeds), Names{"_FusedLoop"});
  EXPECT_EQ(running({y, mean, variance}, feeds), Names{"_FusedLoop"});
  expect_same({y, mean, variance}, feeds);

  Output weights = g.placeholder(float32, {kUnknown, 5, 70}, "weights");
  auto grads = gradients({reduce_sum(tanh(y) * weights)}, {x, scale, offset});
  std::vector<Output> all;
  for (const auto& grad : grads) all.push_back(grad.dense());
  std::map<std::string, Tensor> more = feeds;
  more["weights"] = numbers({3, 5, 70}, 3);
  const Names names = running(all, more);
  EXPECT_EQ(std::count(names.begin(), names.end(), "_FusedLoop"), static_cast<int64_t>(names.size()));
  expect_same(all, more);
}

TEST_F(FuseLoops, TakesOtherSizesOfTheBatch) {
  Output x = g.placeholder(float32, {kUnknown, 50}, "x");
  Output mean = reduce_mean(x, {.axes = {1}, .keep_dims = true});
  Output y = x - mean, loss = reduce_mean(square(y));
  Output grad = gradients({loss}, {x})[0].dense();
  Session session(g), plain(g, {.passes = PassOptions::none()});
  for (int64_t rows : {4, 7, 1, 4, 30, 0, 2}) {
    const Tensor fed = numbers({rows, 50});
    auto a = session.run({y, loss, grad}, {{x, fed}}), b = plain.run({y, loss, grad}, {{x, fed}});
    for (size_t i = 0; i < 3; ++i) {
      ASSERT_EQ(a[i].shape(), b[i].shape());
      for (size_t k = 0; k < static_cast<size_t>(a[i].elements()); ++k) {
        if (rows == 0) continue;  // the mean of nothing
        ASSERT_NEAR(a[i].data<float>()[k], b[i].data<float>()[k], 1e-5);
      }
    }
  }
}

TEST_F(FuseLoops, ScalesSoftmaxAndMasksInOneLoop) {
  Output x = g.placeholder(float32, {6, 4, 33}, "x"), r = g.placeholder(float32, {6, 4, 33}, "r");
  Output y = nn::softmax(x * 0.5f) * 2.0f * cast(greater_equal(r, 0.1f), float32);
  const std::map<std::string, Tensor> feeds = {{"x", numbers({6, 4, 33})}, {"r", numbers({6, 4, 33}, 5)}};
  EXPECT_EQ(running({y}, feeds), Names{"_FusedLoop"});
  Output grad = gradients({reduce_sum(square(y))}, {x})[0].dense();
  expect_same({y, grad}, feeds);
}

// The rectifier's gradient, the bias' and what is added to them.
TEST_F(FuseLoops, SumsColumnsBesideWhatItComputes) {
  Output dy = g.placeholder(float32, {90, 20}, "dy"), x = g.placeholder(float32, {90, 20}, "x");
  Output dx = where(greater(x, 0.0f), dy, zeros_like(dy)) * 3.0f;
  Output bias = nn::bias_add_grad(dx), sum = reduce_sum(dx, {.axes = {0}, .keep_dims = true});
  const std::map<std::string, Tensor> feeds = {{"dy", numbers({90, 20})}, {"x", numbers({90, 20}, 3)}};
  EXPECT_EQ(running({bias, sum}, feeds), Names{"_FusedReduction"});
  EXPECT_EQ(running({dx, bias, sum}, feeds), Names{"_FusedLoop"});
  expect_same({dx, bias, sum}, feeds);
}

TEST_F(FuseLoops, AddsUpEverything) {
  Output x = g.placeholder(float32, {3000, 7}, "x");
  Output y = tanh(x), norm = nn::l2_loss(y), mean = reduce_mean(y * y),
         sum = reduce_sum(y + 2.0f, {.axes = {0, 1}, .keep_dims = true});
  const std::map<std::string, Tensor> feeds = {{"x", numbers({3000, 7})}};
  EXPECT_EQ(running({norm, mean, sum}, feeds), Names{"_FusedReduction"});
  expect_same({norm, mean, sum, y}, feeds);
}

TEST_F(FuseLoops, LeavesTheUseOfASumOfEverythingToTheNextLoop) {
  Output x = g.placeholder(float32, {40, 7}, "x");
  Output y = x * 0.5f, norm = sqrt(reduce_sum(square(y))), scaled = y / norm;
  const std::map<std::string, Tensor> feeds = {{"x", numbers({40, 7})}};
  expect_same({scaled}, feeds);
  const Names names = running({scaled}, feeds);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Sum"), 0);
  EXPECT_GE(names.size(), 2u);
}

// exp(x) must not wait for the product that needs it.
TEST_F(FuseLoops, NeverMakesACycle) {
  Output x = g.placeholder(float32, {8, 8}, "x");
  Output y = exp(x) * 2.0f, z = tanh(matmul(y, y) - y) - y;
  const std::map<std::string, Tensor> feeds = {{"x", numbers({8, 8})}};
  EXPECT_EQ(running({z}, feeds), (Names{"_FusedElementwise", "MatMul", "_FusedElementwise"}));
  expect_same({z, y}, feeds);
}

// A loop that computes truth values for itself leaves the comparison without what it read.
TEST_F(FuseLoops, CutsChainsThatAreLongerThanItReaches) {
  Output x = g.placeholder(float32, {4}, "x"), y = x;
  for (int i = 0; i < 3000; ++i) y = tanh(y) * 1.001f;
  expect_same({y, gradients({y}, {x})[0].dense()}, {{"x", numbers({4})}});
}

TEST_F(FuseLoops, ClipsByNorms) {
  Output x = g.placeholder(float32, {6, 11}, "x");
  Output norm = sqrt(nn::l2_loss(x) * 2.0f), scale = minimum(1.0f / norm, 0.2f);
  Output y = x * where(is_finite(norm), scale * 5.0f, scale / 0.0f);
  expect_same({y}, {{"x", numbers({6, 11})}});
}

TEST_F(FuseLoops, ComputesCheapValuesAgainInsteadOfKeepingThem) {
  Output x = g.placeholder(float32, {16, 16}, "x"), w = g.placeholder(float32, {16, 16}, "w");
  Output h = matmul(x, w);
  Output y = h * 0.5f * (1.0f + erf(h / 1.5f));
  Output grad = gradients({reduce_sum(square(matmul(y, w)))}, {h})[0].dense();
  const std::map<std::string, Tensor> feeds = {{"x", numbers({16, 16})}, {"w", numbers({16, 16}, 1)}};
  expect_same({grad, y}, feeds);
  Output inner = 0.044715f * pow(h, 3.0f) + h;
  Output approximate = 0.5f * h * (1.0f + tanh(0.79788456f * inner));
  Output other = gradients({reduce_sum(square(matmul(approximate, w)))}, {h})[0].dense();
  expect_same({other, approximate}, feeds);
}

TEST_F(FuseLoops, AddsTheBiasBeforeAView) {
  Output x = g.placeholder(float32, {2, 3, 8}, "x"), w = g.placeholder(float32, {8, 5}, "w"),
         b = g.placeholder(float32, {5}, "b");
  Output product = reshape(matmul(reshape(x, {6, 8}), w), {2, 3, 5});
  Output y = nn::relu(product + b), z = product + b;
  const std::map<std::string, Tensor> feeds = {
      {"x", numbers({2, 3, 8})}, {"w", numbers({8, 5}, 1)}, {"b", numbers({5}, 2)}};
  EXPECT_EQ(running({y}, feeds), Names{"_FusedMatMul"});
  EXPECT_EQ(running({z}, feeds), Names{"_FusedMatMul"});
  expect_same({y}, feeds);
  expect_same({y, z, product}, feeds);
}

// Gradients of means: what repeats is not written out.
TEST_F(FuseLoops, ReadsSmallValuesInsteadOfRepeatedOnes) {
  Output x = g.placeholder(float32, {kUnknown, 60}, "x");
  Output rows = reduce_mean(x, {.axes = {1}});
  Output grad = gradients({reduce_sum(square(rows)) + reduce_sum(x * x)}, {x})[0].dense();
  const std::map<std::string, Tensor> feeds = {{"x", numbers({12, 60})}};
  const Names names = running({grad}, feeds);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Tile"), 0);
  expect_same({grad}, feeds);
}

TEST_F(FuseLoops, ScalesTheRateOfAnUpdateInsteadOfTheGradient) {
  Output x = g.placeholder(float32, {4, 4}, "x"), scale = g.placeholder(float32, {}, "scale");
  Variable w = g.variable("w", numbers({4, 4}));
  Operation update = train::GradientDescent(0.5f).apply_gradients({{matmul(x, x) * scale, w}});
  for (PassOptions passes : {PassOptions(), PassOptions::none()}) {
    Session session(g, {.passes = passes});
    session.run(g.global_variables_initializer());
    RunTrace trace;
    const Tensor ones = Tensor::from<float>(std::vector<float>(16, 1.0f), {4, 4});
    session.run(update, {{x, ones}, {scale, Tensor(0.25f)}}, {.trace = &trace});
    const Tensor after = session.run(w), before = numbers({4, 4});
    for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(after.data<float>()[i], before.data<float>()[i] - 0.5f, 1e-6);
    const bool rewritten = passes.fuse_elementwise;
    const auto is_large = [](const RunTrace::Event& e) { return e.op == "Mul" && e.output_bytes > 4; };
    EXPECT_EQ(std::count_if(trace.events.begin(), trace.events.end(), is_large), rewritten ? 0 : 1);
  }
}

TEST_F(FuseLoops, AReductionGetsItsDimensionsBackAlsoWhereOthersWaitForThat) {
  Output x = g.placeholder(float32, {kUnknown, 3, 4}, "x");
  Output sum = expand_dims(reduce_sum(x * 2.0f, {.axes = {1}}), 1);
  Output later;
  {
    auto scope = g.control_dependencies({sum.op()});
    later = x + 1.0f;
  }
  expect_same({sum, later}, {{"x", numbers({2, 3, 4})}});
}

TEST_F(FuseLoops, IsSwitchedOffWithElementwiseFusion) {
  Output x = g.placeholder(float32, {6, 50}, "x");
  Output y = x - reduce_mean(x, {.axes = {1}, .keep_dims = true});
  PassOptions off;
  off.fuse_elementwise = false;
  Session without(g, {.passes = off});
  RunTrace trace;
  without.run(y, {{x, numbers({6, 50})}}, {}, {.trace = &trace});
  for (const auto& event : trace.events) EXPECT_NE(event.op, "_FusedLoop");
}

}  // namespace
}  // namespace weir
