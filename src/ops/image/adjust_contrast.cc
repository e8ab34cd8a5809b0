#include <algorithm>

#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 3);
  c.require_scalar(1);
  c.set_output(0, c.input(0));
}

struct State {
  int64_t images, pixels, channels;
};

State prepare(PrepareContext& c) {
  const Shape& shape = c.input(0);
  const int64_t channels = shape[-1], pixels = shape[-3] * shape[-2], image = pixels * channels;
  const int64_t images = image == 0 ? 0 : shape.elements() / image;
  // The sums, and for each image the means behind them.
  c.set_scratch(static_cast<size_t>(images * (image + channels)) * sizeof(float));
  return {images, pixels, channels};
}

// The mean of each channel. The upper half is added to the lower one until a pixel is left: quick, exact enough, and
// the order of TensorFlow's sums.
template <class T>
void channel_means(const T* image, int64_t pixels, int64_t channels, float* sums, float* means) {
  int64_t right = pixels / 2, left = pixels - right;
  for (int64_t i = 0; i < right * channels; ++i) {
    sums[i] = static_cast<float>(image[left * channels + i]) + static_cast<float>(image[i]);
  }
  for (int64_t i = right * channels; i < left * channels; ++i) sums[i] = static_cast<float>(image[i]);
  for (int64_t remaining = left; remaining > 1; remaining = left) {
    right = remaining / 2;
    left = remaining - right;
    for (int64_t i = 0; i < right * channels; ++i) sums[i] += sums[left * channels + i];
  }
  const float factor = 1.0f / static_cast<float>(pixels);
  for (int64_t i = 0; i < channels; ++i) means[i] = sums[i] * factor;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [images, pixels, channels] = c.state<State>();
    const int64_t image = pixels * channels;
    const auto factor = c.scalar<float>(1);
    auto* sums = static_cast<float*>(c.scratch());
    float* means = sums + images * image;
    const T* in = c.input<T>(0);
    T* out = c.output<T>();
    c.pool().parallel_for(images, std::max<int64_t>(1, 16384 / image),
                          [&, n = channels, p = pixels](int64_t begin, int64_t end) {
                            for (int64_t i = begin; i < end; ++i)
                              channel_means(in + i * image, p, n, sums + i * image, means + i * n);
                          });
    c.pool().parallel_for(images * pixels, std::max<int64_t>(1, 16384 / channels),
                          [&, n = channels, p = pixels](int64_t begin, int64_t end) {
                            for (int64_t i = begin; i < end; ++i) {
                              const float* mean = means + i / p * n;
                              for (int64_t j = 0; j < n; ++j) {
                                out[i * n + j] =
                                    static_cast<T>(mean[j] + factor * (static_cast<float>(in[i * n + j]) - mean[j]));
                              }
                            }
                          });
  }
};

// The form of TensorFlow 0.5: any type of number in, floats within bounds out.
struct Bounded {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [images, pixels, channels] = c.state<State>();
    const int64_t image = pixels * channels;
    const auto factor = c.scalar<float>(1), low = c.scalar<float>(2), high = c.scalar<float>(3);
    auto* sums = static_cast<float*>(c.scratch());
    float* means = sums + images * image;
    for (int64_t i = 0; i < images; ++i) {
      const T* in = c.input<T>(0) + i * image;
      float* out = c.output<float>() + i * image;
      channel_means(in, pixels, channels, sums + i * image, means + i * channels);
      for (int64_t j = 0; j < image; ++j) {
        const float mean = means[i * channels + j % channels];
        out[j] = std::max(low, std::min(high, (static_cast<float>(in[j]) - mean) * factor + mean));
      }
    }
  }
};

}  // namespace

OpDef adjust_contrast_op() {
  return {.name = "AdjustContrast",
          .inputs = "images:T; contrast_factor:float; min_value:float; max_value:float",
          .outputs = "output:float",
          .attrs = "T:type{uint8,int8,int16,int32,int64,float,double}",
          .flags = "deprecated@2",
          .infer =
              [](InferContext& c) {
                infer(c);
                c.require_scalar(2);
                c.require_scalar(3);
              },
          .cpu = {.select = kernel_for<Types<uint8_t, int8_t, int16_t, int32_t, int64_t, float, double>, Bounded>,
                  .prepare = prepared<prepare>}};
}

OpDef adjust_contrast_v2_op() {
  return {.name = "AdjustContrastv2",
          .inputs = "images:T; contrast_factor:float",
          .outputs = "output:T",
          .attrs = "T:type{half,float}=float",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<float, Half>, Cpu>, .prepare = prepared<prepare>, .in_place = 0b1}};
}

}  // namespace weir::ops
