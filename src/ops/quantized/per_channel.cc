#include "ops/quantized/symmetric.h"

// 32-bit numbers whose channels have ranges of their own, in 8 bits with one range for all of them.
namespace weir::ops {
namespace {

// Inputs 1 and 2 have an element for each channel of input 0, a picture.
void require_channels(const InferContext& c) {
  c.require_rank(0, 4);
  int64_t channels = c.input(0).has_rank() ? c.input(0)[3] : kUnknown;
  for (int i : {1, 2}) {
    c.require_rank(i, 1);
    if (!c.input(i).has_rank() || c.input(i)[0] == kUnknown) continue;
    if (channels != kUnknown && c.input(i)[0] != channels) {
      throw invalid_argument("{} has incorrect size, expected {} was {}", i == 1 ? "input_min" : "input_max", channels,
                             c.input(i)[0]);
    }
    channels = c.input(i)[0];
  }
}

void infer_requantize(InferContext& c) {
  require_channels(c);
  require_ranges(c, 3, 2);
  c.set_output(0, c.input(0));
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

void infer_range(InferContext& c) {
  require_channels(c);
  c.set_output(0, Shape{});
  c.set_output(1, Shape{});
}

constexpr float kSteps32 = 2147483648.0f;

template <class Out>
void requantize_cpu(KernelContext& c) {
  const float min = c.scalar<float>(3), max = c.scalar<float>(4), limit = std::is_signed_v<Out> ? 127.0f : 255.0f;
  if (std::is_signed_v<Out> && !(min < 0)) {
    throw invalid_argument("If out_type is QINT8, requested_output_min must be negative, got {}", min);
  }
  const auto *low = c.input<float>(1), *high = c.input<float>(2);
  std::vector<float> scales;
  for (int64_t q = 0; q < c.elements(1); ++q)
    scales.push_back(limit * (larger_end(low[q], high[q]) / larger_end(min, max) / kSteps32));
  for (int64_t i = 0; i < c.elements(0); ++i) {
    c.output<Out>()[i] =
        to_step<Out>(static_cast<float>(c.input<int32_t>(0)[i]) * scales[static_cast<size_t>(i) % scales.size()]);
  }
  set_range(c, min, max);
}

ComputeFn select_requantize(const NodeView& node) {
  if (node.type() != DType::QInt32) return nullptr;
  return node.type("out_type") == DType::QUInt8  ? requantize_cpu<uint8_t>
         : node.type("out_type") == DType::QInt8 ? requantize_cpu<int8_t>
                                                 : nullptr;
}

// The largest number of any channel, up to a limit; the lower end is its negative unless there are no negative numbers.
void range_cpu(KernelContext& c) {
  if (c.elements(0) == 0) throw invalid_argument("input must not be empty");
  const int64_t channels = c.elements(1);
  float largest = std::numeric_limits<float>::min();
  bool negative = false;
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const int64_t value = c.input<int32_t>(0)[i];
    const float end = larger_end(c.input<float>(1)[i % channels], c.input<float>(2)[i % channels]);
    largest = std::max(largest, end * static_cast<float>(std::abs(value)) / kSteps32);
    negative |= value < 0;
  }
  largest = std::min(largest, c.node().attr<float>("clip_value_max"));
  set_range(c, negative ? -largest : 0.0f, largest, 0);
}

ComputeFn select_range(const NodeView& node) { return node.type() == DType::QInt32 ? range_cpu : nullptr; }

}  // namespace

OpDef requantize_per_channel_op() {
  return {
      .name = "RequantizePerChannel",
      .inputs = "input:T; input_min:float; input_max:float; requested_output_min:float; requested_output_max:float",
      .outputs = "output:out_type; output_min:float; output_max:float",
      .attrs =
          "T:type{qint8,quint8,qint32,qint16,quint16}=qint32; out_type:type{qint8,quint8,qint32,qint16,quint16}=quint8",
      .infer = infer_requantize,
      .cpu = {.select = select_requantize}};
}

OpDef requantization_range_per_channel_op() {
  return {.name = "RequantizationRangePerChannel",
          .inputs = "input:T; input_min:float; input_max:float",
          .outputs = "output_min:float; output_max:float",
          .attrs = "T:type{qint8,quint8,qint32,qint16,quint16}=qint32; clip_value_max:float",
          .infer = infer_range,
          .cpu = {.select = select_range}};
}

}  // namespace weir::ops
