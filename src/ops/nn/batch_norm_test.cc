#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/check_op.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir::nn {
namespace {

using namespace weir::testing;

Tensor image() { return converted(ramp({2, 2, 2, 2}, -1, 0.3), float32); }

// The numbers are TensorFlow 1.15's.
TEST(FusedBatchNorm, NormalizesAsTensorFlowDoes) {
  Graph g;
  Output x = g.constant(image()), scale = g.constant({1, 2}, float32), offset = g.constant({0.5, -0.5}, float32);
  FusedBatchNorm norm = fused_batch_norm(x, scale, offset);
  Output weight = g.constant(converted(ramp({2, 2, 2, 2}, 0.1, 0.07), float32));
  auto grads = gradients({reduce_sum(norm.y * weight * weight)}, {x, scale, offset});
  auto values = Session(g).run(
      {norm.y, norm.batch_mean, norm.batch_variance, grads[0].dense(), grads[1].dense(), grads[2].dense()});
  expect_near(values[0],
              Tensor::from<float>({-1.0271213f, -3.5542428f, -0.590801f, -2.681602f, -0.15448058f, -1.8089613f,
                                   0.28183979f, -0.93632048f, 0.71816015f, -0.063679695f, 1.1544806f, 0.80896091f,
                                   1.5908009f, 1.681602f, 2.0271213f, 2.5542426f},
                                  {2, 2, 2, 2}),
              2e-6);
  expect_near(values[1], Tensor(std::vector<float>{1.1f, 1.4f}), 1e-6);
  expect_near(values[2], Tensor(std::vector<float>{2.16f, 2.16f}), 1e-6);
  expect_near(values[3],
              Tensor::from<float>({0.099549569f, 0.19904651f, 0.014094321f, 0.028151019f, -0.042854689f, -0.085731938f,
                                   -0.071297452f, -0.14260232f, -0.071233891f, -0.14246011f, -0.042664114f,
                                   -0.085305423f, 0.014411928f, 0.028861739f, 0.099994279f, 0.20004153f},
                                  {2, 2, 2, 2}),
              2e-6);
  expect_near(values[4], Tensor(std::vector<float>{3.0273652f, 3.386544f}), 1e-5);
  expect_near(values[5], Tensor(std::vector<float>{3.608f, 4.308f}), 1e-5);
}

TEST(FusedBatchNorm, UsesGivenMomentsOutsideOfTraining) {
  Graph g;
  Output x = g.constant(image()), scale = g.constant({1, 2}, float32), offset = g.constant({0.5, -0.5}, float32);
  Output mean = g.constant({0.5, 1}, float32), variance = g.constant({4, 0.25}, float32);
  FusedBatchNorm norm =
      fused_batch_norm(x, scale, offset, {.mean = mean, .variance = variance, .epsilon = 0.01f, .is_training = false});
  Output composed = batch_normalization(x, mean, variance, offset, scale, 0.01f);
  auto of = [&](const Output& y) { return gradients({reduce_sum(y * y)}, {x, scale, offset}); };
  auto fused = of(norm.y), plain = of(composed);
  Session session(g);
  expect_near(session.run(norm.y), session.run(composed), 1e-5);
  for (size_t i = 0; i < 3; ++i) expect_near(session.run(fused[i].dense()), session.run(plain[i].dense()), 1e-5);
  expect_error([&] { fused_batch_norm(x, scale, offset, {.is_training = false}); }, Code::InvalidArgument, "mean");
}

TEST(FusedBatchNorm, IsTheSameInEitherLayout) {
  Graph g;
  Output x = g.constant(converted(scattered({3, 4, 5, 6}), float32));
  Output scale = g.constant(converted(ramp({6}, 1, 0.5), float32)), offset = g.constant(converted(ramp({6}), float32));
  Output wide = fused_batch_norm(x, scale, offset).y;
  Output deep = fused_batch_norm(transpose(x, {0, 3, 1, 2}), scale, offset, {.data_format = "NCHW"}).y;
  // Gradients of up to 3: near zero they are differences of such numbers.
  auto of = [&](const Output& y) { return gradients({reduce_sum(y * y * y) * 0.01f}, {x})[0].dense(); };
  Session session(g);
  expect_near(session.run(transpose(deep, {0, 2, 3, 1})), session.run(wide), 1e-5);
  expect_near(session.run(of(deep)), session.run(of(wide)), 1e-5);
  Output half = fused_batch_norm(cast(x, float16), scale, offset).y;
  expect_near(session.run(cast(half, float32)), session.run(wide), 2e-2);
}

TEST(DepthwiseConv2d, MatchesTensorFlowAndItsOwnGradient) {
  check_op({.op = "DepthwiseConv2dNative",
            .inputs = {ramp({1, 5, 5, 2}, -1, 0.05), ramp({3, 3, 2, 2}, -0.5, 0.03)},
            .attrs = {{"strides", std::vector<int64_t>{1, 2, 2, 1}}, {"padding", std::string("SAME")}},
            .outputs = {Tensor::from<double>(
                {-0.424, -0.508, -0.536, -0.614, -0.21,  -0.309, -0.342, -0.432, 0.032,  -0.016, -0.032, -0.074,
                 0.75,   0.759,  0.798,  0.816,  1.116,  1.17,   1.242,  1.3095, 0.57,   0.633,  0.69,   0.762,
                 -0.256, -0.16,  -0.08,  0.022,  -0.822, -0.651, -0.522, -0.342, -0.952, -0.82,  -0.728, -0.59},
                {1, 3, 3, 4})},
            .bad = {{.inputs = {ramp({1, 5, 5, 3}), ramp({3, 3, 2, 2})}, .message = "channels"}}});
}

// Beside the same normalization written with plain operations.
TEST(FusedBatchNormGrad, CanBeDifferentiatedAgain) {
  Graph g;
  Output x = g.constant(image()), scale = g.constant({1, 2}, float32), offset = g.constant({0.5, -0.5}, float32);
  Output weight = g.constant(converted(scattered({2, 2, 2, 2}), float32));
  auto second = [&](const Output& y) {
    auto first = gradients({reduce_sum(y * weight)}, {x, scale});
    Output penalty = reduce_sum(square(first[0].dense())) + reduce_sum(square(first[1].dense()));
    auto grads = gradients({penalty}, {x, scale});
    return std::vector<Output>{grads[0].dense(), grads[1].dense()};
  };
  Output mean = reduce_mean(x, {.axes = Axes({0, 1, 2}), .keep_dims = true});
  Output variance = reduce_mean(square(x - mean), {.axes = Axes({0, 1, 2}), .keep_dims = true});
  std::vector<Output> fused = second(fused_batch_norm(x, scale, offset).y);
  std::vector<Output> plain = second((x - mean) * rsqrt(variance + 0.001f) * scale + offset);
  auto values = Session(g).run({fused[0], fused[1], plain[0], plain[1]});
  expect_near(values[0], values[2], 1e-4);
  expect_near(values[1], values[3], 1e-4);
}

TEST(BatchNormWithGlobalNormalization, NormalisesEachChannel) {
  for (bool scaled : {true, false}) {
    check_op({.op = "BatchNormWithGlobalNormalization",
              .inputs = {scattered({2, 3, 2, 3}), {.1, .2, .3}, {.5, 1., 2.}, {1, -1, 0}, {2, 3, 4}},
              .attrs = {{"variance_epsilon", 0.001f}, {"scale_after_normalization", scaled}},
              .reference =
                  [&](const Tensors& in) {
                    Tensor y = testing::zeros(in[0].shape());
                    for (int64_t i = 0; i < y.elements(); ++i) {
                      auto at = [&](int input) { return in[static_cast<size_t>(input)].data<double>()[i % 3]; };
                      const double unit = (in[0].data<double>()[i] - at(1)) / std::sqrt(at(2) + 0.001f);
                      y.mutable_data<double>()[i] = unit * (scaled ? at(4) : 1) + at(3);
                    }
                    return Tensors{y};
                  },
              .bad = {{.inputs = {testing::zeros({2, 3}), {0., 0, 0}, {1., 1, 1}, {0., 0, 0}, {1., 1, 1}},
                       .message = "rank 4"}}});
  }
}

}  // namespace
}  // namespace weir::nn
