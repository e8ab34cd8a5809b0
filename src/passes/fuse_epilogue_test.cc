#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "passes/ir.h"
#include "weir/weir.h"

namespace weir {
namespace {

using Names = std::vector<std::string>;

// What follows a convolution or a product, with and without fusion.
class FuseEpilogue : public ::testing::Test {
 protected:
  static Tensor numbers(const Shape& shape, int salt) {
    std::vector<float> v;
    for (int64_t i = 0; i < shape.elements(); ++i)
      v.push_back(static_cast<float>((i * 37 + salt * 101) % 97) / 23.f - 2.f);
    return Tensor::from<float>(v, shape);
  }
  static Tensor filled(float x) { return Tensor(std::vector<float>(20, x)); }
  Output constant(const Shape& shape, int salt) { return g.variable("v" + std::to_string(salt), numbers(shape, salt)); }

  Output norm(const Output& y, const std::string& format = "NHWC") {
    const int64_t c = 20;
    nn::FusedBatchNormOptions options{.epsilon = 0.01f, .data_format = format, .is_training = false};
    options.mean = In(constant({c}, 11));
    options.variance = In(abs(constant({c}, 12)));
    return nn::fused_batch_norm(y, constant({c}, 13), constant({c}, 14), options).y;
  }

  // The operations that run, after a comparison of the results with and without the rewrites.
  Names check(const Output& y) {
    auto run = [&](PassOptions passes) {
      Session session(g, {.intra_op_parallelism_threads = 2, .passes = passes});
      session.run(g.global_variables_initializer());
      RunTrace trace;
      Tensor result =
          session.run(std::vector<Output>{y}, {{x, numbers(x.shape(), 1)}, {side, numbers(side.shape(), 2)}}, {},
                      {.trace = &trace})[0];
      return std::pair(result, trace);
    };
    auto [fused, trace] = run({});
    auto [plain, all] = run(PassOptions::none());
    EXPECT_EQ(fused.shape(), plain.shape());
    for (size_t i = 0; i < static_cast<size_t>(plain.elements()); ++i) {
      const float want = plain.data<float>()[i];
      EXPECT_NEAR(fused.data<float>()[i], want, 1e-4f * std::max(1.f, std::fabs(want))) << i;
    }
    Names names;
    for (const RunTrace::Event& event : trace.events) {
      if (event.op != "_Read" && event.op != "Abs" && event.op != "Identity") names.push_back(event.op);
    }
    return names;
  }

  Graph g;
  Output x = g.placeholder(float32, {2, 9, 8, 6}), side = g.placeholder(float32, {2, 9, 8, 20});
  Output conv() { return nn::conv2d(x, constant({3, 3, 6, 20}, 3), {.padding = "SAME"}); }
};

TEST_F(FuseEpilogue, TakesANormalisationForInference) { EXPECT_EQ(check(norm(conv())), Names{"_FusedConv2D"}); }

TEST_F(FuseEpilogue, TakesANormalisationASumAndAnActivation) {
  EXPECT_EQ(check(nn::relu(norm(conv()) + side)), Names{"_FusedConv2D"});
}

TEST_F(FuseEpilogue, TakesABiasASumAndAnActivation) {
  EXPECT_EQ(check(nn::relu6(side + nn::bias_add(conv(), constant({20}, 4)))), Names{"_FusedConv2D"});
}

TEST_F(FuseEpilogue, TakesAScaleAndABiasOfChannels) {
  EXPECT_EQ(check(nn::relu(conv() * constant({20}, 4) + constant({20}, 5))), Names{"_FusedConv2D"});
}

TEST_F(FuseEpilogue, TakesAnActivationAlone) { EXPECT_EQ(check(nn::relu(conv())), Names{"_FusedConv2D"}); }

TEST_F(FuseEpilogue, TakesTheSumOfTwoBranchesIntoOneOfThem) {
  Output other = nn::conv2d(x, constant({1, 1, 6, 20}, 8), {.padding = "SAME"});
  EXPECT_EQ(check(nn::relu(norm(conv()) + nn::bias_add(other, constant({20}, 9)))),
            (Names{"_FusedConv2D", "_FusedConv2D"}));
}

TEST_F(FuseEpilogue, TakesNoSumWithWhatFollowsFromTheResult) {
  Output y = conv();
  const Names names = check(nn::relu(norm(y) + tanh(y)));
  EXPECT_EQ(std::count(names.begin(), names.end(), "Conv2D"), 1);
}

TEST_F(FuseEpilogue, TakesWhatFollowsADepthwiseConvolution) {
  Output depthwise =
      nn::depthwise_conv2d(side, constant({3, 3, 20, 1}, 3), {.strides = {1, 1, 1, 1}, .padding = "SAME"});
  EXPECT_EQ(check(nn::relu6(norm(depthwise))), Names{"_FusedDepthwiseConv2dNative"});
  EXPECT_EQ(check(nn::relu(nn::bias_add(depthwise, constant({20}, 4)) + side)), Names{"_FusedDepthwiseConv2dNative"});
}

TEST_F(FuseEpilogue, TakesWhatFollowsADepthwiseConvolutionWithManyTaps) {
  Output depthwise =
      nn::depthwise_conv2d(side, constant({9, 9, 20, 1}, 3), {.strides = {1, 1, 1, 1}, .padding = "SAME"});
  EXPECT_EQ(check(nn::relu(norm(depthwise) + side)), Names{"_FusedDepthwiseConv2dNative"});
}

TEST_F(FuseEpilogue, TakesTheSumOfAProductWithAMatrix) {
  Output a = reshape(side, {144, 20}), w = constant({20, 20}, 4), b = constant({20}, 5);
  EXPECT_EQ(check(nn::relu(matmul(a, w) + b + a)), (Names{"Reshape", "_FusedMatMul"}));
}

TEST_F(FuseEpilogue, ChannelsMayComeFirst) {
  Output turned = transpose(x, {0, 3, 1, 2});
  Output y = nn::conv2d(turned, constant({3, 3, 6, 20}, 3), {.padding = "SAME", .data_format = "NCHW"});
  EXPECT_EQ(check(nn::relu(norm(y, "NCHW"))), (Names{"Transpose", "_FusedConv2D"}));
}

TEST_F(FuseEpilogue, LeavesConvolutionsOfGroupsOfChannelsAlone) {
  Output y = nn::conv2d(x, constant({3, 3, 3, 20}, 3), {.padding = "SAME"});
  const Names names = check(nn::relu(norm(y)));
  EXPECT_EQ(std::count(names.begin(), names.end(), "Conv2D"), 1);
}

// The next values of the normalisation's vectors count, not those of the first run.
TEST_F(FuseEpilogue, FollowsVariablesThatChange) {
  Variable scale = g.variable("scale", filled(1));
  nn::FusedBatchNormOptions options{.is_training = false};
  options.mean = In(g.constant(Tensor::zeros(float32, {20})));
  options.variance = In(g.constant(filled(1)));
  Output y = nn::fused_batch_norm(conv(), scale, g.constant(Tensor::zeros(float32, {20})), options).y;
  Operation twice = assign(scale, scale + 1.f).op();
  Session session(g);
  session.run(g.global_variables_initializer());
  const Tensor first = session.run(y, {{x, numbers(x.shape(), 1)}});
  session.run(twice);
  const Tensor second = session.run(y, {{x, numbers(x.shape(), 1)}});
  for (size_t i = 0; i < 100; ++i) EXPECT_NEAR(second.data<float>()[i], 2 * first.data<float>()[i], 1e-4f);
}

}  // namespace
}  // namespace weir
