#include <algorithm>
#include <array>
#include <cmath>

#include "ops/image/colours.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  infer_colours(c, 3);
}

// A colour as where it stands on the circle of hues, [0, 6], and between what values its channels lie.
struct Hue {
  float hue, low, high;
};

// By the order of the channels; equal ones may stand in either.
Hue hue_of(float r, float g, float b) {
  const bool red_below = r < g;
  const float larger = red_below ? g : r, smaller = red_below ? r : g;
  // The sector of the circle: where blue is the least, the largest, or between the others.
  const int sector = b < smaller ? (red_below ? 1 : 0) : b > larger ? (red_below ? 3 : 4) : (red_below ? 2 : 5);
  const float low = b < smaller ? b : smaller, high = b > larger ? b : larger;
  const float middle = b < smaller ? smaller : b > larger ? larger : b;
  if (high == low) return {0, low, high};
  const float ratio = (middle - low) / (high - low);
  return {static_cast<float>(sector) + (sector % 2 == 0 ? ratio : 1 - ratio), low, high};
}

void to_rgb(const Hue& colour, float* rgb) {
  const int sector = static_cast<int>(colour.hue);
  float ratio = colour.hue - static_cast<float>(sector);
  if (sector % 2 != 0) ratio = 1 - ratio;
  const float middle = colour.low + ratio * (colour.high - colour.low);
  // Which of low (0), middle (1) and high (2) each channel gets.
  constexpr int kOrder[6][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {0, 1, 2}, {1, 0, 2}, {2, 0, 1}};
  const float values[3] = {colour.low, middle, colour.high};
  for (int i = 0; i < 3; ++i) rgb[i] = values[kOrder[std::clamp(sector, 0, 5)][i]];
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const float delta = c.scalar<float>(1) * 6;
    if (!std::isfinite(delta)) c.fail("delta must be finite, got " + std::to_string(delta));
    for_each_pixel<T>(c, [delta](const T* in, T* out) {
      Hue colour = hue_of(in[0], in[1], in[2]);
      colour.hue += delta;
      if (std::abs(colour.hue) > 60) colour.hue = std::fmod(colour.hue, 6.0f);  // far away: not step by step
      while (colour.hue < 0) colour.hue += 6;
      while (colour.hue >= 6) colour.hue -= 6;
      float rgb[3];
      to_rgb(colour, rgb);
      for (int i = 0; i < 3; ++i) out[i] = static_cast<T>(rgb[i]);
    });
  }
};

}  // namespace

OpDef adjust_hue_op() {
  return {.name = "AdjustHue",
          .inputs = "images:T; delta:float",
          .outputs = "output:T",
          .attrs = "T:type{half,float}=float",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<float, Half>, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops
