#include <cmath>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/nn/fused_batch_norm.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// Inputs: dy, x, scale, mean, variance. Outputs: the gradients of x, scale and offset, and two that nobody reads.
void infer(InferContext& c) {
  c.require_rank(0, 4);
  Shape x = c.input(0).merged(c.input(1)).merged(Shape::unknown_dims(4));
  const int channels = image_layout(c.attr<std::string>("data_format")).channels;
  Shape vector{x[channels]};
  for (int i = 2; i <= 4; ++i) vector = vector.merged(c.input(i));
  x.set_dim(channels, vector[0]);
  c.set_output(0, x);
  c.set_output(1, vector);
  c.set_output(2, vector);
  c.set_output(3, Shape{0});
  c.set_output(4, Shape{0});
}

// The gradients once more, written with operations that can be differentiated, and differentiated.
void gradient(GradContext& c) {
  // Copies, so that nothing behind them is walked through.
  Output dy = identity(c.input(0)), x = identity(c.input(1)), scale = identity(c.input(2));
  const bool last = image_layout(c.attr<std::string>("data_format")).channels == 3;
  const Axes pixels(last ? std::vector<int32_t>{0, 1, 2} : std::vector<int32_t>{0, 2, 3});
  const In vector(Tensor(last ? std::vector<int32_t>{1, 1, 1, -1} : std::vector<int32_t>{1, -1, 1, 1}));
  auto mean_of = [&](const Output& t) { return reduce_mean(t, {.axes = pixels, .keep_dims = true}); };
  auto sum_of = [&](const Output& t) { return reduce_sum(t, {.axes = pixels}); };
  Output g = cast(dy, float32), image = cast(x, float32), weight = reshape(scale, vector);
  Output dx, dscale;
  if (c.attr<bool>("is_training")) {
    Output mean = mean_of(image);
    Output centered = image - mean;
    Output variance = mean_of(square(centered)) + c.attr<float>("epsilon");
    Output root = rsqrt(variance);
    Output projection = mean_of(g * centered);
    dx = weight * root * (g - mean_of(g) - centered * projection / variance);
    dscale = sum_of(g * centered * root);
  } else {
    Output root = rsqrt(reshape(c.input(4), vector) + c.attr<float>("epsilon"));
    dx = g * weight * root;
    dscale = sum_of(g * (image - reshape(c.input(3), vector)) * root);
  }
  c.differentiate({cast(dx, x.dtype()), dscale, sum_of(g)}, {dy, x, scale});
}

FusedBatchNormState prepare(PrepareContext& c) { return prepare_batch_norm(c, 1); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [shape, epsilon, training, activation] = c.state<FusedBatchNormState>();
    const int64_t channels = shape.channels;
    const auto n = static_cast<double>(shape.per_channel());
    const float *scale = c.input<float>(2), *mean = c.input<float>(3), *variance = c.input<float>(4);
    auto* dy_sum = reinterpret_cast<double*>(static_cast<char*>(c.scratch()) + cpu::batch_norm_scratch(shape));
    double* dy_x_sum = dy_sum + channels;
    auto* a = reinterpret_cast<float*>(dy_x_sum + channels);
    float *b = a + channels, *shift = b + channels, *mask_scale = shift + channels, *mask_shift = mask_scale + channels;
    cpu::ChannelMask mask{mask_scale, mask_shift, activation};
    if (activation != cpu::Activation::None) {
      normalisation(channels, scale, c.input<float>(c.inputs() - 1), mean, variance, epsilon, mask_scale, mask_shift);
    }
    cpu::channel_gradient_sums(shape, c.input<T>(1), c.input<T>(0), mean, mask, dy_sum, dy_x_sum, c.scratch(),
                               c.pool());
    for (int64_t i = 0; i < channels; ++i) {
      const double inverse = 1 / std::sqrt(static_cast<double>(variance[i]) + epsilon);
      c.output<float>(1)[i] = static_cast<float>(dy_x_sum[i] * inverse);
      c.output<float>(2)[i] = static_cast<float>(dy_sum[i]);
      const double factor = scale[i] * inverse;
      // In training mean and variance depend on x too: dx = factor * (dy - mean(dy) - x_hat * mean(dy * x_hat)).
      const double slope = training ? -factor * inverse * inverse * dy_x_sum[i] / n : 0;
      const double constant = training ? -factor * dy_sum[i] / n : 0;
      a[i] = static_cast<float>(factor);
      b[i] = static_cast<float>(slope);
      shift[i] = static_cast<float>(constant - slope * mean[i]);
    }
    cpu::combine_channels(shape, c.input<T>(0), c.input<T>(1), a, b, shift, mask, c.output<T>(0), c.pool());
  }
};

constexpr Kernel kKernel = {.select = kernel_for<Types<float, Half, BFloat16>, Cpu>, .prepare = prepared<prepare>};

}  // namespace

OpDef fused_batch_norm_grad_op() {
  return {.name = "FusedBatchNormGrad",
          .inputs = "y_backprop:T; x:T; scale:T; reserve_space_1:T; reserve_space_2:T",
          .outputs = "x_backprop:T; scale_backprop:T; offset_backprop:T; reserve_space_3:T; reserve_space_4:T",
          .attrs = kFusedBatchNormAttrsV1,
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel,
          .fused = "_FusedBatchNormGradEx"};
}

OpDef fused_batch_norm_grad_v2_op() {
  return {.name = "FusedBatchNormGradV2",
          .inputs = "y_backprop:T; x:T; scale:float; reserve_space_1:U; reserve_space_2:U",
          .outputs = "x_backprop:T; scale_backprop:U; offset_backprop:U; reserve_space_3:U; reserve_space_4:U",
          .attrs = kFusedBatchNormAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel,
          .fused = "_FusedBatchNormGradEx"};
}

OpDef fused_batch_norm_grad_v3_op() {
  return {.name = "FusedBatchNormGradV3",
          .inputs = "y_backprop:T; x:T; scale:float; reserve_space_1:U; reserve_space_2:U; reserve_space_3:U",
          .outputs = "x_backprop:T; scale_backprop:U; offset_backprop:U; reserve_space_4:U; reserve_space_5:U",
          .attrs = kFusedBatchNormAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel,
          .fused = "_FusedBatchNormGradV3Ex"};
}

// Together with the gradient of the activation behind the normalisation, which is found again from the offset. Made by
// a pass.
OpDef fused_batch_norm_grad_ex_op() {
  return {.name = "_FusedBatchNormGradEx",
          .inputs = "y_backprop:T; x:T; scale:float; reserve_space_1:U; reserve_space_2:U; offset:U",
          .outputs = "x_backprop:T; scale_backprop:U; offset_backprop:U; reserve_space_3:U; reserve_space_4:U",
          .attrs = kFusedBatchNormExAttrs,
          .infer = infer,
          .cpu = kKernel};
}

OpDef fused_batch_norm_grad_v3_ex_op() {
  return {.name = "_FusedBatchNormGradV3Ex",
          .inputs = "y_backprop:T; x:T; scale:float; reserve_space_1:U; reserve_space_2:U; reserve_space_3:U; offset:U",
          .outputs = "x_backprop:T; scale_backprop:U; offset_backprop:U; reserve_space_4:U; reserve_space_5:U",
          .attrs = kFusedBatchNormExAttrs,
          .infer = infer,
          .cpu = kKernel};
}

}  // namespace weir::ops
