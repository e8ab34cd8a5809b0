#include <cmath>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"
#include "weir/ops.h"

// The batch normalization of TensorFlow's first releases, which old graphs hold: t [..., channels], and mean, variance,
// offset and scale for each channel.
namespace weir::ops {
namespace {

constexpr std::string_view kAttrs = "T:numbertype; variance_epsilon:float; scale_after_normalization:bool";

struct State {
  double epsilon;
  bool scaled;
};

State prepare(PrepareContext& c) {
  return {c.attr<float>("variance_epsilon"), c.attr<bool>("scale_after_normalization")};
}

// The channels, as far as image and vectors tell.
Shape channels_of(InferContext& c, int vectors) {
  c.require_rank(0, 4);
  Shape channels{c.input(0).has_rank() ? c.input(0)[3] : kUnknown};
  for (int i = 1; i <= vectors; ++i) channels = channels.merged(c.input(i));
  return channels;
}

void infer(InferContext& c) {
  const Shape channels = channels_of(c, 4);
  Shape image = c.input(0).merged(Shape::unknown_dims(4));
  image.set_dim(3, channels[0]);
  c.set_output(0, image);
}

void infer_grad(InferContext& c) {
  const Shape channels = channels_of(c, 3);
  c.set_output(0, c.input(0).merged(c.input(4)));
  for (int i = 1; i <= 4; ++i) c.set_output(i, channels);
}

void gradient(GradContext& c) {
  NodeBuilder builder("BatchNormWithGlobalNormalizationGrad");
  for (int i : {0, 1, 2, 4}) builder.input(c.input(i));
  builder.input(c.output_grad());
  for (const char* name : {"variance_epsilon", "scale_after_normalization"}) {
    builder.attr(name, *c.op().attrs().find(name));
  }
  const Operation grad = builder.build();
  for (int i = 0; i < 5; ++i) c.set_input_grad(i, grad.output(i));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<State>();
    const int64_t channels = c.shape(0)[3];
    const T *t = c.input<T>(0), *mean = c.input<T>(1), *variance = c.input<T>(2);
    const T *offset = c.input<T>(3), *scale = c.input<T>(4);
    const int64_t pixels = channels ? c.elements(0) / channels : 0;
    c.pool().parallel_for(
        pixels, std::max<int64_t>(1, 16384 / std::max<int64_t>(channels, 1)), [&](int64_t begin, int64_t end) {
          for (int64_t k = 0; k < channels; ++k) {
            const double root = 1 / std::sqrt(static_cast<double>(variance[k]) + s.epsilon);
            const double factor = s.scaled ? root * static_cast<double>(scale[k]) : root;
            for (int64_t i = begin * channels + k; i < end * channels; i += channels) {
              c.output<T>()[i] = static_cast<T>((static_cast<double>(t[i]) - static_cast<double>(mean[k])) * factor +
                                                static_cast<double>(offset[k]));
            }
          }
        });
  }
};

struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<State>();
    const int64_t channels = c.shape(0)[3], n = c.elements(0);
    const T *t = c.input<T>(0), *mean = c.input<T>(1), *variance = c.input<T>(2), *scale = c.input<T>(3);
    const T* grad = c.input<T>(4);
    // Each channel is summed up by one thread.
    c.pool().parallel_for(channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const double root = 1 / std::sqrt(static_cast<double>(variance[k]) + s.epsilon);
        const double factor = s.scaled ? static_cast<double>(scale[k]) : 1;
        double sum = 0, product = 0;
        for (int64_t i = k; i < n; i += channels) {
          const auto g = static_cast<double>(grad[i]);
          sum += g;
          product += g * (static_cast<double>(t[i]) - static_cast<double>(mean[k]));
          c.output<T>(0)[i] = static_cast<T>(g * factor * root);
        }
        c.output<T>(1)[k] = static_cast<T>(-sum * factor * root);
        c.output<T>(2)[k] = static_cast<T>(-0.5 * product * factor * root * root * root);
        c.output<T>(3)[k] = static_cast<T>(sum);
        c.output<T>(4)[k] = static_cast<T>(s.scaled ? product * root : 0);
      }
    });
  }
};

}  // namespace

OpDef batch_norm_with_global_normalization_op() {
  return {.name = "BatchNormWithGlobalNormalization",
          .inputs = "t:T; m:T; v:T; beta:T; gamma:T",
          .outputs = "result:T",
          .attrs = kAttrs,
          .flags = "deprecated@9",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>}};
}

OpDef batch_norm_with_global_normalization_grad_op() {
  return {.name = "BatchNormWithGlobalNormalizationGrad",
          .inputs = "t:T; m:T; v:T; gamma:T; backprop:T",
          .outputs = "dx:T; dm:T; dv:T; db:T; dg:T",
          .attrs = kAttrs,
          .flags = "deprecated@9",
          .infer = infer_grad,
          .cpu = {.select = kernel_for<FloatTypes, Grad>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
