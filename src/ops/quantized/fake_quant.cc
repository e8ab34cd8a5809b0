#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/types.h"
#include "weir/ops.h"

// Numbers as they would be after a trip through integers of few bits, and the gradient that lets a network learn with
// that: it passes inside of the range, and goes to the range's ends outside.
namespace weir::ops {
namespace {

struct Levels {
  float lowest, highest;
};

Levels levels_of(const AttrMap& attrs) {
  const auto bits = attrs.get<int64_t>("num_bits");
  if (bits < 2 || bits > 16) throw invalid_argument("num_bits must be between 2 and 16, inclusive");
  return {attrs.get<bool>("narrow_range") ? 1.0f : 0.0f, static_cast<float>((1 << bits) - 1)};
}

// The range moved a little, so that zero is one of its levels.
struct Range {
  float min, max, scale, inverse;
  bool empty;

  Range(float low, float high, const Levels& levels)
      : min(0), max(0), scale(0), inverse(0), empty(low == 0 && high == 0) {
    if (empty) return;
    scale = (high - low) / (levels.highest - levels.lowest);
    const float zero = levels.lowest - low / scale;
    const float nudged = zero < levels.lowest    ? levels.lowest
                         : zero > levels.highest ? levels.highest
                                                 : std::round(zero);
    min = (levels.lowest - nudged) * scale;
    max = (levels.highest - nudged) * scale;
    inverse = 1.0f / scale;
  }
  float quantized(float x) const {
    const float clamped = std::max(std::min(x, max), min);
    return std::floor((clamped - min) * inverse + 0.5f) * scale + min;
  }
  bool contains(float x) const { return x >= min && x <= max; }
};

struct ArgsState {
  Range range;
};

Range args_range(const AttrMap& attrs) {
  const auto low = attrs.get<float>("min"), high = attrs.get<float>("max");
  if (!(low < high)) throw invalid_argument("min has to be smaller than max, was: {} >= {}", low, high);
  return Range(low, high, levels_of(attrs));
}

ArgsState prepare_args(PrepareContext& c) { return {args_range(c.node().attrs())}; }
Levels prepare_levels(PrepareContext& c) { return levels_of(c.node().attrs()); }

void infer_args(InferContext& c) {
  args_range(c.attrs());
  infer::unchanged(c);
}

void infer_args_grad(InferContext& c) {
  args_range(c.attrs());
  if (!c.input(0).compatible(c.input(1))) {
    throw invalid_argument("gradient and input must be the same size: {} and {}", c.input(0).str(), c.input(1).str());
  }
  infer::merged(c);
}

// `first`: of the inputs; the ranges follow.
template <bool kChannels>
void check_ranges(InferContext& c, int inputs) {
  levels_of(c.attrs());
  for (int i : {inputs + 1, inputs + 2}) {
    if (!kChannels) {
      c.require_scalar(i);
      continue;
    }
    c.require_rank(i, 1);
    c.require_min_rank(inputs, 1);
    if (c.input(i).has_rank() && c.input(inputs).has_rank() && c.input(i)[0] != kUnknown &&
        c.input(inputs)[-1] != kUnknown && c.input(i)[0] != c.input(inputs)[-1]) {
      throw invalid_argument("{} has incorrect size, expected {} was {}", i == inputs + 1 ? "min" : "max",
                             c.input(inputs)[-1], c.input(i)[0]);
    }
  }
}

template <bool kChannels>
void infer_vars(InferContext& c) {
  check_ranges<kChannels>(c, 0);
  infer::unchanged(c);
}

template <bool kChannels>
void infer_vars_grad(InferContext& c) {
  if (!c.input(0).compatible(c.input(1))) {
    throw invalid_argument("gradient and input must be the same size: {} and {}", c.input(0).str(), c.input(1).str());
  }
  check_ranges<kChannels>(c, 1);
  c.set_output(0, c.input(0).merged(c.input(1)));
  c.set_output(1, c.input(2));
  c.set_output(2, c.input(3));
}

void quantize_row(const Range& range, const float* x, float* y, int64_t n) {
  if (range.empty) {
    std::fill_n(y, n, 0.0f);
    return;
  }
  for (int64_t i = 0; i < n; ++i) y[i] = range.quantized(x[i]);
}

void args_cpu(KernelContext& c) {
  c.pool().parallel_for(c.output_elements(), 4096, [&](int64_t begin, int64_t end) {
    quantize_row(c.state<ArgsState>().range, c.input<float>(0) + begin, c.output<float>() + begin, end - begin);
  });
}

void args_grad_cpu(KernelContext& c) {
  const Range& range = c.state<ArgsState>().range;
  const float *grad = c.input<float>(0), *x = c.input<float>(1);
  for (int64_t i = 0; i < c.output_elements(); ++i) {
    c.output<float>()[i] = grad[i] * (range.contains(x[i]) ? 1.0f : 0.0f);
  }
}

void vars_cpu(KernelContext& c) {
  const Range range(c.scalar<float>(1), c.scalar<float>(2), c.state<Levels>());
  c.pool().parallel_for(c.output_elements(), 4096, [&](int64_t begin, int64_t end) {
    quantize_row(range, c.input<float>(0) + begin, c.output<float>() + begin, end - begin);
  });
}

void channels_cpu(KernelContext& c) {
  const int64_t depth = c.elements(1);
  std::vector<Range> ranges;
  for (int64_t d = 0; d < depth; ++d)
    ranges.emplace_back(c.input<float>(1)[d], c.input<float>(2)[d], c.state<Levels>());
  for (int64_t i = 0; i < c.output_elements(); ++i) {
    quantize_row(ranges[static_cast<size_t>(i % depth)], c.input<float>(0) + i, c.output<float>() + i, 1);
  }
}

// Channels count as one when there is one range for all.
void vars_grad_cpu(KernelContext& c) {
  const int64_t depth = c.elements(2);
  const float *grad = c.input<float>(0), *x = c.input<float>(1);
  float* dx = c.output<float>(0);
  for (int64_t d = 0; d < depth; ++d) {
    const Range range(c.input<float>(2)[d], c.input<float>(3)[d], c.state<Levels>());
    double below = 0, above = 0;
    for (int64_t i = d; i < c.elements(0); i += depth) {
      if (range.empty) {
        dx[i] = grad[i];
        continue;
      }
      dx[i] = grad[i] * (range.contains(x[i]) ? 1.0f : 0.0f);
      if (x[i] < range.min) below += grad[i];
      if (x[i] > range.max) above += grad[i];
    }
    c.output<float>(1)[d] = static_cast<float>(below);
    c.output<float>(2)[d] = static_cast<float>(above);
  }
}

void args_gradient(GradContext& c) {
  NodeBuilder node("FakeQuantWithMinMaxArgsGradient");
  node.input(c.output_grad()).input(c.input(0));
  for (const char* name : {"min", "max", "num_bits", "narrow_range"}) node.attr(name, *c.op().attrs().find(name));
  c.set_input_grad(0, node.output());
}

template <bool kChannels>
void vars_gradient(GradContext& c) {
  Operation grad =
      NodeBuilder(kChannels ? "FakeQuantWithMinMaxVarsPerChannelGradient" : "FakeQuantWithMinMaxVarsGradient")
          .input(c.output_grad())
          .input(c.input(0))
          .input(c.input(1))
          .input(c.input(2))
          .attr("num_bits", *c.op().attrs().find("num_bits"))
          .attr("narrow_range", *c.op().attrs().find("narrow_range"))
          .build();
  for (int i = 0; i < 3; ++i) c.set_input_grad(i, grad.output(i));
}

constexpr std::string_view kArgs = "min:float=-6.0; max:float=6.0; num_bits:int=8; narrow_range:bool=False";
constexpr std::string_view kVars = "num_bits:int=8; narrow_range:bool=False";

template <bool kChannels>
OpDef vars_row(std::string_view name, ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "inputs:float; min:float; max:float",
          .outputs = "outputs:float",
          .attrs = kVars,
          .infer = infer_vars<kChannels>,
          .gradient = vars_gradient<kChannels>,
          .cpu = {.select = select, .prepare = prepared<prepare_levels>, .in_place = 0b1}};
}

template <bool kChannels>
OpDef vars_grad_row(std::string_view name) {
  return {.name = name,
          .inputs = "gradients:float; inputs:float; min:float; max:float",
          .outputs = "backprops_wrt_input:float; backprop_wrt_min:float; backprop_wrt_max:float",
          .attrs = kVars,
          .infer = infer_vars_grad<kChannels>,
          .cpu = {.select = kernel_any<vars_grad_cpu>, .prepare = prepared<prepare_levels>}};
}

}  // namespace

