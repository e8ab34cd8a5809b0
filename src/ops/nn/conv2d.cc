#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/flops.h"
#include "ops/nn/conv_attrs.h"
#include "ops/nn/conv_state.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.set_output(0, conv_geometry(c.input(0), c.input(1), c.attrs(), ConvGroups::Allowed).output());
}

void gradient(GradContext& c) {
  Output x = c.input(0), filter = c.input(1), dy = c.output_grad();
  std::vector<Output> shapes = shape_n({x, filter});
  c.set_input_grad(0, conv_node(c, "Conv2DBackpropInput", shapes[0], filter, dy));
  c.set_input_grad(1, conv_node(c, "Conv2DBackpropFilter", x, shapes[1], dy));
}

ConvState prepare(PrepareContext& c) { return prepare_conv(c, ConvKind::Forward, c.input(0), c.input(1)); }

// The same after fusion: what follows a convolution is applied while its result is still in the cache.
ConvState prepare_fused(PrepareContext& c) {
  ConvState state = prepare(c);
  state.epilogue = parse_epilogue(c.node().attrs());
  if (state.epilogue.norm) state.epsilon = c.attr<float>("epsilon");
  state.epilogue_at = (c.scratch_bytes() + 63) / 64 * 64;
  const int64_t elements = epilogue_scratch(state.epilogue, state.geometry.out_channels);
  c.set_scratch(state.epilogue_at + static_cast<size_t>(elements) * dtype_size(c.node().type()));
  return state;
}

void infer_fused(InferContext& c) {
  const ConvGeometry g = conv_geometry(c.input(0), c.input(1), c.attrs(), ConvGroups::Allowed);
  if (g.groups != 1) throw error(Code::Unimplemented, "nothing is fused into convolutions of groups of channels");
  const Epilogue epilogue = parse_epilogue(c.attrs());
  if (epilogue.side && g.layout.channels != 3) throw error(Code::Unimplemented, "Add can be fused for NHWC only");
  Shape result = g.output();
  if (g.layout.channels != 3) result = {g.batch, g.height.out, g.width.out, g.out_channels};
  check_epilogue(c, epilogue, 2, result);
  c.set_output(0, g.output());
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<ConvState>();
    const ConvGeometry& g = s.geometry;
    const ConvOperands<T> operands(c, s);
    const auto* x = operands.input(c.input<T>(0));
    const auto* filter = operands.filter(c.input<T>(1));
    cpu::Epilogue<ConvCompute<T>> epilogue;
    if constexpr (std::is_same_v<T, ConvCompute<T>>) {
      auto* scratch = reinterpret_cast<T*>(static_cast<char*>(c.scratch()) + s.epilogue_at);
      epilogue = bind_epilogue<T>(c, s.epilogue, 2, g.out_channels, s.epsilon, scratch);
    }
    operands.to_image(c.output<T>(), g.height.out, g.width.out, g.out_channels, s.output_at,
                      [&](auto* y) {
                        operands.for_groups([&](int64_t in, int64_t weights, int64_t out) {
                          cpu::conv_forward(c.pool(), s.params, x + in, filter + weights, epilogue, y + out,
                                            c.scratch());
                        });
                      });
  }
};

}  // namespace

OpDef conv2d_op() {
  return {.name = "Conv2D",
          .inputs = "input:T; filter:T",
          .outputs = "output:T",
          .attrs = kConvAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .winograd = true,
          .fused = "_FusedConv2D",
          .flops = conv2d_flops};
}

OpDef fused_conv2d_op() {
  return {.name = "_FusedConv2D",
          .inputs = "input:T; filter:T; args:num_args*T",
          .outputs = "output:T",
          .attrs =
              "T:type{float,double}; num_args:int>=0; strides:list(int); padding:string{SAME,VALID,EXPLICIT}; "
              "explicit_paddings:list(int)=[]; data_format:string{NHWC,NCHW}='NHWC'; "
              "dilations:list(int)=[1, 1, 1, 1]; use_cudnn_on_gpu:bool=True; fused_ops:list(string)=[]; "
              "epsilon:float=0.0001",
          .infer = infer_fused,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>, .prepare = prepared<prepare_fused>},
          .winograd = true,
          .flops = conv2d_flops};
}

}  // namespace weir::ops

namespace weir::nn {

Output conv2d(const In& input, const In& filter, const Conv2dOptions& options, std::string_view name) {
  NodeBuilder builder("Conv2D", name);
  builder.input(input).input(filter);
  return ops::with_conv_attrs(builder, options).output();
}

}  // namespace weir::nn
