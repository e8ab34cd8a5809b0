#include "ops/nn/fused_batch_norm.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/nn.h"

namespace weir::ops {
namespace {

// Inputs: x, scale, offset, mean, variance. Outputs: y, mean, variance, and twice the same for the gradient.
void infer(InferContext& c) {
  c.require_rank(0, 4);
  Shape x = c.input(0).merged(Shape::unknown_dims(4));
  const int channels = image_layout(c.attr<std::string>("data_format")).channels;
  Shape vector{x[channels]};
  const int vectors = c.attr<bool>("is_training") ? 2 : 4;  // in training mean and variance are not read
  for (int i = 1; i <= vectors; ++i) vector = vector.merged(c.input(i));
  x.set_dim(channels, vector[0]);
  for (int i = 5; i < c.inputs(); ++i) x = x.merged(c.input(i));  // added to the result
  c.set_output(0, x);
  for (int i = 1; i <= 4; ++i) c.set_output(i, vector);
  if (c.outputs() > 5) c.set_output(5, Shape{});
}

FusedBatchNormState prepare(PrepareContext& c) { return prepare_batch_norm(c, 0); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [shape, epsilon, training, activation] = c.state<FusedBatchNormState>();
    const int64_t channels = shape.channels;
    float *mean = c.output<float>(1), *variance = c.output<float>(2);
    if (training) {
      cpu::channel_moments(shape, c.input<T>(0), mean, variance, c.scratch(), c.pool());
    } else {
      std::copy_n(c.input<float>(3), channels, mean);
      std::copy_n(c.input<float>(4), channels, variance);
    }
    std::copy_n(mean, channels, c.output<float>(3));
    std::copy_n(variance, channels, c.output<float>(4));
    auto* factor = static_cast<float*>(c.scratch());
    auto* shift = factor + channels;
    normalisation(channels, c.input<float>(1), c.input<float>(2), mean, variance, epsilon, factor, shift);
    const T* side = c.inputs() > 5 ? c.input<T>(5) : nullptr;
    cpu::scale_channels(shape, c.input<T>(0), side, factor, shift, activation, c.output<T>(0), c.pool());
    if (training) {
      // The running averages get the unbiased variance.
      const auto n = static_cast<float>(shape.per_channel());
      for (int64_t i = 0; i < channels; ++i) variance[i] *= n / std::max(n - 1, 1.f);
    }
    if (c.outputs() > 5) *c.output<float>(5) = 0;
  }
};

void gradient(GradContext& c) {
  const bool training = c.attr<bool>("is_training");
  const std::string& type = c.op().type();
  const std::string version = type.substr(std::string_view("FusedBatchNorm").size());
  NodeBuilder node("FusedBatchNormGrad" + version);
  node.input(c.output_grad(0)).input(c.input(0)).input(c.input(1));
  node.input(training ? c.output(3) : c.input(3)).input(training ? c.output(4) : c.input(4));
  if (version == "V3") node.input(c.output(5));
  for (const char* name : {"epsilon", "data_format", "is_training"}) node.attr(name, *c.op().attrs().find(name));
  Operation grad = node.build();
  for (int i = 0; i < 3; ++i) c.set_input_grad(i, grad.output(i));
}

constexpr Kernel kKernel = {.select = kernel_for<Types<float, Half, BFloat16>, Cpu>, .prepare = prepared<prepare>};

}  // namespace

OpDef fused_batch_norm_op() {
  return {.name = "FusedBatchNorm",
          .inputs = "x:T; scale:T; offset:T; mean:T; variance:T",
          .outputs = "y:T; batch_mean:T; batch_variance:T; reserve_space_1:T; reserve_space_2:T",
          .attrs = kFusedBatchNormAttrsV1,
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel,
          .fused = "_FusedBatchNormEx"};
}

OpDef fused_batch_norm_v2_op() {
  return {.name = "FusedBatchNormV2",
          .inputs = "x:T; scale:U; offset:U; mean:U; variance:U",
          .outputs = "y:T; batch_mean:U; batch_variance:U; reserve_space_1:U; reserve_space_2:U",
          .attrs = kFusedBatchNormAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel,
          .fused = "_FusedBatchNormEx"};
}

OpDef fused_batch_norm_v3_op() {
  return {.name = "FusedBatchNormV3",
          .inputs = "x:T; scale:U; offset:U; mean:U; variance:U",
          .outputs = "y:T; batch_mean:U; batch_variance:U; reserve_space_1:U; reserve_space_2:U; reserve_space_3:U",
          .attrs = kFusedBatchNormAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = kKernel,
          .fused = "_FusedBatchNormEx"};
}

// Any of them with what follows: the addition of another image, and an activation. Made by a pass.
OpDef fused_batch_norm_ex_op() {
  return {.name = "_FusedBatchNormEx",
          .inputs = "x:T; scale:U; offset:U; mean:U; variance:U; side_input:num_side_inputs*T",
          .outputs = "y:T; batch_mean:U; batch_variance:U; reserve_space_1:U; reserve_space_2:U; reserve_space_3:U",
          .attrs = kFusedBatchNormExAttrs,
          .infer = infer,
          .cpu = kKernel};
}

}  // namespace weir::ops

namespace weir::nn {

FusedBatchNorm fused_batch_norm(const In& x, const In& scale, const In& offset, const FusedBatchNormOptions& options,
                                std::string_view name) {
  Graph& g = x.output().graph();
  if (options.is_training && (options.mean || options.variance)) {
    throw invalid_argument("mean and variance are computed in training and cannot be given");
  }
  if (!options.is_training && !(options.mean && options.variance)) {
    throw invalid_argument("mean and variance must be given when it is not for training");
  }
  auto given_or_empty = [&](const std::optional<In>& value) {
    return value ? *value : In(g.constant(Tensor(float32, Shape{0})), x.where());
  };
  const In mean = given_or_empty(options.mean), variance = given_or_empty(options.variance);
  // cuDNN's least epsilon, which TensorFlow takes everywhere.
  const float epsilon = std::max(options.epsilon, 1.001e-5f);
  Operation op = NodeBuilder("FusedBatchNormV3", name, x.where())
                     .input(x)
                     .input(scale)
                     .input(offset)
                     .input(mean)
                     .input(variance)
                     .attr("epsilon", epsilon)
                     .attr("data_format", options.data_format)
                     .attr("is_training", options.is_training)
                     .build();
  return {op.output(0), op.output(1), op.output(2)};
}

}  // namespace weir::nn
