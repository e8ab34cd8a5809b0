#include "graph/grad_context.h"
#include "ops/quantized/quantization.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

enum class Mode { MinCombined, MinFirst, Scaled };

struct State {
  Mode mode;
  bool to_even;
};

State modes_of(const AttrMap& attrs) {
  const std::string& mode = attrs.get<std::string>("mode");
  const bool to_even = attrs.has("round_mode") && attrs.get<std::string>("round_mode") == "HALF_TO_EVEN";
  if (to_even && mode != "SCALED") {
    throw invalid_argument("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{}'.", mode);
  }
  return {mode == "MIN_COMBINED" ? Mode::MinCombined : mode == "MIN_FIRST" ? Mode::MinFirst : Mode::Scaled, to_even};
}

State prepare(PrepareContext& c) { return modes_of(c.node().attrs()); }

void infer_quantize(InferContext& c) {
  modes_of(c.attrs());
  require_ranges(c, 1, 2);
  c.set_output(0, c.input(0));
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

void infer_dequantize(InferContext& c) {
  modes_of(c.attrs());
  require_ranges(c, 1, 2);
  c.set_output(0, c.input(0));
}

template <class T>
T saturated(float x) {
  // The ends as floats that can be converted back.
  const float low = std::max(static_cast<float>(std::numeric_limits<T>::lowest()), -2.147483648e9f);
  const float high = std::min(static_cast<float>(std::numeric_limits<T>::max()), 2.147483520e9f);
  return std::isnan(x) ? T(0) : static_cast<T>(std::min(std::max(x, low), high));
}

template <class T>
void quantize(KernelContext& c, const State& state) {
  const float low = c.scalar<float>(1), high = c.scalar<float>(2);
  if (!(high >= low)) throw invalid_argument("input_max_range must be larger than input_min_range.");
  if (!std::isfinite(low) || !std::isfinite(high))
    throw invalid_argument("the range [{}, {}] is not finite", low, high);
  // Ends that are too close together are moved apart, so that numbers do not all become one.
  float min = std::min(0.0f, low);
  const float apart = std::max(1.0f, std::max(std::abs(low), std::abs(high))) / 100.0f;
  float max = std::max(0.0f, std::max(high, min + apart));
  const float* x = c.input<float>(0);
  T* y = c.output<T>();
  const int64_t n = c.elements(0);
  auto clamped = [&](float value) { return std::max(std::min(value, max), min); };
  if (state.mode == Mode::MinCombined) {
    const auto scale = static_cast<float>(kSteps<T> / static_cast<double>(max - min));
    const auto half = static_cast<float>((kSteps<T> + 1) / 2);
    for (int64_t i = 0; i < n; ++i) {
      const float steps = (clamped(x[i]) - min) * scale;
      y[i] = std::is_signed_v<T> ? saturated<T>(std::round(steps - half)) : saturated<T>(steps + 0.5f);
    }
  } else if (state.mode == Mode::MinFirst) {
    const auto scale = static_cast<float>(kSteps<T> / static_cast<double>(max - min));
    const float first = std::round(min * scale) - static_cast<float>(std::numeric_limits<T>::lowest());
    for (int64_t i = 0; i < n; ++i) y[i] = saturated<T>(std::round(x[i] * scale) - first);
  } else {
    const auto lowest = static_cast<float>(std::numeric_limits<T>::lowest()),
               highest = static_cast<float>(std::numeric_limits<T>::max());
    const float from_min = lowest * min > 0 ? lowest / min : std::numeric_limits<float>::max();
    const float from_max = highest * max > 0 ? highest / max : std::numeric_limits<float>::max();
    const float scale = std::min(from_min, from_max);
    min = lowest / scale;
    max = highest / scale;
    for (int64_t i = 0; i < n; ++i) {
      const float steps = clamped(x[i]) * scale;
      y[i] = saturated<T>(state.to_even ? std::nearbyint(steps) : std::round(steps));
    }
  }
  set_range(c, min, max);
}

template <class T>
void dequantize(KernelContext& c, const State& state) {
  const float min = c.scalar<float>(1), max = c.scalar<float>(2);
  const T* x = c.input<T>(0);
  float* y = c.output<float>();
  const int64_t n = c.elements(0);
  if (state.mode == Mode::MinCombined) {
    const float half = std::is_signed_v<T> ? static_cast<float>((kSteps<T> + 1) / 2) : 0.0f;
    const float scale = (max - min) / static_cast<float>(kSteps<T>);
    for (int64_t i = 0; i < n; ++i) y[i] = (static_cast<float>(x[i]) + half) * scale + min;
  } else if (state.mode == Mode::MinFirst) {
    const auto scale = static_cast<float>(static_cast<double>(max - min) / kSteps<T>);
    const float first = max == min ? min : std::round(min / scale) * scale;
    const float zero = first - static_cast<float>(std::numeric_limits<T>::lowest()) * scale;
    for (int64_t i = 0; i < n; ++i) y[i] = zero + static_cast<float>(x[i]) * scale;
  } else {
    const auto lowest = static_cast<float>(std::numeric_limits<T>::lowest()),
               highest = static_cast<float>(std::numeric_limits<T>::max());
    const float scale = lowest == 0 ? max / highest : std::max(min / lowest, max / highest);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]) * scale;
  }
}

void quantize_cpu(KernelContext& c) {
  with_quantized(c.node().type(), [&]<class T>(T) { quantize<T>(c, c.state<State>()); });
}
void dequantize_cpu(KernelContext& c) {
  with_quantized(c.node().type(), [&]<class T>(T) { dequantize<T>(c, c.state<State>()); });
}

}  // namespace

OpDef quantize_v2_op() {
  return {.name = "QuantizeV2",
          .inputs = "input:float; min_range:float; max_range:float",
          .outputs = "output:T; output_min:float; output_max:float",
          .attrs =
              "T:type{qint8,quint8,qint32,qint16,quint16}; mode:string{MIN_COMBINED,MIN_FIRST,SCALED}='MIN_COMBINED'; "
              "round_mode:string{HALF_AWAY_FROM_ZERO,HALF_TO_EVEN}='HALF_AWAY_FROM_ZERO'",
          .infer = infer_quantize,
          .cpu = {.select = kernel_any<quantize_cpu>, .prepare = prepared<prepare>}};
}

OpDef dequantize_op() {
  return {
      .name = "Dequantize",
      .inputs = "input:T; min_range:float; max_range:float",
      .outputs = "output:float",
      .attrs = "T:type{qint8,quint8,qint32,qint16,quint16}; mode:string{MIN_COMBINED,MIN_FIRST,SCALED}='MIN_COMBINED'",
      .infer = infer_dequantize,
      .cpu = {.select = kernel_any<dequantize_cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
