#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "passes/parts.h"
#include "weir/weir.h"

namespace weir {
namespace {

// Programs whose values must be the same with and without the rewrites, and the products that are left of them.
class ComputeParts : public ::testing::Test {
 protected:
  using Feeds = std::map<std::string, Tensor>;

  static Tensor numbers(const Shape& shape, int salt = 0) {
    Tensor t(float32, shape);
    for (int64_t i = 0; i < t.elements(); ++i) {
      t.mutable_data<float>()[i] = static_cast<float>((i * 37 + salt * 101) % 97) / 48.0f - 1.0f;
    }
    return t;
  }

  Output input(const std::string& name, const Shape& shape) {
    feeds_[name] = numbers(shape, static_cast<int>(feeds_.size()));
    return g.placeholder(float32, shape, name);
  }

  // Elements of all results of products: what is computed of them.
  int64_t computed(const std::vector<Output>& fetches) {
    std::vector<Output> fed;
    std::vector<FeedSpec> specs;
    for (const auto& [name, value] : feeds_) {
      fed.push_back(g.output(name + ":0"));
      specs.push_back({value.dtype(), value.shape()});
    }
    Ir ir = build_ir({fetches, fed, specs});
    infer_ir(ir, context_);
    fold_constants(ir, context_);
    remove_identities(ir, context_);
    share_common_subexpressions(ir, context_);
    spread_late(ir, context_);
    compute_parts(ir, context_);
    double flops = 0;
    for (int id : ir.topological_order()) {
      const IrNode& node = ir[id];
      if (node.is_feed() || node.is_constant() || !node.op->def->flops) continue;
      std::vector<const Shape*> in, out = {&node.shapes[0]};
      for (const IrEdge& edge : node.inputs) in.push_back(&ir.shape(edge));
      flops += node.op->def->flops(in, out);
    }
    return static_cast<int64_t>(flops);
  }

  void expect_same(const std::vector<Output>& fetches) {
    std::vector<Feed> fed;
    for (const auto& [name, value] : feeds_) fed.push_back({g.output(name + ":0"), value});
    Session plain(g, {.passes = PassOptions::none()}), session(g);
    const std::vector<Tensor> expected = plain.run(fetches, fed), got = session.run(fetches, fed);
    for (size_t i = 0; i < fetches.size(); ++i) {
      ASSERT_EQ(got[i].shape(), expected[i].shape());
      double scale = 1e-3;
      for (float e : expected[i].data<float>()) scale = std::max(scale, std::abs(static_cast<double>(e)));
      for (size_t k = 0; k < static_cast<size_t>(got[i].elements()); ++k) {
        ASSERT_NEAR(got[i].data<float>()[k], expected[i].data<float>()[k], 2e-5 * scale) << i << " at " << k;
      }
    }
  }

  std::vector<Output> gradients_of(const Output& loss, const std::vector<Output>& xs) {
    std::vector<Output> all = {loss};
    for (const auto& grad : gradients({loss}, xs)) all.push_back(grad.dense());
    return all;
  }

  Output first(const Output& x) {  // x[:, 0]
    return strided_slice(x, {0, 0}, {0, 1}, {1, 1}, {.begin_mask = 1, .end_mask = 1, .shrink_axis_mask = 2});
  }