OpDef fake_quant_with_min_max_args_op() {
  return {.name = "FakeQuantWithMinMaxArgs",
          .inputs = "inputs:float",
          .outputs = "outputs:float",
          .attrs = kArgs,
          .infer = infer_args,
          .gradient = args_gradient,
          .cpu = {.select = kernel_any<args_cpu>, .prepare = prepared<prepare_args>, .in_place = 0b1}};
}
OpDef fake_quant_with_min_max_args_gradient_op() {
  return {.name = "FakeQuantWithMinMaxArgsGradient",
          .inputs = "gradients:float; inputs:float",
          .outputs = "backprops:float",
          .attrs = kArgs,
          .infer = infer_args_grad,
          .cpu = {.select = kernel_any<args_grad_cpu>, .prepare = prepared<prepare_args>}};
}
OpDef fake_quant_with_min_max_vars_op() { return vars_row<false>("FakeQuantWithMinMaxVars", kernel_any<vars_cpu>); }
OpDef fake_quant_with_min_max_vars_gradient_op() { return vars_grad_row<false>("FakeQuantWithMinMaxVarsGradient"); }
OpDef fake_quant_with_min_max_vars_per_channel_op() {
  return vars_row<true>("FakeQuantWithMinMaxVarsPerChannel", kernel_any<channels_cpu>);
}
OpDef fake_quant_with_min_max_vars_per_channel_gradient_op() {
  return vars_grad_row<true>("FakeQuantWithMinMaxVarsPerChannelGradient");
}

}  // namespace weir::ops
