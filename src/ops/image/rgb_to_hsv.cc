#include <algorithm>

#include "graph/grad_context.h"
#include "ops/image/colours.h"
#include "ops/types.h"
#include "weir/image_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { infer_colours(c, 1); }

// The same in operations that have gradients; where colours are equal, differences count for the first of them.
void gradient(GradContext& c) {
  Output images = identity(c.input(0));
  std::vector<Output> rgb = split(images, 3, -1);
  Output r = rgb[0], g = rgb[1], b = rgb[2];
  Output value = maximum(maximum(r, g), b), range = value - minimum(minimum(r, g), b);
  Output saturation = div_no_nan(range, value);
  Output sixth = div_no_nan(ones_like(range) / 6, range);
  Output hue = where(equal(r, value), sixth * (g - b),
                     where(equal(g, value), sixth * (b - r) + 2.0 / 6, sixth * (r - g) + 4.0 / 6));
  hue = where(range > zeros_like(range), hue, zeros_like(hue));
  hue = where(hue < zeros_like(hue), hue + 1, hue);
  c.differentiate({concat({hue, saturation, value}, -1)}, {images});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    for_each_pixel<T>(c, [](const T* in, T* out) {
      using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const W r = in[0], g = in[1], b = in[2];
      const W value = std::max({r, g, b}), range = value - std::min({r, g, b});
      const W sixth = W(1) / range * (W(1) / W(6));
      W hue = r == value ? sixth * (g - b) : g == value ? sixth * (b - r) + W(2) / W(6) : sixth * (r - g) + W(4) / W(6);
      if (!(range > 0)) hue = 0;
      if (hue < 0) hue += W(1);
      out[0] = static_cast<T>(hue);
      out[1] = static_cast<T>(value > 0 ? range / value : W(0));
      out[2] = static_cast<T>(value);
    });
  }
};

}  // namespace

OpDef rgb_to_hsv_op() {
  return {.name = "RGBToHSV",
          .inputs = "images:T",
          .outputs = "output:T",
          .attrs = "T:type{half,bfloat16,float,double}=float",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir::image {

Output rgb_to_hsv(const In& images, std::string_view name) {
  return NodeBuilder("RGBToHSV", name).input(images).output();
}

}  // namespace weir::image
