#include "ops/image/resize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/errors.h"

namespace weir::ops {
namespace {

void require_centres(const AttrMap& attrs) {
  if (attrs.find("half_pixel_centers") && attrs.get<bool>("half_pixel_centers") && attrs.get<bool>("align_corners")) {
    throw invalid_argument("If half_pixel_centers is True, align_corners must be False.");
  }
}

// A vector of two sizes, as far as they are known.
Shape sizes_argument(InferContext& c, int input) {
  c.require_rank(input, 1);
  if (c.input(input).has_rank() && c.input(input)[0] != kUnknown && c.input(input)[0] != 2) {
    c.fail("shape_t must have two elements, got shape " + c.input(input).str());
  }
  Shape sizes = c.value_as_shape(input);
  if (!sizes.has_rank()) return {kUnknown, kUnknown};
  // A shape takes -1 for a size that is not known; here it is a mistake.
  const Tensor value = c.value(input);
  bool positive = sizes[0] != 0 && sizes[1] != 0;
  for (int64_t i = 0; value.valid() && i < value.elements(); ++i)
    positive &= value.data<int32_t>()[static_cast<size_t>(i)] > 0;
  if (!positive) c.fail("output dimensions must be positive");
  return sizes;
}

struct Convert {
  template <class T>
  static void run(const void* from, int64_t first, int64_t count, float* to) {
    const T* elements = static_cast<const T*>(from) + first;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(elements[i]);
  }
};

template <class... Ts>
ToFloat converter(DType dtype, Types<Ts...>) {
  ToFloat found = nullptr;
  (void)((dtype == dtype_of<Ts> ? (found = &Convert::run<Ts>, true) : false) || ...);
  return found;
}

}  // namespace

float resize_scale(int64_t in, int64_t out, bool align_corners) {
  return align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                  : static_cast<float>(in) / static_cast<float>(out);
}

ResizeGeometry resize_geometry(const Shape& in, const Shape& out, const AttrMap& attrs) {
  const bool align = attrs.get<bool>("align_corners");
  const bool half = attrs.find("half_pixel_centers") && attrs.get<bool>("half_pixel_centers");
  return {.batch = in[0],
          .in_height = in[1],
          .in_width = in[2],
          .out_height = out[1],
          .out_width = out[2],
          .channels = in[3],
          .height = {resize_scale(in[1], out[1], align), half},
          .width = {resize_scale(in[2], out[2], align), half}};
}

void infer_resize(InferContext& c) {
  require_centres(c.attrs());
  c.require_rank(0, 4);
  const Shape sizes = sizes_argument(c, 1);
  const Shape in = c.input(0).merged(Shape::unknown_dims(4));
  if (in[3] == 0) c.fail("image must have at least one channel");
  if (in[1] == 0 || in[2] == 0) c.fail("input image must be of non-zero size");
  for (int i : {1, 2}) {
    if (in[i] >= std::numeric_limits<int32_t>::max()) c.fail("input sizes must be between 0 and max int32");
  }
  c.set_output(0, Shape{in[0], sizes[0], sizes[1], in[3]});
}

void infer_resize_grad(InferContext& c) {
  require_centres(c.attrs());
  c.require_rank(0, 4);
  c.require_rank(1, 4);
  const Shape grads = c.input(0).merged(Shape::unknown_dims(4)), image = c.input(1).merged(Shape::unknown_dims(4));
  for (int i : {0, 3}) {
    if (grads[i] != kUnknown && image[i] != kUnknown && grads[i] != image[i]) {
      c.fail("the gradient " + grads.str() + " is not of an image " + image.str());
    }
  }
  for (int i : {1, 2}) {
    if (grads[i] == 0 || image[i] == 0) c.fail("the image and its gradient must be of non-zero size");
  }
  c.set_output(0, image);
}

void infer_resize_to_size(InferContext& c) {
  require_centres(c.attrs());
  c.require_rank(0, 4);
  const Shape sizes = sizes_argument(c, 1);
  const Shape grads = c.input(0).merged(Shape::unknown_dims(4));
  if (grads[1] == 0 || grads[2] == 0) c.fail("the gradient must be of non-zero size");
  c.set_output(0, Shape{grads[0], sizes[0], sizes[1], grads[3]});
}

ToFloat to_float(DType dtype) {
  if (dtype == float32) return nullptr;
  return converter(dtype, ImageTypes{});
}

int64_t rows_of_a_block(int64_t row_elements) {
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(row_elements, 1));
}

}  // namespace weir::ops
