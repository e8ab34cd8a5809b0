#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/nn/conv3d.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const VolumeGeometry g = conv3d_geometry(c.input(0), shape_argument(c, 1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           g.filter().str(), g.output().str(), c.input(2).str());
  }
  c.set_output(0, g.filter());
}

void gradient(GradContext& c) {
  Output x = c.input(0), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(0, conv3d_node(c, "Conv3DBackpropInputV2", shape(x), grad, dy));
  c.set_input_grad(2, conv3d_node(c, "Conv3D", x, grad));
}

Conv3dState prepare(PrepareContext& c) { return prepare_conv3d(c, ConvKind::BackwardFilter, c.input(0), c.output()); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<Conv3dState>();
    const ConvOperands<T> operands(c, s.images);
    const auto* x = operands.input(c.input<T>(0));
    const auto* dy = operands.output_grad(c.input<T>(2));
    operands.to_filter(c.output<T>(),
                       [&](auto* df) { cpu::conv3d_backward_filter(c.pool(), s.params, x, dy, df, c.scratch()); });
  }
};

// The older form takes a filter for its shape.
void infer_old(InferContext& c) {
  const VolumeGeometry g = conv3d_geometry(c.input(0), c.input(1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           g.filter().str(), g.output().str(), c.input(2).str());
  }
  c.set_output(0, g.filter());
}

}  // namespace

OpDef conv3d_backprop_filter_op() {
  return {.name = "Conv3DBackpropFilter",
          .inputs = "input:T; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs = kOldConv3dAttrs,
          .flags = "deprecated@10",
          .infer = infer_old,
          .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .flops = conv2d_backprop_filter_flops};
}

OpDef conv3d_backprop_filter_v2_op() {
  return {.name = "Conv3DBackpropFilterV2",
          .inputs = "input:T; filter_sizes:int32; out_backprop:T",
          .outputs = "output:T",
          .attrs = kConv3dAttrs,
          .host = "filter_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .flops = conv2d_backprop_filter_flops};
}

}  // namespace weir::ops
