#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/nn/conv3d.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape sizes = shape_argument(c, 0);
  const VolumeGeometry g = conv3d_geometry(sizes, c.input(1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", sizes.str(),
                           c.input(1).str(), g.output().str(), c.input(2).str());
  }
  Shape input = g.input();
  if (input[0] == kUnknown && c.input(2).has_rank()) input.set_dim(0, c.input(2)[0]);
  c.set_output(0, std::move(input));
}

void gradient(GradContext& c) {
  Output filter = c.input(1), dy = c.input(2), grad = c.output_grad();
  c.set_input_grad(1, conv3d_node(c, "Conv3DBackpropFilterV2", grad, shape(filter), dy));
  c.set_input_grad(2, conv3d_node(c, "Conv3D", grad, filter));
}

Conv3dState prepare(PrepareContext& c) { return prepare_conv3d(c, ConvKind::BackwardInput, c.output(), c.input(1)); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<Conv3dState>();
    const ConvGeometry& g = s.images.geometry;
    const ConvOperands<T> operands(c, s.images);
    const auto* filter = operands.filter(c.input<T>(1));
    const auto* dy = operands.output_grad(c.input<T>(2));
    operands.to_image(c.output<T>(), g.height.in, g.width.in, g.in_channels, s.images.input_at,
                      [&](auto* dx) { cpu::conv3d_backward_input(c.pool(), s.params, filter, dy, dx, c.scratch()); });
  }
};

// The older form takes an input for its shape.
void infer_old(InferContext& c) {
  const VolumeGeometry g = conv3d_geometry(c.input(0), c.input(1), c.attrs());
  if (!g.output().compatible(c.input(2))) {
    throw invalid_argument("a convolution of {} with {} gives {}; the gradient has shape {}", c.input(0).str(),
                           c.input(1).str(), g.output().str(), c.input(2).str());
  }
  c.set_output(0, g.input());
}

}  // namespace

OpDef conv3d_backprop_input_op() {
  return {.name = "Conv3DBackpropInput",
          .inputs = "input:T; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs = kOldConv3dAttrs,
          .flags = "deprecated@10",
          .infer = infer_old,
          .cpu = {.select = kernel_for<Types<Half, float, double>, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .flops = conv2d_backprop_input_flops};
}

OpDef conv3d_backprop_input_v2_op() {
  return {.name = "Conv3DBackpropInputV2",
          .inputs = "input_sizes:Tshape; filter:T; out_backprop:T",
          .outputs = "output:T",
          .attrs =
              "T:type{half,bfloat16,float,double}; strides:list(int)>=5; padding:string{SAME,VALID}; "
              "data_format:string{NDHWC,NCDHW}='NDHWC'; dilations:list(int)=[1, 1, 1, 1, 1]; "
              "Tshape:type{int32,int64}=int32",
          .host = "input_sizes",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .flops = conv2d_backprop_input_flops};
}

}  // namespace weir::ops
