#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "passes/ir.h"
#include "weir/weir.h"

namespace weir {
namespace {

// Images through normalisation, a sum and an activation, and the gradients of all of it.
struct Model {
  explicit Model(bool training, bool add, bool relu6) {
    x = g.placeholder(float32, {2, 5, 4, 19});
    side = g.placeholder(float32, {2, 5, 4, 19});
    scale = g.variable("scale", Tensor(numbers(19, 3)));
    offset = g.variable("offset", Tensor(numbers(19, 4)));
    nn::FusedBatchNormOptions options{.is_training = training};
    if (!training) {
      options.mean = In(g.constant(Tensor(numbers(19, 5))));
      options.variance = In(abs(g.constant(Tensor(numbers(19, 6)))));
    }
    nn::FusedBatchNorm norm = nn::fused_batch_norm(x * 3.f, scale, offset, options);
    Output sum = add ? norm.y + side : norm.y;
    y = relu6 ? nn::relu6(sum) : nn::relu(sum);
    mean = norm.batch_mean;
    // Not a mere sum, whose gradient would be the same everywhere.
    std::vector<Output> of = {x, scale, offset};
    if (add) of.push_back(side);
    for (const Gradient& grad : gradients({reduce_sum(y * y * side)}, of)) grads.push_back(grad.dense());
  }
  static std::vector<float> numbers(int64_t n, int salt) {
    std::vector<float> v;
    for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>((i * 37 + salt * 101) % 97) / 23.f - 2.f);
    return v;
  }
  static Tensor image(int salt) {
    const std::vector<float> v = numbers(2 * 5 * 4 * 19, salt);
    return Tensor::from<float>(v, {2, 5, 4, 19});
  }
  std::vector<Tensor> run(PassOptions passes) {
    Session session(g, {.intra_op_parallelism_threads = 2, .passes = passes});
    session.run(g.global_variables_initializer());
    std::vector<Output> fetches = {y, mean};
    fetches.insert(fetches.end(), grads.begin(), grads.end());
    return session.run(fetches, {{x, image(1)}, {side, image(2)}});
  }
  Graph g;
  Output x, side, y, mean;
  Variable scale, offset;
  std::vector<Output> grads;
};

TEST(FuseBatchNorm, ChangesNothingButRounding) {
  for (bool training : {true, false}) {
    for (bool add : {true, false}) {
      for (bool relu6 : {true, false}) {
        SCOPED_TRACE(testing::Message() << training << add << relu6);
        Model m(training, add, relu6);
        std::vector<Tensor> fused = m.run({}), plain = m.run(PassOptions::none());
        ASSERT_EQ(fused.size(), plain.size());
        for (size_t i = 0; i < fused.size(); ++i) {
          ASSERT_EQ(fused[i].shape(), plain[i].shape());
          for (int64_t e = 0; e < fused[i].elements(); ++e) {
            const float want = plain[i].data<float>()[static_cast<size_t>(e)];
            ASSERT_NEAR(fused[i].data<float>()[static_cast<size_t>(e)], want, 1e-4f * std::max(1.f, std::fabs(want)))
                << i << " " << e;
          }
        }
      }
    }
  }
}

std::vector<std::string> operations(Model& m, std::vector<Output> fetches) {
  ThreadPool pool(1);
  PassOptions options;
  PassContext context{options, pool};
  std::vector<Output> feeds = {m.x, m.side};
  std::vector<FeedSpec> specs = {{float32, {2, 5, 4, 19}}, {float32, {2, 5, 4, 19}}};
  Ir ir = build_ir({fetches, feeds, specs, {}});
  infer_ir(ir, context);
  remove_identities(ir, context);
  share_common_subexpressions(ir, context);
  fuse_batch_norm(ir, context);
  ir.sweep();
  std::vector<std::string> names;
  for (int id : schedule(ir)) {
    if (!ir[id].is_feed() && !ir[id].is_constant()) names.push_back(ir[id].op->name);
  }
  return names;
}
int64_t count(const std::vector<std::string>& names, std::string_view name) {
  return std::count(names.begin(), names.end(), name);
}

TEST(FuseBatchNorm, TakesTheActivationAndItsGradient) {
  Model m(true, false, true);
  auto names = operations(m, {m.y, m.grads[0]});
  EXPECT_EQ(count(names, "_FusedBatchNormEx"), 1);
  EXPECT_EQ(count(names, "Relu6"), 0);
  EXPECT_EQ(count(names, "_FusedBatchNormGradEx") + count(names, "_FusedBatchNormGradV3Ex"), 1);
  EXPECT_EQ(count(names, "Relu6Grad"), 0);
}

TEST(FuseBatchNorm, TakesTheSumBeforeTheActivation) {
  Model m(true, true, false);
  auto names = operations(m, {m.y, m.grads[0]});
  EXPECT_EQ(count(names, "_FusedBatchNormEx"), 1);
  EXPECT_EQ(count(names, "Relu") + count(names, "Add") + count(names, "AddV2"), 0);
  EXPECT_EQ(count(names, "ReluGrad"), 1);  // the other image's gradient needs it as well
}

TEST(FuseBatchNorm, LeavesGradientsThatAreTheSameForAllPixels) {
  Model m(true, false, true);
  m.grads.clear();
  const Output pooled = reduce_mean(m.y, {.axes = {1, 2}});
  for (const Gradient& grad : gradients({reduce_sum(pooled * pooled)}, {m.x, m.scale, m.offset})) {
    m.grads.push_back(grad.dense());
  }
  const std::vector<Tensor> fused = m.run({}), plain = m.run(PassOptions::none());
  for (size_t i = 0; i < fused.size(); ++i) {
    for (size_t e = 0; e < static_cast<size_t>(fused[i].elements()); ++e) {
      const float want = plain[i].data<float>()[e];
      ASSERT_NEAR(fused[i].data<float>()[e], want, 1e-4f * std::max(1.f, std::fabs(want))) << i << " " << e;
    }
  }
}

TEST(FuseBatchNorm, LeavesSumsThatDependOnTheMoments) {
  Model m(true, false, false);
  Output norm = m.y.op().input(0);
  Output later = nn::relu(norm + reshape(m.mean, {1, 1, 1, 19}) * m.side);
  auto names = operations(m, {later});
  EXPECT_EQ(count(names, "_FusedBatchNormEx"), 0);
}

TEST(FuseBatchNorm, LeavesWhatIsFetchedOrReadTwice) {
  Model m(true, false, false);
  Output norm = m.y.op().input(0);
  EXPECT_EQ(count(operations(m, {m.y, norm}), "_FusedBatchNormEx"), 0);
  EXPECT_EQ(count(operations(m, {m.y, tanh(norm)}), "_FusedBatchNormEx"), 0);
}

}  // namespace
}  // namespace weir
