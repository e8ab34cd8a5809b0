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
  const Shape sizes = shape_argument(c, 1);
  const ConvGeometry g = conv_geometry(c.input(0), sizes, c.attrs(), ConvGroups::Allowed);
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           sizes.str(), g.output().str(), c.input(2).str());
  }
  Shape filter = g.filter();
  if (filter[3] == kUnknown && c.input(2).has_rank()) filter.set_dim(3, c.input(2)[g.layout.channels]);
  // The image does not tell how many groups of channels there are.
  if (!sizes.has_rank() || sizes[2] == kUnknown) filter.set_dim(2, kUnknown);
  c.set_output(0, std::move(filter));
}

void gradient(GradContext& c) {
  Output x = c.input(0), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(0, conv_node(c, "Conv2DBackpropInput", shape(x), grad, dy));
  c.set_input_grad(2, conv_node(c, "Conv2D", x, grad));
}

ConvState prepare(PrepareContext& c) { return prepare_conv(c, ConvKind::BackwardFilter, c.input(0), c.output()); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<ConvState>();
    const ConvOperands<T> operands(c, s);
    const auto* x = operands.input(c.input<T>(0));
    const auto* dy = operands.output_grad(c.input<T>(2));
    operands.to_filter(c.output<T>(),
                       [&](auto* df) {
                         operands.for_groups([&](int64_t in, int64_t weights, int64_t out) {
                           cpu::conv_backward_filter(c.pool(), s.params, x + in, dy + out, df + weights, c.scratch());
                         });
                       });
  }
};

}  // namespace

OpDef conv2d_backprop_filter_op() {
  return {.name = "Conv2DBackpropFilter",
          .inputs = "input:T; filter_sizes:int32; out_backprop:T",
          .outputs = "output:T",
          .attrs = kConvAttrs,
          .host = "filter_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .flops = conv2d_backprop_filter_flops};
}

}  // namespace weir::ops

namespace weir::nn {

Output conv2d_backprop_filter(const In& input, const In& filter_sizes, const In& out_backprop,
                              const Conv2dOptions& options, std::string_view name) {
  NodeBuilder builder("Conv2DBackpropFilter", name);
  builder.input(input).input(filter_sizes).input(out_backprop);
  return ops::with_conv_attrs(builder, options).output();
}

}  // namespace weir::nn
