#include "passes/refit.h"

#include <gtest/gtest.h>

#include "weir/weir.h"

namespace weir {
namespace {

class Refitting : public ::testing::Test {
 protected:
  std::vector<FeedSpec> specs_of(const std::vector<Tensor>& values) {
    std::vector<FeedSpec> specs;
    for (const Tensor& value : values) specs.push_back({value.dtype(), value.shape()});
    return specs;
  }

  // All rewrites, as a plan of one device does them.
  std::shared_ptr<Ir> made_for(const std::vector<Tensor>& values) {
    std::vector<FeedSpec> specs = specs_of(values);
    auto ir = std::make_shared<Ir>(build_ir({fetches_, feeds_, specs, targets_}));
    infer_ir(*ir, context_);
    fold_constants(*ir, context_);
    remove_identities(*ir, context_);
    share_common_subexpressions(*ir, context_);
    spread_late(*ir, context_);
    fuse_bias_activation(*ir, context_);
    fuse_loops(*ir, context_);
    fuse_elementwise(*ir, context_);
    ir->sweep();
    return ir;
  }

  std::unique_ptr<Refit::Facts> refit(const Refit& to, const std::vector<Tensor>& values) {
    std::vector<const Shape*> shapes;
    for (const Tensor& value : values) shapes.push_back(&value.shape());
    return to.run(shapes, pool_);
  }

  static std::string text_of(const Tensor& value) {
    if (!value.valid()) return "-";
    std::string text = value.shape().str();
    return text.append(static_cast<const char*>(value.raw()), value.bytes());
  }

  // A plan for `first` that is fitted to `second` is the plan for `second`.
  void expect_same(const std::vector<Tensor>& first, const std::vector<Tensor>& second) {
    std::shared_ptr<Ir> ir = made_for(first);
    Refit to(ir);
    std::unique_ptr<Refit::Facts> facts = refit(to, second);
    ASSERT_TRUE(facts);
    std::shared_ptr<Ir> wanted = made_for(second);
    std::vector<int> order = schedule(*ir), wanted_order = schedule(*wanted);
    ASSERT_EQ(order.size(), wanted_order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const IrNode& node = (*wanted)[wanted_order[i]];
      ASSERT_EQ((*ir)[order[i]].name, node.name);
      ASSERT_EQ((*ir)[order[i]].op, node.op);
      for (int o = 0; o < static_cast<int>(node.types.size()); ++o) {
        const IrEdge edge{order[i], o};
        EXPECT_EQ(facts->shape(edge), node.shapes[static_cast<size_t>(o)]) << node.name;
        EXPECT_EQ(text_of(facts->value(edge)), text_of(node.values[static_cast<size_t>(o)])) << node.name;
      }
    }
  }

