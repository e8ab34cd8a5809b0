#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/flops.h"
#include "ops/nn/conv_attrs.h"
#include "ops/nn/conv_state.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape sizes = shape_argument(c, 0);
  const ConvGeometry g = conv_geometry(sizes, c.input(1), c.attrs(), ConvGroups::Allowed);
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", sizes.str(),
                           c.input(1).str(), g.output().str(), c.input(2).str());
  }
  Shape input = g.input();
  if (input[g.layout.batch] == kUnknown && c.input(2).has_rank()) {
    input.set_dim(g.layout.batch, c.input(2)[g.layout.batch]);
  }
  // The filter does not tell how many groups of channels there are.
  if (!sizes.has_rank() || sizes[g.layout.channels] == kUnknown) input.set_dim(g.layout.channels, kUnknown);
  c.set_output(0, std::move(input));
}

void gradient(GradContext& c) {
  Output filter = c.input(1), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(1, conv_node(c, "Conv2DBackpropFilter", grad, shape(filter), dy));
  c.set_input_grad(2, conv_node(c, "Conv2D", grad, filter));
}

ConvState prepare(PrepareContext& c) { return prepare_conv(c, ConvKind::BackwardInput, c.output(), c.input(1)); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<ConvState>();
    const ConvGeometry& g = s.geometry;
    const ConvOperands<T> operands(c, s);
    const auto* filter = operands.filter(c.input<T>(1));
    const auto* dy = operands.output_grad(c.input<T>(2));
    operands.to_image(c.output<T>(), g.height.in, g.width.in, g.in_channels, s.input_at,
                      [&](auto* dx) {
                        operands.for_groups([&](int64_t in, int64_t weights, int64_t out) {
                          cpu::conv_backward_input(c.pool(), s.params, filter + weights, dy + out, dx + in,
                                                   c.scratch());
                        });
                      });
  }
};

}  // namespace

OpDef conv2d_backprop_input_op() {
  return {.name = "Conv2DBackpropInput",
          .inputs = "input_sizes:int32; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs = kConvAttrs,
          .host = "input_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .flops = conv2d_backprop_input_flops};
}

}  // namespace weir::ops

namespace weir::nn {

Output conv2d_backprop_input(const In& input_sizes, const In& filter, const In& out_backprop,
                             const Conv2dOptions& options, std::string_view name) {
  NodeBuilder builder("Conv2DBackpropInput", name);
  builder.input(input_sizes).input(filter).input(out_backprop);
  return ops::with_conv_attrs(builder, options).output();
}

}  // namespace weir::nn
