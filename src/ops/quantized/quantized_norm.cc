#include "ops/array/array_util.h"
#include "ops/quantized/quantization.h"

// Pictures of quantised numbers, normalised: by given statistics, or each by its own.
namespace weir::ops {
namespace {

constexpr DType kIn = DType::QUInt8;

void infer_scalars(InferContext& c) {
  c.set_output(1, Shape{});
  c.set_output(2, Shape{});
}

// Inputs 0, 3, 6, 9 and 12 are the picture, means, variances, betas and gammas; each is followed by its range.
void infer_batch_norm(InferContext& c) {
  c.require_rank(0, 4);
  Shape picture = c.input(0).merged(Shape::unknown_dims(4));
  int64_t depth = picture[3];
  for (int i : {3, 6, 9, 12}) {
    c.require_rank(i, 1);
    const Shape statistic = c.input(i).merged(Shape::unknown_dims(1));
    if (depth != kUnknown && statistic[0] != kUnknown && depth != statistic[0]) {
      throw invalid_argument(
          "Must provide as many means, variances, betas and gammas as the last dimension of the input tensor: {} vs. "
          "{}",
          statistic.str(), picture.str());
    }
    if (depth == kUnknown) depth = statistic[0];
  }
  if (depth == 0) throw invalid_argument("Must have at least a mean value: {}", picture.str());
  for (int i : {1, 4, 7, 10, 13}) require_ranges(c, i, 2);
  picture.set_dim(3, depth);
  c.set_output(0, picture);
  infer_scalars(c);
}

int32_t wrapped(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value))); }

// In fixed point with 10 bits behind the point, between a million and its negative.
void batch_norm_cpu(KernelContext& c) {
  const Quantization<int32_t> total{-static_cast<float>(1 << 20), static_cast<float>(1 << 20)};
  const auto epsilon = c.node().attr<float>("variance_epsilon");
  const bool scaled = c.node().attr<bool>("scale_after_normalization");
  Quantization<uint8_t> ranges[5];
  for (int i = 0; i < 5; ++i) ranges[i] = range_input<uint8_t>(c, 3 * i + 1, 3 * i + 2);
  const int64_t depth = c.elements(3);
  std::vector<int64_t> scales(static_cast<size_t>(depth)), offsets(scales.size());
  for (int64_t q = 0; q < depth; ++q) {
    auto value = [&](int i) { return ranges[i].to_float(c.input<uint8_t>(3 * i)[q]); };
    const float scale = (1.0f / std::sqrt(value(2) + epsilon)) * (scaled ? value(4) : 1.0f);
    scales[static_cast<size_t>(q)] = total.from_float(scale);
    offsets[static_cast<size_t>(q)] = total.from_float(-value(1) * scale + value(3));
  }
  const int64_t one = total.from_float(1.0f);
  for (int64_t i = 0; i < c.elements(0); ++i) {
    const auto q = static_cast<size_t>(i % depth);
    const int64_t x = total.from_float(ranges[0].to_float(c.input<uint8_t>(0)[i]));
    c.output<int32_t>()[i] = wrapped(int64_t{wrapped(x * scales[q])} / one + offsets[q]);
  }
  set_range(c, total.min, total.max);
}

ComputeFn select_batch_norm(const NodeView& node) {
  return node.type("Tinput") == kIn && node.type("out_type") == DType::QInt32 ? batch_norm_cpu : nullptr;
}

void infer_instance_norm(InferContext& c) {
  c.require_rank(0, 4);
  require_ranges(c, 1, 2);
  if (c.attr<bool>("output_range_given") && !(c.attr<float>("given_y_min") < c.attr<float>("given_y_max"))) {
    throw invalid_argument("given_y_min must be less than given_y_max : {} >= {}", c.attr<float>("given_y_min"),
                           c.attr<float>("given_y_max"));
  }
  c.set_output(0, c.input(0).merged(Shape::unknown_dims(4)));
  infer_scalars(c);
}

// A channel of a picture: `count` steps, `depth` apart.
struct Channel {
  const uint8_t* x;
  int64_t count, depth;
  float mean = 0, norm = 0;  // what is taken off each step, and what the rest is multiplied with

