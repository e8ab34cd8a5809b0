#include <cmath>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/image/resize.h"
#include "weir/image_ops.h"
#include "weir/linalg_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer_common(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(1, 2);
  const auto& interpolation = c.attr<std::string>("interpolation");
  if (interpolation != "NEAREST" && interpolation != "BILINEAR") {
    throw invalid_argument("Invalid interpolation {}. Supported types: NEAREST, BILINEAR", interpolation);
  }
  const Shape images = c.input(0).merged(Shape::unknown_dims(4)),
              transforms = c.input(1).merged(Shape::unknown_dims(2));
  if ((transforms[1] != kUnknown && transforms[1] != 8) ||
      (transforms[0] != kUnknown && transforms[0] != 1 && images[0] != kUnknown && transforms[0] != images[0])) {
    c.fail("Input transform should be num_images x 8 or 1 x 8");
  }
}

void infer(InferContext& c) {
  infer_common(c);
  c.set_output(0, c.input(0));
}

void infer_v2(InferContext& c) {
  infer_common(c);
  c.require_rank(2, 1);
  if (c.input(2).has_rank() && c.input(2)[0] != kUnknown && c.input(2)[0] != 2) {
    c.fail("output shape must have two elements, got shape " + c.input(2).str());
  }
  const Shape size = shape_argument(c, 2).merged(Shape::unknown_dims(2));
  if (size[0] == 0 || size[1] == 0) c.fail("output dimensions must be positive");
  const Shape images = c.input(0).merged(Shape::unknown_dims(4));
  c.set_output(0, Shape{images[0], size[0], size[1], images[3]});
}

// The gradient is moved back by the inverse transform, as in TensorFlow: right for what moves pixels, roughly so for
// what stretches them.
void gradient(GradContext& c) {
  if (!is_floating(c.input(0).dtype())) return;
  Output rows = c.input(1);
  Output ones = weir::ones(c.graph(), stack({subscript(shape(rows), {0}), 1}));
  Output matrices = reshape(concat({rows, ones}, 1), {-1, 3, 3});
  Output flat = reshape(matrix_inverse(matrices), {-1, 9});
  Output inverse = slice(flat / slice(flat, {0, 8}, {-1, 1}), {0, 0}, {-1, 8});
  c.set_input_grad(0, NodeBuilder("ImageProjectiveTransformV2")
                          .input(c.output_grad())
                          .input(inverse)
                          .input(subscript(shape(c.input(0)), {between(1, 3)}))
                          .attr("interpolation", c.attr<std::string>("interpolation"))
                          .output());
}

// A place of the input as the transform of a place of the output; none when it is infinitely far.
struct Place {
  float x, y;
  bool somewhere;
  Place(const float* transform, int64_t to_x, int64_t to_y) {
    const auto at_x = static_cast<float>(to_x), at_y = static_cast<float>(to_y);
    const float depth = transform[6] * at_x + transform[7] * at_y + 1.0f;
    x = (transform[0] * at_x + transform[1] * at_y + transform[2]) / depth;
    y = (transform[3] * at_x + transform[4] * at_y + transform[5]) / depth;
    // Also false for NaN; what is this far away has no pixels.
    somewhere = depth != 0 && std::abs(x) < 1e9f && std::abs(y) < 1e9f;
  }
};

template <class T>
class Picture {
 public:
  Picture(const T* pixels, const Shape& shape)
      : pixels_(pixels), height_(shape[1]), width_(shape[2]), depth_(shape[3]) {}
  T at(int64_t y, int64_t x, int64_t channel) const {
    const bool inside = y >= 0 && y < height_ && x >= 0 && x < width_;
    return inside ? pixels_[(y * width_ + x) * depth_ + channel] : T();
  }

 private:
  const T* pixels_;
  int64_t height_, width_, depth_;
};

template <class T>
T between_pixels(const Picture<T>& picture, const Place& place, int64_t channel) {
  const float top = std::floor(place.y), left = std::floor(place.x), bottom = top + 1, right = left + 1;
  auto row = [&](float y) {
    const auto at = static_cast<int64_t>(y);
    return (right - place.x) * static_cast<float>(picture.at(at, static_cast<int64_t>(left), channel)) +
           (place.x - left) * static_cast<float>(picture.at(at, static_cast<int64_t>(right), channel));
  };
  return static_cast<T>((bottom - place.y) * row(top) + (place.y - top) * row(bottom));
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const bool bilinear = c.node().attr<std::string>("interpolation") == "BILINEAR";
    const Shape &in = c.shape(0), &out = c.output_shape();
    const int64_t depth = out[3], image = in[1] * in[2] * depth, step = c.shape(1)[0] == 1 ? 0 : 8;
    c.pool().parallel_for(out[0] * out[1], rows_of_a_block(4 * out[2] * depth), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t i = r / out[1], y = r % out[1];
        const Picture<T> picture(c.input<T>(0) + i * image, in);
        T* to = c.output<T>() + r * out[2] * depth;
        for (int64_t x = 0; x < out[2]; ++x, to += depth) {
          const Place place(c.input<float>(1) + i * step, x, y);
          for (int64_t channel = 0; channel < depth; ++channel) {
            to[channel] = !place.somewhere ? T()
                          : bilinear       ? between_pixels(picture, place, channel)
                                           : picture.at(static_cast<int64_t>(std::round(place.y)),
                                                        static_cast<int64_t>(std::round(place.x)), channel);
          }
        }
      }
    });
  }
};

using TransformTypes = Types<uint8_t, int32_t, int64_t, Half, float, double>;

}  // namespace

OpDef image_projective_transform_op() {
  return {.name = "ImageProjectiveTransform",
          .inputs = "images:dtype; transforms:float",
          .outputs = "transformed_images:dtype",
          .attrs = "dtype:type{uint8,int32,int64,half,float,double}; interpolation:string",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<TransformTypes, Cpu, AttrDtype>}};
}

OpDef image_projective_transform_v2_op() {
  return {.name = "ImageProjectiveTransformV2",
          .inputs = "images:dtype; transforms:float; output_shape:int32",
          .outputs = "transformed_images:dtype",
          .attrs = "dtype:type{uint8,int32,int64,half,float,double}; interpolation:string",
          .host = "output_shape",
          .infer = infer_v2,
          .gradient = gradient,
          .cpu = {.select = kernel_for<TransformTypes, Cpu, AttrDtype>}};
}

}  // namespace weir::ops
