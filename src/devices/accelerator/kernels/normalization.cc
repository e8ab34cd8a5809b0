#include <algorithm>

#include "devices/accelerator/kernels/reduction.h"
#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "ops/nn/fused_batch_norm.h"

namespace weir::accelerator {
namespace {

// Values are [outer, channels, inner]. Sums over outer and inner are made in parts, part p of channel c at [p, c], and
// joined in order.
constexpr const char* kSource = R"kernel(
KERNEL(add_bias, BUFFER(T, x), BUFFER(T, bias), BUFFER(T, y), int n, int channels, int inner) {
  OPEN(T, x); OPEN(T, bias); OPEN(T, y);
  FOR_EACH(i, n) { y[i] = x[i] + bias[i / inner % channels]; }
}
KERNEL(channel_sums, BUFFER(T, x), BUFFER(T, parts), int n, int channels, int inner, int per_channel, int splits) {
  OPEN(T, x); OPEN(T, parts);
  FOR_EACH(i, n) {
    const int c = i % channels;
    T sum = 0;
    for (int k = i / channels; k < per_channel; k += splits) sum += x[(k / inner * channels + c) * inner + k % inner];
    parts[i] = sum;
  }
}
KERNEL(channel_squares, BUFFER(T, x), BUFFER(T, sums), BUFFER(T, parts), int n, int channels, int inner, int per_channel, int splits) {
  OPEN(T, x); OPEN(T, sums); OPEN(T, parts);
  FOR_EACH(i, n) {
    const int c = i % channels;
    const T mean = sums[c] / per_channel;
    T sum = 0;
    for (int k = i / channels; k < per_channel; k += splits) {
      const T v = x[(k / inner * channels + c) * inner + k % inner] - mean;
      sum += v * v;
    }
    parts[i] = sum;
  }
}
KERNEL(channel_dots, BUFFER(T, x), BUFFER(T, dy), BUFFER(T, mean), BUFFER(T, parts), int n, int channels, int inner, int per_channel, int splits) {
  OPEN(T, x); OPEN(T, dy); OPEN(T, mean); OPEN(T, parts);
  FOR_EACH(i, n) {
    const int c = i % channels;
    T sum = 0;
    for (int k = i / channels; k < per_channel; k += splits) {
      const int at = (k / inner * channels + c) * inner + k % inner;
      sum += (x[at] - mean[c]) * dy[at];
    }
    parts[i] = sum;
  }
}
KERNEL(scale_channels, BUFFER(T, x), BUFFER(T, scale), BUFFER(T, offset), BUFFER(T, mean), BUFFER(T, variance), BUFFER(T, y),
       int n, int channels, int inner, T epsilon) {
  OPEN(T, x); OPEN(T, scale); OPEN(T, offset); OPEN(T, mean); OPEN(T, variance); OPEN(T, y);
  FOR_EACH(i, n) {
    const int c = i / inner % channels;
    const T factor = scale[c] / sqrt(variance[c] + epsilon);
    y[i] = x[i] * factor + (offset[c] - mean[c] * factor);
  }
}
KERNEL(moments, BUFFER(T, sums), BUFFER(T, squares), BUFFER(T, mean), BUFFER(T, variance), int channels, int per_channel) {
  OPEN(T, sums); OPEN(T, squares); OPEN(T, mean); OPEN(T, variance);
  FOR_EACH(c, channels) {
    mean[c] = sums[c] / per_channel;
    variance[c] = squares[c] / per_channel;
  }
}
KERNEL(unbias, BUFFER(T, variance), BUFFER(T, to), int channels, int per_channel) {
  OPEN(T, variance); OPEN(T, to);
  FOR_EACH(c, channels) { to[c] = variance[c] * ((T)per_channel / (T)(per_channel > 1 ? per_channel - 1 : 1)); }
}
KERNEL(normalize_grad, BUFFER(T, dy), BUFFER(T, x), BUFFER(T, scale), BUFFER(T, mean), BUFFER(T, variance), BUFFER(T, sums),
       BUFFER(T, dots), BUFFER(T, dx), int n, int channels, int inner, int per_channel, int training, T epsilon) {
  OPEN(T, dy); OPEN(T, x); OPEN(T, scale); OPEN(T, mean); OPEN(T, variance); OPEN(T, sums); OPEN(T, dots); OPEN(T, dx);
  FOR_EACH(i, n) {
    const int c = i / inner % channels;
    const T inverse = 1 / sqrt(variance[c] + epsilon), factor = scale[c] * inverse;
    T v = dy[i];
    if (training) v -= sums[c] / per_channel + (x[i] - mean[c]) * inverse * inverse * dots[c] / per_channel;
    dx[i] = factor * v;
  }
}
KERNEL(scale_grad, BUFFER(T, dots), BUFFER(T, variance), BUFFER(T, to), int channels, T epsilon) {
  OPEN(T, dots); OPEN(T, variance); OPEN(T, to);
  FOR_EACH(c, channels) { to[c] = dots[c] / sqrt(variance[c] + epsilon); }
}
)kernel";
const KernelDef kAddBias(kSource, "add_bias"), kSums(kSource, "channel_sums"), kSquares(kSource, "channel_squares"),
    kDots(kSource, "channel_dots"), kNormalize(kSource, "scale_channels"), kMoments(kSource, "moments"),
    kUnbias(kSource, "unbias"), kNormalizeGrad(kSource, "normalize_grad"), kScaleGrad(kSource, "scale_grad");

struct Channels {
  int64_t outer = 1, channels = 0, inner = 1;
  int64_t elements() const { return outer * channels * inner; }
  int64_t per_channel() const { return outer * inner; }
};

Channels channels_of(const Shape& shape, const AttrMap& attrs) {
  const AttrValue* format = attrs.find("data_format");
  const int channel = format && std::get<std::string>(*format) == "NCHW" ? 1 : shape.rank() - 1;
  Channels s;
  for (int d = 0; d < channel; ++d) s.outer *= shape[d];
  s.channels = shape[channel];
  for (int d = channel + 1; d < shape.rank(); ++d) s.inner *= shape[d];
  return s;
}

Channels prepare_bias(PrepareContext& c) { return channels_of(c.input(0), c.node().attrs()); }

void bias_add(KernelContext& c) {
  const Channels& s = c.state<Channels>();
  const int64_t n = c.output_elements();
  Launch(kAddBias.of(c.dtype(0)))
      .buffer(c.raw_input(0))
      .buffer(c.raw_input(1))
      .buffer(c.raw_output())
      .count(n)
      .count(s.channels)
      .count(s.inner)
      .items(n);
}

// The sums of `kernel` over each channel, at `to`.
template <class... Buffers>
void channel_fold(const KernelDef& kernel, DType type, const Channels& s, void* to, const Buffers*... buffers) {
  constexpr int64_t kItems = 8192;
  const int64_t splits =
      std::clamp<int64_t>(kItems / std::max<int64_t>(1, s.channels), 1, std::max<int64_t>(1, s.per_channel() / 8));
  Tensor parts = temporary(type, {splits * s.channels});
  Launch launch(kernel.of(type));
  (launch.buffer(buffers), ...);
  launch.buffer(parts.mutable_raw()).count(splits * s.channels).count(s.channels).count(s.inner);
  launch.count(s.per_channel()).count(splits).items(splits * s.channels);
  fold(kSumFold, type, parts.raw(), to, 1, splits, s.channels);
}

void bias_add_grad(KernelContext& c) {
  const Channels& s = c.state<Channels>();
  channel_fold(kSums, c.dtype(0), s, c.raw_output(), c.raw_input(0));
}

struct NormState {
  Channels shape;
  float epsilon;
  bool training;
};
template <int kImage>
NormState prepare_norm(PrepareContext& c) {
  return {channels_of(c.input(kImage), c.node().attrs()), c.attr<float>("epsilon"), c.attr<bool>("is_training")};
}

void copy_vector(void* to, const void* from, int64_t n) {
  current.memory->copy(to, from, static_cast<size_t>(n) * sizeof(float), DeviceMemory::Way::Within);
}

void batch_norm(KernelContext& c) {
  const auto& [s, epsilon, training] = c.state<NormState>();
  const DType type = DType::Float32;
  // The biased variance stays in output 4 for the gradient; the averages get the unbiased one in output 2.
  if (training) {
    Tensor sums = temporary(type, {s.channels}), squares = temporary(type, {s.channels});
    channel_fold(kSums, type, s, sums.mutable_raw(), c.raw_input(0));
    channel_fold(kSquares, type, s, squares.mutable_raw(), c.raw_input(0), sums.raw());
    Launch(kMoments.of())
        .buffer(sums.raw())
        .buffer(squares.raw())
        .buffer(c.raw_output(1))
        .buffer(c.raw_output(4))
        .count(s.channels)
        .count(s.per_channel())
        .items(s.channels);
    Launch(kUnbias.of())
        .buffer(c.raw_output(4))
        .buffer(c.raw_output(2))
        .count(s.channels)
        .count(s.per_channel())
        .items(s.channels);
  } else {
    copy_vector(c.raw_output(1), c.raw_input(3), s.channels);
    copy_vector(c.raw_output(2), c.raw_input(4), s.channels);
    copy_vector(c.raw_output(4), c.raw_input(4), s.channels);
  }
  copy_vector(c.raw_output(3), c.raw_output(1), s.channels);
  Launch(kNormalize.of())
      .buffer(c.raw_input(0))
      .buffer(c.raw_input(1))
      .buffer(c.raw_input(2))
      .buffer(c.raw_output(1))
      .buffer(c.raw_output(4))
      .buffer(c.raw_output(0))
      .count(s.elements())
      .count(s.channels)
      .count(s.inner)
      .value(epsilon)
      .items(s.elements());
  const float nothing = 0;
  if (c.outputs() > 5) current.memory->copy(c.raw_output(5), &nothing, sizeof nothing, DeviceMemory::Way::FromHost);
}

void batch_norm_grad(KernelContext& c) {
  const auto& [s, epsilon, training] = c.state<NormState>();
  const DType type = DType::Float32;
  Tensor dots = temporary(type, {s.channels});
  channel_fold(kSums, type, s, c.raw_output(2), c.raw_input(0));
  channel_fold(kDots, type, s, dots.mutable_raw(), c.raw_input(1), c.raw_input(0), c.raw_input(3));
  Launch(kScaleGrad.of())
      .buffer(dots.raw())
      .buffer(c.raw_input(4))
      .buffer(c.raw_output(1))
      .count(s.channels)
      .value(epsilon)
      .items(s.channels);
  Launch(kNormalizeGrad.of())
      .buffer(c.raw_input(0))
      .buffer(c.raw_input(1))
      .buffer(c.raw_input(2))
      .buffer(c.raw_input(3))
      .buffer(c.raw_input(4))
      .buffer(c.raw_output(2))
      .buffer(dots.raw())
      .buffer(c.raw_output(0))
      .count(s.elements())
      .count(s.channels)
      .count(s.inner)
      .count(s.per_channel())
      .value(int32_t{training})
      .value(epsilon)
      .items(s.elements());
}

bool first_is_float32(const NodeView&, std::span<const DType> inputs, std::span<const DType>) {
  return inputs[0] == DType::Float32;
}

constexpr Kernel kNorm = {.select = always<batch_norm>, .prepare = prepared<prepare_norm<0>>};
constexpr Kernel kNormGrad = {.select = always<batch_norm_grad>, .prepare = prepared<prepare_norm<1>>};
constexpr Kernel kBias = {.select = always<bias_add>, .prepare = prepared<prepare_bias>, .in_place = 0b1};

}  // namespace

std::span<const KernelRow> normalization_kernels() {
  static const KernelRow rows[] = {
      {"BiasAdd", kBias, first_is_float},
      {"BiasAddV1", kBias, first_is_float},
      {"BiasAddGrad", {.select = always<bias_add_grad>, .prepare = prepared<prepare_bias>}, first_is_float},
      {"FusedBatchNorm", kNorm, first_is_float32},
      {"FusedBatchNormV2", kNorm, first_is_float32},
      {"FusedBatchNormV3", kNorm, first_is_float32},
      {"FusedBatchNormGrad", kNormGrad, first_is_float32},
      {"FusedBatchNormGradV2", kNormGrad, first_is_float32},
      {"FusedBatchNormGradV3", kNormGrad, first_is_float32},
  };
  return rows;
}

}  // namespace weir::accelerator