  Channel(const uint8_t* first, int64_t n, int64_t apart, float scale, float epsilon)
      : x(first), count(n), depth(apart) {
    for (int64_t i = 0; i < count; ++i) mean += static_cast<float>(x[i * depth]);
    mean /= static_cast<float>(count);
    float variance = 0;
    for (int64_t i = 0; i < count; ++i) {
      const float difference = scale * (static_cast<float>(x[i * depth]) - mean);
      variance += difference * difference;
    }
    norm = scale / std::sqrt(variance / static_cast<float>(count) + epsilon);
  }
  float at(int64_t i) const { return (static_cast<float>(x[i * depth]) - mean) * norm; }
};

// The range that the channels' numbers use, unless the attributes give one.
Quantization<uint8_t> norm_range(const KernelContext& c, const std::vector<Channel>& channels) {
  float min = c.node().attr<float>("given_y_min"), max = c.node().attr<float>("given_y_max");
  if (!c.node().attr<bool>("output_range_given")) {
    min = std::numeric_limits<float>::max();
    max = std::numeric_limits<float>::lowest();
    for (const Channel& channel : channels) {
      for (int64_t i = 0; i < channel.count; ++i) {
        min = std::min(min, channel.at(i));
        max = std::max(max, channel.at(i));
      }
    }
  }
  const auto separation = c.node().attr<float>("min_separation");
  if (max - min < separation) max = min + separation;
  return {min, max};
}

void instance_norm_cpu(KernelContext& c) {
  const float x_min = c.scalar<float>(1), x_max = c.scalar<float>(2);
  if (!(x_min < x_max)) throw invalid_argument("input_min must be less than input_max : {} >= {}", x_min, x_max);
  const Shape& shape = c.shape(0);
  const int64_t pixels = shape[1] * shape[2], depth = shape[3];
  const auto epsilon = c.node().attr<float>("variance_epsilon");
  std::vector<Channel> channels;
  for (int64_t n = 0; c.elements(0) > 0 && n < shape[0]; ++n) {
    for (int64_t q = 0; q < depth; ++q) {
      channels.emplace_back(c.input<uint8_t>(0) + n * pixels * depth + q, pixels, depth, (x_max - x_min) / 255.0f,
                            epsilon);
    }
  }
  const auto range = norm_range(c, channels);
  const float scale = range.max == range.min ? 0.0f : static_cast<float>(255.0 / (range.max - range.min));
  const float first = std::round(range.min * scale);
  for (size_t at = 0; at < channels.size(); ++at) {
    uint8_t* y = c.output<uint8_t>() + (channels[at].x - c.input<uint8_t>(0));
    for (int64_t i = 0; i < pixels; ++i) {
      const float step = std::round(channels[at].at(i) * scale) - first;
      y[i * depth] = std::isnan(step) ? uint8_t{0} : static_cast<uint8_t>(std::clamp(step, 0.0f, 255.0f));
    }
  }
  set_range(c, range.min, range.max);
}

ComputeFn select_instance_norm(const NodeView& node) { return node.type() == kIn ? instance_norm_cpu : nullptr; }

}  // namespace

OpDef quantized_batch_norm_op() {
  return {
      .name = "QuantizedBatchNormWithGlobalNormalization",
      .inputs =
          "t:Tinput; t_min:float; t_max:float; m:Tinput; m_min:float; m_max:float; v:Tinput; v_min:float; v_max:float; "
          "beta:Tinput; beta_min:float; beta_max:float; gamma:Tinput; gamma_min:float; gamma_max:float",
      .outputs = "result:out_type; result_min:float; result_max:float",
      .attrs =
          "Tinput:type{qint8,quint8,qint32,qint16,quint16}; out_type:type{qint8,quint8,qint32,qint16,quint16}; "
          "variance_epsilon:float; scale_after_normalization:bool",
      .infer = infer_batch_norm,
      .cpu = {.select = select_batch_norm}};
}

OpDef quantized_instance_norm_op() {
  return {.name = "QuantizedInstanceNorm",
          .inputs = "x:T; x_min:float; x_max:float",
          .outputs = "y:T; y_min:float; y_max:float",
          .attrs =
              "T:type{qint8,quint8,qint32,qint16,quint16}; output_range_given:bool=False; given_y_min:float=0.0; "
              "given_y_max:float=0.0; variance_epsilon:float=9.999999747378752e-06; "
              "min_separation:float=0.0010000000474974513",
          .infer = infer_instance_norm,
          .cpu = {.select = select_instance_norm}};
}

}  // namespace weir::ops