  ThreadPool pool_{1};
  PassOptions options_;
  PassContext context_{options_, pool_};
  Feeds feeds_;
  Graph g;
};

TEST_F(ComputeParts, ComputesOnlyTheRowsOfAProductThatAreRead) {
  Output x = input("x", {3, 8, 5}), w = input("w", {5, 7}), b = input("b", {7});
  Output y = reshape(tanh(matmul(reshape(x, {24, 5}), w) + b), {3, 8, 7});
  Output z = first(y);
  EXPECT_EQ(computed({z}), 2 * 3 * 5 * 7);
  EXPECT_EQ(computed({z, y}), 2 * 24 * 5 * 7);  // all of it is read
  expect_same({z});
  expect_same({z, y});
}

TEST_F(ComputeParts, ComputesPartsOfBatchesOfAnySize) {
  Output x = g.placeholder(float32, {kUnknown, 8, 5}, "x"), w = input("w", {5, 7});
  feeds_["x"] = numbers({3, 8, 5});
  Output y = reshape(tanh(matmul(reshape(x, {-1, 5}), w)), {-1, 8, 7});
  EXPECT_EQ(computed(gradients_of(reduce_sum(square(first(y))), {x, w})), 3 * 2 * 3 * 5 * 7);
}

TEST_F(ComputeParts, ComputesGradientsForTheRowsThatHaveOne) {
  Output x = input("x", {3, 8, 5}), w = input("w", {5, 7}), scale = input("scale", {7});
  Output y = reshape(matmul(reshape(x, {24, 5}), w), {3, 8, 7});
  Output mean = reduce_mean(y, {.axes = {-1}, .keep_dims = true});
  Output normal = (y - mean) * rsqrt(reduce_mean(square(y - mean), {.axes = {-1}, .keep_dims = true}) + 1e-3f) * scale;
  const std::vector<Output> all = gradients_of(reduce_sum(tanh(first(normal))), {x, w, scale});
  EXPECT_EQ(computed(all), 3 * 2 * 3 * 5 * 7);
  expect_same(all);
}

TEST_F(ComputeParts, FollowsAttention) {
  constexpr int64_t kBatch = 2, kWords = 8, kHeads = 3, kSize = 4, kWidth = kHeads * kSize;
  Output x = input("x", {kBatch, kWords, kWidth});
  std::vector<Output> weights;
  auto dense = [&](const Output& h, const std::string& name) {
    weights.push_back(input(name, {kWidth, kWidth}));
    return reshape(matmul(reshape(h, {-1, kWidth}), weights.back()), {kBatch, kWords, kWidth});
  };
  auto heads = [&](const Output& h) { return transpose(reshape(h, {kBatch, kWords, kHeads, kSize}), {0, 2, 1, 3}); };
  Output q = heads(dense(x, "q")), k = heads(dense(x, "k")), v = heads(dense(x, "v"));
  Output p = nn::softmax(matmul(q, k, {.transpose_b = true}) * 0.5f);
  Output h = x + dense(reshape(transpose(matmul(p, v), {0, 2, 1, 3}), {kBatch, kWords, kWidth}), "o");
  std::vector<Output> xs = {x};
  xs.insert(xs.end(), weights.begin(), weights.end());
  const std::vector<Output> all = gradients_of(reduce_sum(square(first(h))), xs);
  // Keys and values of all words, forward and backward; the rest for one word of each.
  constexpr int64_t kDense = 2 * kBatch * kWords * kWidth * kWidth, kScores = 2 * kBatch * kHeads * kWords * kSize;
  EXPECT_EQ(computed(all), 6 * kDense + 6 * kDense / kWords + 6 * kScores);
  expect_same(all);
}

TEST_F(ComputeParts, TakesOtherSizesOfTheBatch) {
  for (int64_t first_batch : {3, 1}) {
    Graph graph;
    Output x = graph.placeholder(float32, {kUnknown, 8, 5}, "x"), w = graph.placeholder(float32, {5, 7}, "w");
    Output y = tanh(reshape(matmul(reshape(x, {-1, 5}), w), {-1, 8, 7}));
    Output z = strided_slice(y, {0, 2}, {0, 3}, {1, 1}, {.begin_mask = 1, .end_mask = 1, .shrink_axis_mask = 2});
    Output loss = reduce_sum(z * z);
    std::vector<Output> fetches = {z, loss};
    for (const auto& grad : gradients({loss}, {x, w})) fetches.push_back(grad.dense());
    Session session(graph), plain(graph, {.passes = PassOptions::none()});
    for (int64_t batch : {first_batch, int64_t{4}, int64_t{1}, int64_t{9}, int64_t{2}, int64_t{0}, int64_t{3}}) {
      const std::vector<Feed> fed = {{x, numbers({batch, 8, 5})}, {w, numbers({5, 7}, 1)}};
      auto a = session.run(fetches, fed), b = plain.run(fetches, fed);
      for (size_t i = 0; i < fetches.size(); ++i) {
        ASSERT_EQ(a[i].shape(), b[i].shape());
        for (size_t k = 0; k < static_cast<size_t>(a[i].elements()); ++k) {
          ASSERT_NEAR(a[i].data<float>()[k], b[i].data<float>()[k], 1e-4) << batch << ": " << i << " at " << k;
        }
      }
    }
  }
}

TEST_F(ComputeParts, TakesOtherLengthsOfTheDimensionThatIsSliced) {
  Output x = g.placeholder(float32, {2, kUnknown, 5}, "x"), w = g.placeholder(float32, {5, 7}, "w");
  Output y = reshape(matmul(reshape(x, {-1, 5}), w), {2, -1, 7});
  Output last = strided_slice(y, {0, -1}, {0, 0}, {1, 1}, {.begin_mask = 1, .end_mask = 3, .shrink_axis_mask = 2});
  Output grad = gradients({reduce_sum(last * last)}, {x})[0].dense();
  Session session(g), plain(g, {.passes = PassOptions::none()});
  for (int64_t length : {8, 5, 12, 1, 8}) {
    const std::vector<Feed> fed = {{x, numbers({2, length, 5})}, {w, numbers({5, 7}, 1)}};
    auto a = session.run({last, grad}, fed), b = plain.run({last, grad}, fed);
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(a[i].shape(), b[i].shape());
      for (size_t k = 0; k < static_cast<size_t>(a[i].elements()); ++k) {
        ASSERT_NEAR(a[i].data<float>()[k], b[i].data<float>()[k], 1e-4) << length << ": " << i << " at " << k;
      }
    }
  }
}

TEST_F(ComputeParts, LeavesPartsThatDifferOrAreNearlyEverything) {
  Output x = input("x", {4, 8}), w = input("w", {8, 8});
  Output y = matmul(x, w);
  auto column = [&](int from, int to) {
    return strided_slice(y, {0, from}, {0, to}, {1, 1}, {.begin_mask = 1, .end_mask = 1});
  };
  EXPECT_EQ(computed({column(0, 2), column(2, 4)}), 2 * 4 * 8 * 8);
  EXPECT_EQ(computed({column(1, 8)}), 2 * 4 * 8 * 8);
  EXPECT_EQ(computed({column(0, 2), tanh(column(0, 2))}), 2 * 4 * 8 * 2);
  expect_same({column(0, 2), column(2, 4), column(1, 8), tanh(column(0, 2))});
}

TEST_F(ComputeParts, TakesEverySecondPlaceAndTheLast) {
  Output x = input("x", {9, 16}), w = input("w", {16, 16});
  Output z = sigmoid(matmul(x, w));
  Output third = strided_slice(z, {0, 1}, {0, 16}, {1, 5}, {.begin_mask = 1, .end_mask = 1});
  Output last = strided_slice(z, {-1, 0}, {0, 0}, {1, 1}, {.begin_mask = 2, .end_mask = 3, .shrink_axis_mask = 1});
  EXPECT_EQ(computed({third}), 2 * 9 * 16 * 3);
  EXPECT_EQ(computed({last}), 2 * 1 * 16 * 16);
  expect_same(gradients_of(reduce_sum(third * third), {x, w}));
  expect_same(gradients_of(reduce_sum(last * last), {x, w}));
}

TEST(Part, StandsElsewhereInAnotherShape) {
  const Part one{1, 2, 1, 1}, strided{0, 2, 8, 3};
  EXPECT_EQ(reshaped_part({3, 8, 5}, one, {24, 5}), strided);
  EXPECT_EQ(reshaped_part({24, 5}, strided, {3, 8, 5}), one);
  EXPECT_EQ(reshaped_part({3, 8, 5}, one, {3, 8, 1, 5}), one);
  EXPECT_EQ(reshaped_part({3, 8, 5}, Part{1, 2, 1, 2}, {24, 5}), std::nullopt);
  EXPECT_EQ(reshaped_part({24, 5}, Part{0, 2, 7, 3}, {3, 8, 5}), std::nullopt);
  EXPECT_EQ(reshaped_part({3, 8, 5}, one, {120}), std::nullopt);
}

}  // namespace
}  // namespace weir
