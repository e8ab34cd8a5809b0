#include "ops/quantized/quantization.h"
#include "ops/types.h"

// Quantised numbers in another range, and the range that they use.
namespace weir::ops {
namespace {

void infer_down(InferContext& c) {
  require_ranges(c, 1, c.inputs() - 1);
  c.set_output(0, c.input(0));
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

void infer_range(InferContext& c) {
  require_ranges(c, 1, 2);
  c.set_output(0, Shape{});
  c.set_output(1, Shape{});
}

// 32 bits to 8 in fixed point, with 16 bits behind the point, as TensorFlow does it.
void move_32_to_8(const int32_t* x, int64_t n, const Quantization<int32_t>& from, float min, float max, uint8_t* y) {
  constexpr int kShift = 16;
  const float range = from.max - from.min, out_range = max - min;
  const float reciprocal = out_range == 0 ? 0.0f : static_cast<float>(255.0 / out_range);
  const float zero = (from.min + from.max) / 2.0f;
  auto whole = [](double value) { return std::abs(value) < 9e18 ? static_cast<int64_t>(value) : int64_t{0}; };
  const int64_t scale = out_range == 0 ? 0 : whole(255.0 * (1 << kShift) * range / out_range);
  const int64_t offset = whole(static_cast<double>(zero * reciprocal * (1 << kShift)));
  const int64_t out_offset = out_range == 0 ? 0 : whole((1 << kShift) * (min * 255.0) / out_range);
  for (int64_t i = 0; i < n; ++i) {
    // The product has up to 96 bits; what lies below its 32nd is not needed.
    const int64_t high = (scale >> 32) * x[i];
    const int64_t low = static_cast<int64_t>(static_cast<uint64_t>(scale) & 0xffffffffu) * x[i];
    const int64_t value = high + (low >> 32) + offset - out_offset + (int64_t{1} << (kShift - 1));
    y[i] = static_cast<uint8_t>(std::clamp<int64_t>(value >> kShift, 0, 255));
  }
}

template <class From, class To>
void move_range(const From* x, int64_t n, const Quantization<From>& from, float min, float max, To* y) {
  if constexpr (std::is_same_v<From, int32_t> && std::is_same_v<To, uint8_t>)
    return move_32_to_8(x, n, from, min, max, y);
  const Quantization<To> to{min, max};
  for (int64_t i = 0; i < n; ++i) y[i] = to.from_float(from.to_float(x[i]));
}

// What of the range the numbers use; zero always belongs to it.
template <class T>
Quantization<T> used(const T* x, int64_t n, const Quantization<T>& range) {
  T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
  for (int64_t i = 0; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  return {std::min(0.0f, range.to_float(low)), range.to_float(high)};
}

void requantize_cpu(KernelContext& c) {
  const float min = c.scalar<float>(3), max = c.scalar<float>(4);
  if (!(min <= 0)) throw invalid_argument("requested_output_min must be <= 0, but got {}", min);
  if (!(max >= min))
    throw invalid_argument("requested_output_max must be >= requested_output_min, but got {} and {}", max, min);
  with_quantized(c.node().type("Tinput"), [&]<class From>(From) {
    const auto range = range_input<From>(c, 1, 2);
    with_quantized(c.node().type("out_type"),
                   [&]<class To>(To) { move_range(c.input<From>(0), c.elements(0), range, min, max, c.output<To>()); });
  });
  set_range(c, min, max);
}

void shrink_cpu(KernelContext& c) {
  with_quantized(c.node().type("Tinput"), [&]<class From>(From) {
    const auto range = range_input<From>(c, 1, 2), actual = used(c.input<From>(0), c.elements(0), range);
    with_quantized(c.node().type("out_type"), [&]<class To>(To) {
      move_range(c.input<From>(0), c.elements(0), range, actual.min, actual.max, c.output<To>());
    });
    set_range(c, actual.min, actual.max);
  });
}

void range_cpu(KernelContext& c) {
  with_quantized(c.node().type("Tinput"), [&]<class From>(From) {
    const auto actual = used(c.input<From>(0), c.elements(0), range_input<From>(c, 1, 2));
    set_range(c, actual.min, actual.max, 0);
  });
}

constexpr std::string_view kAttrs =
    "Tinput:type{qint8,quint8,qint32,qint16,quint16}; out_type:type{qint8,quint8,qint32,qint16,quint16}";

}  // namespace

OpDef requantize_op() {
  return {.name = "Requantize",
          .inputs =
              "input:Tinput; input_min:float; input_max:float; requested_output_min:float; requested_output_max:float",
          .outputs = "output:out_type; output_min:float; output_max:float",
          .attrs = kAttrs,
          .infer = infer_down,
          .cpu = {.select = kernel_any<requantize_cpu>}};
}

OpDef quantize_down_and_shrink_range_op() {
  return {.name = "QuantizeDownAndShrinkRange",
          .inputs = "input:Tinput; input_min:float; input_max:float",
          .outputs = "output:out_type; output_min:float; output_max:float",
          .attrs = kAttrs,
          .infer = infer_down,
          .cpu = {.select = kernel_any<shrink_cpu>}};
}

OpDef requantization_range_op() {
  return {.name = "RequantizationRange",
          .inputs = "input:Tinput; input_min:float; input_max:float",
          .outputs = "output_min:float; output_max:float",
          .attrs = "Tinput:type{qint8,quint8,qint32,qint16,quint16}",
          .infer = infer_range,
          .cpu = {.select = kernel_any<range_cpu>}};
}

}  // namespace weir::ops
