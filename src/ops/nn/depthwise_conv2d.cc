#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/nn/depthwise_state.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.set_output(0, depthwise_geometry(c.input(0), c.input(1), c.attrs()).output()); }

DepthwiseState prepare(PrepareContext& c) {
  return prepare_depthwise(c, depthwise_geometry(c.input(0), c.input(1), c.node().attrs()));
}

// The same after fusion: what follows it is applied while its result is still in the cache.
void infer_fused(InferContext& c) {
  const DepthwiseGeometry d = depthwise_geometry(c.input(0), c.input(1), c.attrs());
  const Epilogue epilogue = parse_epilogue(c.attrs());
  if (epilogue.side && d.conv.layout.channels != 3) throw error(Code::Unimplemented, "Add can be fused for NHWC only");
  check_epilogue(c, epilogue, 2, {d.conv.batch, d.conv.height.out, d.conv.width.out, d.channels()});
  c.set_output(0, d.output());
}

DepthwiseState prepare_fused(PrepareContext& c) {
  DepthwiseState s = prepare(c);
  s.epilogue = parse_epilogue(c.node().attrs());
  if (s.epilogue.norm) s.epsilon = c.attr<float>("epsilon");
  s.epilogue_at = (c.scratch_bytes() + 63) / 64 * 64;
  c.set_scratch(s.epilogue_at +
                static_cast<size_t>(epilogue_scratch(s.epilogue, s.geometry.channels())) * sizeof(float));
  return s;
}

cpu::Epilogue<float> epilogue_of(const KernelContext& c, const DepthwiseState& s) {
  auto* scratch = reinterpret_cast<float*>(static_cast<char*>(c.scratch()) + s.epilogue_at);
  return bind_epilogue<float>(c, s.epilogue, 2, s.geometry.channels(), s.epsilon, scratch);
}

void run_fast(KernelContext& c, const DepthwiseState& s) {
  const DepthwiseImages images(c, s);
  const float* x = images.input(c.input<float>(0));
  const auto epilogue = epilogue_of(c, s);
  images.to_output(c.output<float>(), [&](float* y) {
    cpu::depthwise(s.geometry.fast_shape(), x, c.input<float>(1), epilogue, y, c.pool());
  });
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<DepthwiseState>();
    const DepthwiseGeometry& d = s.geometry;
    if constexpr (std::is_same_v<T, float>) {
      if (s.fast) return run_fast(c, s);
    }
    const ConvGeometry& g = d.conv;
    const ImageStrides in = d.input_strides(), out = d.output_strides();
    [[maybe_unused]] cpu::Epilogue<float> epilogue;
    if constexpr (std::is_same_v<T, float>) epilogue = epilogue_of(c, s);
    const int64_t channels = d.channels(), multiplier = g.out_channels;
    c.pool().parallel_for(g.batch * g.height.out, 1, [&](int64_t begin, int64_t end) {
      Wide<T> sums[kDepthwiseChunk];
      for (int64_t row = begin; row < end; ++row) {
        const int64_t n = row / g.height.out, oh = row % g.height.out;
        const Taps rows(g.height, oh);
        for (int64_t ow = 0; ow < g.width.out; ++ow) {
          const Taps columns(g.width, ow);
          for_each_chunk(channels, [&](int64_t first, int64_t count) {
            std::fill_n(sums, count, Wide<T>(0));
            for (int64_t kh = rows.first; kh < rows.last; ++kh) {
              const int64_t ih = oh * g.height.stride - g.height.pad_before + kh * g.height.dilation;
              for (int64_t kw = columns.first; kw < columns.last; ++kw) {
                const int64_t iw = ow * g.width.stride - g.width.pad_before + kw * g.width.dilation;
                const T* x = c.input<T>(0) + n * in.batch + ih * in.height + iw * in.width;
                const T* f = c.input<T>(1) + (kh * g.width.size + kw) * channels + first;
                if (multiplier == 1 && in.channels == 1) {
                  for (int64_t q = 0; q < count; ++q) sums[q] += Wide<T>(x[first + q]) * Wide<T>(f[q]);
                } else {
                  for (int64_t q = 0; q < count; ++q) {
                    sums[q] += Wide<T>(x[(first + q) / multiplier * in.channels]) * Wide<T>(f[q]);
                  }
                }
              }
            }
            const int64_t pixel = n * out.batch + oh * out.height + ow * out.width;
            for (int64_t q = 0; q < count; ++q) {
              const int64_t at = pixel + (first + q) * out.channels;
              if constexpr (std::is_same_v<T, float>) sums[q] = cpu::finished(sums[q], epilogue, first + q, at);
              c.output<T>()[at] = static_cast<T>(sums[q]);
            }
          });
        }
      }
    });
  }
};

void gradient(GradContext& c) {
  Output x = c.input(0), filter = c.input(1), dy = c.output_grad();
  c.set_input_grad(0, depthwise_node(c, "DepthwiseConv2dNativeBackpropInput", {shape(x), filter, dy}));
  c.set_input_grad(1, depthwise_node(c, "DepthwiseConv2dNativeBackpropFilter", {x, shape(filter), dy}));
}

}  // namespace

Output depthwise_node(const GradContext& c, std::string_view op, const std::vector<Output>& inputs) {
  NodeBuilder node(op);
  for (const Output& input : inputs) node.input(input);
  for (const char* name : {"strides", "padding", "data_format", "dilations"}) {
    node.attr(name, *c.op().attrs().find(name));
  }
  return node.output();
}

OpDef depthwise_conv2d_op() {
  return {.name = "DepthwiseConv2dNative",
          .inputs = "input:T; filter:T",
          .outputs = "output:T",
          .attrs = kDepthwiseAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>},
          .fused = "_FusedDepthwiseConv2dNative"};
}

OpDef fused_depthwise_conv2d_op() {
  return {.name = "_FusedDepthwiseConv2dNative",
          .inputs = "input:T; filter:T; args:num_args*T",
          .outputs = "output:T",
          .attrs =
              "T:type{float}; num_args:int>=0; strides:list(int); padding:string{SAME,VALID}; "
              "data_format:string{NHWC,NCHW}='NHWC'; dilations:list(int)=[1, 1, 1, 1]; fused_ops:list(string)=[]; "
              "epsilon:float=0.0001",
          .infer = infer_fused,
          .cpu = {.select = kernel_for<Types<float>, Cpu>, .prepare = prepared<prepare_fused>}};
}

}  // namespace weir::ops
