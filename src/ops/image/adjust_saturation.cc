#include <algorithm>
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

struct Hsv {
  float h, s, v;
};

// Which channel is the largest, and in which sector the hue lies, changes from pixel to pixel: by tables, since no processor
// could guess the branches.
Hsv to_hsv(float r, float g, float b) {
  constexpr double kOffsets[3] = {0, 2.0 / 6.0, 4.0 / 6.0};
  constexpr float kTurn[2] = {0, 1};
  const float value = std::max(r, std::max(g, b)), range = value - std::min(r, std::min(g, b));
  const float sixth = 1.0f / (6.0f * range);
  const float differences[3] = {g - b, b - r, r - g};
  const int largest = (r != value) * (1 + (g != value));
  float hue = static_cast<float>(static_cast<double>(sixth * differences[largest]) + kOffsets[largest]);
  if (range <= 0.0f) hue = 0;
  hue += kTurn[hue < 0.0f];
  return {hue, value > 0 ? range / value : 0.0f, value};
}

// The hue is in [0, 1].
void to_rgb(const Hsv& hsv, float* rgb) {
  const float chroma = hsv.s * hsv.v, base = hsv.v - chroma, at = hsv.h * 6;
  const int sector = static_cast<int>(at);
  const float phase = at - static_cast<float>(sector & ~1);  // halves of the sectors rise and fall
  const float x = chroma * (1 - std::abs(phase - 1));
  // Which of 0, x (1) and the chroma (2) each channel has above the base.
  constexpr int kOrder[7][3] = {{2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {0, 0, 0}};
  const float values[3] = {0, x, chroma};
  for (int i = 0; i < 3; ++i) rgb[i] = values[kOrder[sector >= 0 && sector < 6 ? sector : 6][i]] + base;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto scale = c.scalar<float>(1);
    for_each_pixel<T>(c, [scale](const T* in, T* out) {
      Hsv hsv = to_hsv(in[0], in[1], in[2]);
      float rgb[3];
      if (std::isfinite(hsv.h)) {
        hsv.s = std::min(1.0f, std::max(0.0f, hsv.s * scale));
        to_rgb(hsv, rgb);
      } else {  // an infinite channel has no hue
        rgb[0] = rgb[1] = rgb[2] = hsv.h;
      }
      for (int i = 0; i < 3; ++i) out[i] = static_cast<T>(rgb[i]);
    });
  }
};

}  // namespace

OpDef adjust_saturation_op() {
  return {.name = "AdjustSaturation",
          .inputs = "images:T; scale:float",
          .outputs = "output:T",
          .attrs = "T:type{half,float}=float",
          .infer = infer,
          .cpu = {.select = kernel_for<Types<float, Half>, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops
