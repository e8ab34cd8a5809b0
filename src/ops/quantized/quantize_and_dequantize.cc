#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/types.h"

// To integers of so many bits and back, with zero kept where it is.
namespace weir::ops {
namespace {

struct State {
  bool is_signed, range_given, narrow, half_up;
  int64_t bits;
  float min, max;  // of the first version, which has them as attributes
};

void check_bits(int64_t bits, bool is_signed) {
  if (bits < (is_signed ? 2 : 1) || bits > (is_signed ? 63 : 62)) {
    throw invalid_argument("num_bits is out of range: {} with signed_input {}", bits, is_signed);
  }
}

State state_of(const AttrMap& attrs) {
  State state{attrs.get<bool>("signed_input"),
              attrs.get<bool>("range_given"),
              attrs.has("narrow_range") && attrs.get<bool>("narrow_range"),
              attrs.has("round_mode") && attrs.get<std::string>("round_mode") == "HALF_UP",
              attrs.has("num_bits") ? attrs.get<int64_t>("num_bits") : 0,
              attrs.has("input_min") ? attrs.get<float>("input_min") : 0.0f,
              attrs.has("input_max") ? attrs.get<float>("input_max") : 0.0f};
  if (attrs.has("num_bits")) check_bits(state.bits, state.is_signed);
  if (attrs.has("input_min") && state.range_given && state.min > state.max) {
    throw invalid_argument("Invalid range: input_min {} > input_max {}", state.min, state.max);
  }
  return state;
}

State prepare(PrepareContext& c) { return state_of(c.node().attrs()); }

void infer(InferContext& c) {
  state_of(c.attrs());
  for (int i = 1; i < c.inputs(); ++i) c.require_scalar(i);
  infer::unchanged(c);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    using W = Wide<T>;
    State s = c.state<State>();
    const T* x = c.input<T>(0);
    const int64_t n = c.elements(0);
    if (n == 0) return;
    if (c.inputs() == 4) {
      s.bits = c.scalar<int32_t>(3);
      check_bits(s.bits, s.is_signed);
    }
    W min = static_cast<W>(s.min), max = static_cast<W>(s.max);
    if (!s.range_given) {
      min = max = static_cast<W>(x[0]);
      for (int64_t i = 1; i < n; ++i) {
        min = std::min(min, static_cast<W>(x[i]));
        max = std::max(max, static_cast<W>(x[i]));
      }
    } else if (c.inputs() > 1) {
      min = static_cast<W>(c.scalar<T>(1));
      max = static_cast<W>(c.scalar<T>(2));
      if (min > max) throw invalid_argument("Invalid range: input_min {} > input_max {}", min, max);
    }
    const auto power = static_cast<W>(uint64_t{1} << (s.is_signed ? s.bits - 1 : s.bits));
    const W lowest = s.is_signed ? (s.narrow ? 1 - power : -power) : W(0), highest = power - 1;
    const W most = std::numeric_limits<W>::max();
    const W from_min = lowest * min > 0 ? lowest / min : most, from_max = highest * max > 0 ? highest / max : most;
    W scale, inverse;
    if (from_min < from_max) {
      scale = from_min;
      inverse = min / lowest;
      max = highest * inverse;
    } else {
      scale = from_max;
      inverse = max / highest;
      min = lowest * inverse;
    }
    T* y = c.output<T>();
    for (int64_t i = 0; i < n; ++i) {
      W value = static_cast<W>(x[i]);
      if (s.range_given) value = std::max(std::min(value, max), min);
      value *= scale;
      y[i] = static_cast<T>((s.half_up ? std::floor(value + W(0.5)) : std::nearbyint(value)) * inverse);
    }
  }
};

// Straight through.
void gradient(GradContext& c) { c.set_input_grad(0, c.output_grad()); }

OpDef row(std::string_view name, std::string_view inputs, std::string_view attrs, std::string_view flags = "") {
  return {.name = name,
          .inputs = inputs,
          .outputs = "output:T",
          .attrs = attrs,
          .flags = flags,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .prepare = prepared<prepare>, .in_place = 0b1}};
}

}  // namespace

OpDef quantize_and_dequantize_op() {
  return row(
      "QuantizeAndDequantize", "input:T",
      "signed_input:bool=True; num_bits:int=8; range_given:bool=False; input_min:float=0.0; input_max:float=0.0; "
      "T:type{bfloat16,half,float,double}",
      "deprecated@22");
}
OpDef quantize_and_dequantize_v2_op() {
  return row("QuantizeAndDequantizeV2", "input:T; input_min:T; input_max:T",
             "signed_input:bool=True; num_bits:int=8; range_given:bool=False; T:type{bfloat16,half,float,double}; "
             "round_mode:string{HALF_TO_EVEN,HALF_UP}='HALF_TO_EVEN'; narrow_range:bool=False");
}
OpDef quantize_and_dequantize_v3_op() {
  return row("QuantizeAndDequantizeV3", "input:T; input_min:T; input_max:T; num_bits:int32",
             "signed_input:bool=True; range_given:bool=True; T:type{bfloat16,half,float,double}; "
             "narrow_range:bool=False");
}

}  // namespace weir::ops
