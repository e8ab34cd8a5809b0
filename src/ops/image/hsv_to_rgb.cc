#include <algorithm>
#include <cmath>

#include "ops/image/colours.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { infer_colours(c, 1); }

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    for_each_pixel<T>(c, [](const T* in, T* out) {
      using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const W hue = W(in[0]) * 6, saturation = in[1], value = in[2];
      auto clipped = [](W x) { return std::min(std::max(x, W(0)), W(1)); };
      auto mixed = [&](W colour) { return static_cast<T>((-saturation + W(1) + saturation * colour) * value); };
      const W r = clipped(std::abs(hue - 3) - 1), g = clipped(-std::abs(hue - 2) + 2),
              b = clipped(-std::abs(hue - 4) + 2);
      out[0] = mixed(r);
      out[1] = mixed(g);
      out[2] = mixed(b);
    });
  }
};

}  // namespace

OpDef hsv_to_rgb_op() {
  return {.name = "HSVToRGB",
          .inputs = "images:T",
          .outputs = "output:T",
          .attrs = "T:type{half,bfloat16,float,double}=float",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<FloatTypes, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir::image {

Output hsv_to_rgb(const In& images, std::string_view name) {
  return NodeBuilder("HSVToRGB", name).input(images).output();
}

}  // namespace weir::image