  ThreadPool pool_{1};
  PassOptions options_;
  PassContext context_{options_, pool_};
  Graph g;
  std::vector<Output> fetches_, feeds_;
  std::vector<Operation> targets_;
};

Tensor floats(const Shape& shape) { return Tensor::zeros(float32, shape); }

TEST_F(Refitting, GivesThePlanOfAnotherBatchSize) {
  Output x = g.placeholder(float32, {kUnknown, 12, 12, 3}), y = g.placeholder(int64, {kUnknown});
  Variable filter = g.variable("filter", truncated_normal(g, {3, 3, 3, 8})), bias = g.variable("b", zeros(g, {8}));
  Variable scale = g.variable("scale", ones(g, {8})), offset = g.variable("offset", zeros(g, {8}));
  Output h = nn::relu(nn::conv2d(x, filter, {.padding = "SAME"}) + bias);
  h = nn::max_pool(nn::fused_batch_norm(h, scale, offset).y);
  h = nn::dropout(reshape(h, {-1, 6 * 6 * 8}), 0.5f);
  Variable weights = g.variable("weights", truncated_normal(g, {6 * 6 * 8, 10}));
  Output logits = matmul(tanh(h) * 2.f + 1.f, weights);
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(y, logits));
  targets_ = {train::Adam(1e-3f).minimize(loss)};
  fetches_ = {loss};
  feeds_ = {x, y};
  expect_same({floats({7, 12, 12, 3}), Tensor::zeros(int64, {7})}, {floats({5, 12, 12, 3}), Tensor::zeros(int64, {5})});
  expect_same({floats({7, 12, 12, 3}), Tensor::zeros(int64, {7})},
              {floats({64, 12, 12, 3}), Tensor::zeros(int64, {64})});
}

TEST_F(Refitting, WorksValuesOutAgainThatFollowFromShapes) {
  Output x = g.placeholder(float32, {kUnknown, kUnknown});
  Output rows = gather(shape(x), 0);
  fetches_ = {reshape(concat({x, x}, 0), stack({rows, 2, -1}, 0)), cast(rows, float32) * 2.f};
  feeds_ = {x};
  expect_same({floats({4, 6})}, {floats({3, 5})});
}

TEST_F(Refitting, LooksOnlyAtWhatDiffers) {
  Output x = g.placeholder(float32, {kUnknown, 4}), y = g.placeholder(float32, {kUnknown});
  fetches_ = {tanh(x), exp(y)};
  feeds_ = {x, y};
  std::shared_ptr<Ir> ir = made_for({floats({3, 4}), floats({2})});
  std::unique_ptr<Refit::Facts> facts = refit(Refit(ir), {floats({9, 4}), floats({2})});
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->differs(ir->fetches[0]));
  EXPECT_FALSE(facts->differs(ir->fetches[1]));
}

TEST_F(Refitting, RefusesARemovedReshapeThatWouldChangeTheShape) {
  Output x = g.placeholder(float32, {kUnknown, kUnknown});
  fetches_ = {tanh(reshape(x, {-1, 4}))};
  feeds_ = {x};
  std::shared_ptr<Ir> ir = made_for({floats({3, 4})});
  EXPECT_TRUE(refit(Refit(ir), {floats({7, 4})}));
  EXPECT_FALSE(refit(Refit(ir), {floats({4, 2})}));
}

TEST_F(Refitting, RefusesConstantsThatWereEqualByChance) {
  Output x = g.placeholder(float32, {kUnknown, 2}), y = g.placeholder(float32, {kUnknown, 2});
  fetches_ = {shape(x), shape(y)};
  feeds_ = {x, y};
  std::shared_ptr<Ir> ir = made_for({floats({3, 2}), floats({3, 2})});
  EXPECT_TRUE(refit(Refit(ir), {floats({5, 2}), floats({5, 2})}));
  EXPECT_FALSE(refit(Refit(ir), {floats({5, 2}), floats({6, 2})}));
}

TEST_F(Refitting, RefusesWhatTheFusedLoopWouldBroadcast) {
  Output x = g.placeholder(float32, {kUnknown, 2}), y = g.placeholder(float32, {kUnknown, 2});
  fetches_ = {tanh(add_n({exp(x), y}))};
  feeds_ = {x, y};
  std::shared_ptr<Ir> ir = made_for({floats({3, 2}), floats({3, 2})});
  EXPECT_TRUE(refit(Refit(ir), {floats({5, 2}), floats({5, 2})}));
  EXPECT_FALSE(refit(Refit(ir), {floats({5, 2}), floats({1, 2})}));
}

TEST_F(Refitting, RefusesOtherRanksUndeclaredShapesAndErrors) {
  Output x = g.placeholder(float32), y = g.placeholder(float32, {kUnknown, 3});
  fetches_ = {matmul(x, x), tanh(y)};
  feeds_ = {x, y};
  std::shared_ptr<Ir> ir = made_for({floats({2, 2}), floats({2, 3})});
  EXPECT_TRUE(refit(Refit(ir), {floats({4, 4}), floats({5, 3})}));
  EXPECT_FALSE(refit(Refit(ir), {floats({2, 2, 2}), floats({2, 3})}));
  EXPECT_FALSE(refit(Refit(ir), {floats({2, 2}), floats({2, 4})}));
  EXPECT_FALSE(refit(Refit(ir), {floats({2, 3}), floats({2, 3})}));
}

}  // namespace
}  // namespace weir
