#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/random/word_stream.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

enum class Noise { Uniform, Gaussian, Zero };

Noise noise_of(const AttrMap& attrs) {
  const bool uniform = attrs.get<bool>("uniform_noise");
  const auto& noise = attrs.get<std::string>("noise");
  if (uniform && !noise.empty() && noise != "uniform") {
    throw invalid_argument("The uniform_noise and noise could not be specified at the same time");
  }
  if (noise.empty()) return uniform ? Noise::Uniform : Noise::Gaussian;
  if (noise == "uniform") return Noise::Uniform;
  if (noise == "gaussian") return Noise::Gaussian;
  if (noise == "zero") return Noise::Zero;
  throw invalid_argument("The noise could only be uniform, gaussian, or zero, got {}", noise);
}

void infer(InferContext& c) {
  noise_of(c.attrs());
  c.require_rank(0, 4);
  c.require_rank(1, 1);
  c.require_rank(2, 2);
  const Shape in = c.input(0).merged(Shape::unknown_dims(4)), offsets = c.input(2).merged(Shape::unknown_dims(2));
  if (c.input(1).has_rank() && c.input(1)[0] != kUnknown && c.input(1)[0] != 2) {
    c.fail("input must be a vector of size 2 (height, width), got shape " + c.input(1).str());
  }
  if (offsets[0] != kUnknown && in[0] != kUnknown && offsets[0] != in[0]) c.fail("first dimension should be batch");
  if (offsets[1] != kUnknown && offsets[1] != 2) c.fail("second dimension should be of size 2 (y,x)");
  const Shape size = shape_argument(c, 1).merged(Shape::unknown_dims(2));
  c.set_output(0, Shape{in[0] == kUnknown ? offsets[0] : in[0], size[0], size[1], in[3]});
}

struct State {
  bool centered, normalized;
  Noise noise;
  // The operation has no seed. Each run draws other numbers, the same ones in each program.
  std::unique_ptr<std::atomic<int64_t>> runs = std::make_unique<std::atomic<int64_t>>(0);
};

State prepare(PrepareContext& c) {
  return {c.attr<bool>("centered"), c.attr<bool>("normalized"), noise_of(c.node().attrs())};
}

// The part of a glimpse that lies on the image: pixels [from, from + count) of the image, to be put at `to`.
struct Overlap {
  int64_t from, count, to;
  bool whole;
};

Overlap overlap(float offset, int64_t glimpse, int64_t image, const State& state) {
  float at = offset;
  if (state.normalized) at *= static_cast<float>(image);
  if (state.centered) at = at / 2.0f + static_cast<float>(image) / 2.0f;
  at -= static_cast<float>(glimpse) / 2.0f;
  // Far outside, or no number at all: nothing of the image.
  if (!(std::abs(at) < 1e9f)) return {0, 0, 0, false};
  const auto first = static_cast<int64_t>(at);
  if (first < 0) {
    const int64_t seen = std::max<int64_t>(0, glimpse + first);
    return {0, std::min(seen, image), glimpse - seen, false};
  }
  if (first + glimpse >= image) return {first, std::max<int64_t>(0, image - first), 0, first + glimpse == image};
  return {first, glimpse, 0, true};
}

float uniform(WordStream& words) { return static_cast<float>(words.next() >> 8) * 0x1p-24f; }
float normal(WordStream& words) {
  const float radius = std::sqrt(-2 * std::log(1 - uniform(words)));
  return radius * std::cos(6.2831853f * uniform(words));
}

// Fills a glimpse with numbers like those of its image.
void fill_noise(Noise noise, const float* image, int64_t pixels, int64_t channels, WordStream& words, float* out,
                int64_t count) {
  if (noise == Noise::Zero || pixels == 0) {
    std::fill_n(out, count * channels, 0.0f);
    return;
  }
  if (noise == Noise::Uniform) {
    const auto [low, high] = std::minmax_element(image, image + pixels * channels);
    for (int64_t i = 0; i < count * channels; ++i) out[i] = *low + uniform(words) * (*high - *low);
    return;
  }
  for (int64_t channel = 0; channel < channels; ++channel) {
    double sum = 0, squares = 0;
    float low = image[channel], high = low;
    for (int64_t i = 0; i < pixels; ++i) {
      const float value = image[i * channels + channel];
      sum += value;
      squares += static_cast<double>(value) * value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const double mean = sum / static_cast<double>(pixels);
    const double sigma = std::sqrt(std::max(0.0, squares / static_cast<double>(pixels) - mean * mean));
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(mean + sigma * normal(words));
      out[i * channels + channel] = std::max(std::min(value, high), low);
    }
  }
}

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  const Shape &in = c.shape(0), &out = c.output_shape();
  const int64_t channels = in[3], image = in[1] * in[2] * channels, glimpse = out[1] * out[2] * channels;
  const int64_t run = state.runs->fetch_add(1);
  c.pool().parallel_for(
      in[0], std::max<int64_t>(1, 16384 / std::max<int64_t>(glimpse, 1)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const float* offset = c.input<float>(2) + 2 * i;
          const Overlap ys = overlap(offset[0], out[1], in[1], state), xs = overlap(offset[1], out[2], in[2], state);
          const float* from = c.input<float>(0) + i * image;
          float* to = c.output<float>() + i * glimpse;
          if (!ys.whole || !xs.whole) {
            WordStream words(cpu::Philox(static_cast<uint64_t>(run + 1), static_cast<uint64_t>(i + 1)));
            fill_noise(state.noise, from, in[1] * in[2], channels, words, to, out[1] * out[2]);
          }
          for (int64_t y = 0; y < ys.count && xs.count > 0; ++y) {
            std::copy_n(from + ((ys.from + y) * in[2] + xs.from) * channels, xs.count * channels,
                        to + ((ys.to + y) * out[2] + xs.to) * channels);
          }
        }
      });
}

}  // namespace

OpDef extract_glimpse_op() {
  return {.name = "ExtractGlimpse",
          .inputs = "input:float; size:int32; offsets:float",
          .outputs = "glimpse:float",
          .attrs = "centered:bool=True; normalized:bool=True; uniform_noise:bool=True; noise:string='uniform'",
          .host = "size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::image {

Output extract_glimpse(const In& input, const In& size, const In& offsets, const ExtractGlimpseOptions& options,
                       std::string_view name) {
  return NodeBuilder("ExtractGlimpse", name)
      .input(input)
      .input(size)
      .input(offsets)
      .attr("centered", options.centered)
      .attr("normalized", options.normalized)
      .attr("uniform_noise", options.uniform_noise)
      .attr("noise", options.noise)
      .output();
}

}  // namespace weir::image
