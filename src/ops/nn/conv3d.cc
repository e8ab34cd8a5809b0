#include "ops/nn/conv3d.h"

#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, conv3d_geometry(c.input(0), c.input(1), c.attrs()).output()); }

void gradient(GradContext& c) {
  Output x = c.input(0), filter = c.input(1), dy = c.output_grad();
  c.set_input_grad(0, conv3d_node(c, "Conv3DBackpropInputV2", shape(x), filter, dy));
  c.set_input_grad(1, conv3d_node(c, "Conv3DBackpropFilterV2", x, shape(filter), dy));
}

Conv3dState prepare(PrepareContext& c) { return prepare_conv3d(c, ConvKind::Forward, c.input(0), c.input(1)); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<Conv3dState>();
    const ConvGeometry& g = s.images.geometry;
    const ConvOperands<T> operands(c, s.images);
    const auto* x = operands.input(c.input<T>(0));
    const auto* filter = operands.filter(c.input<T>(1));
    operands.to_image(c.output<T>(), g.height.out, g.width.out, g.out_channels, s.images.output_at,
                      [&](auto* y) { cpu::conv3d_forward(c.pool(), s.params, x, filter, y, c.scratch()); });
  }
};

}  // namespace

OpDef conv3d_op() {
  return {.name = "Conv3D",
          .inputs = "input:T; filter:T",
          .outputs = "output:T",
          .attrs = kConv3dAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .flops = conv2d_flops};
}

}  // namespace weir::ops
