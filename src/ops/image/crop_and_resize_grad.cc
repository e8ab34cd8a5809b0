#include <algorithm>

#include "ops/array/array_util.h"
#include "ops/image/crop_boxes.h"
#include "ops/image/resize.h"

namespace weir::ops {
namespace {

void require_crops(const InferContext& c, const Shape& grads, int64_t boxes) {
  if (grads[1] == 0 || grads[2] == 0) c.fail("grads dimensions must be positive");
  if (grads[0] != kUnknown && boxes != kUnknown && grads[0] != boxes) c.fail("boxes and grads have incompatible shape");
}

void infer_image(InferContext& c) {
  c.require_rank(0, 4);
  const Shape grads = c.input(0).merged(Shape::unknown_dims(4));
  require_crops(c, grads, infer_boxes(c, 1, 2));
  const Shape image = shape_argument(c, 3).merged(Shape::unknown_dims(4));
  if (image[1] == 0 || image[2] == 0) c.fail("image dimensions must be positive");
  if (grads[3] != kUnknown && image[3] != kUnknown && grads[3] != image[3]) {
    c.fail("image_size and grads are incompatible");
  }
  c.set_output(0, image);
}

void infer_box(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(1, 4);
  const Shape grads = c.input(0).merged(Shape::unknown_dims(4)), image = c.input(1).merged(Shape::unknown_dims(4));
  const int64_t boxes = infer_boxes(c, 2, 3);
  require_crops(c, grads, boxes);
  if (image[1] == 0 || image[2] == 0) c.fail("image dimensions must be positive");
  if (grads[3] != kUnknown && image[3] != kUnknown && grads[3] != image[3]) c.fail("image, grads depth differ");
  c.set_output(0, Shape{boxes, 4});
}

template <class T>
void add(T& to, float value) {
  to = static_cast<T>(to + static_cast<T>(value));
}

// Adds the gradient of one crop to that of its image.
template <class T>
void spread_crop(const Box& box, const float* grads, const Shape& crops, bool bilinear, const Shape& shape, T* image) {
  const int64_t depth = shape[3], row = shape[2] * depth;
  const CropAxis ys(box.y1, box.y2, crops[1], shape[1]), xs(box.x1, box.x2, crops[2], shape[2]);
  for (int64_t y = 0; y < crops[1]; ++y) {
    const float at_y = ys.at(y);
    if (!ys.inside(at_y)) continue;
    const Between rows(at_y);
    for (int64_t x = 0; x < crops[2]; ++x) {
      const float at_x = xs.at(x);
      if (!xs.inside(at_x)) continue;
      const float* grad = grads + (y * crops[2] + x) * depth;
      if (!bilinear) {
        T* to = image + static_cast<int64_t>(std::round(at_y)) * row + static_cast<int64_t>(std::round(at_x)) * depth;
        for (int64_t i = 0; i < depth; ++i) add(to[i], grad[i]);
        continue;
      }
      const Between columns(at_x);
      T *top = image + rows.lower * row, *bottom = image + rows.upper * row;
      const int64_t left = columns.lower * depth, right = columns.upper * depth;
      for (int64_t i = 0; i < depth; ++i) {
        const float above = (1 - rows.fraction) * grad[i], below = rows.fraction * grad[i];
        add(top[left + i], (1 - columns.fraction) * above);
        add(top[right + i], columns.fraction * above);
        add(bottom[left + i], (1 - columns.fraction) * below);
        add(bottom[right + i], columns.fraction * below);
      }
    }
  }
}

struct ImageCpu {
  template <class T>
  static void run(KernelContext& c) {
    const bool bilinear = c.node().attr<std::string>("method") == "bilinear";
    const Shape &crops = c.shape(0), &shape = c.output_shape();
    const int64_t crop = crops[1] * crops[2] * crops[3], image = shape[1] * shape[2] * shape[3];
    const auto* boxes = c.input<Box>(1);
    const auto* indices = c.input<int32_t>(2);
    for (int64_t i = 0; i < crops[0]; ++i) box_image(indices[i], shape[0]);
    // Crops of one image overlap, so that an image is the least that one thread can add up alone.
    c.pool().parallel_for(shape[0], 1, [&](int64_t begin, int64_t end) {
      std::fill(c.output<T>() + begin * image, c.output<T>() + end * image, T());
      for (int64_t i = 0; i < crops[0]; ++i) {
        if (indices[i] < begin || indices[i] >= end) continue;
        spread_crop(boxes[i], c.input<float>(0) + i * crop, crops, bilinear, shape, c.output<T>() + indices[i] * image);
      }
    });
  }
};

// How the sum over one crop changes with the corners of its box.
template <class T>
void box_grad(const Box& box, const float* grads, const Shape& crops, const Shape& shape, const T* image, float* out) {
  const int64_t depth = shape[3], row = shape[2] * depth, height = crops[1], width = crops[2];
  const CropAxis ys(box.y1, box.y2, height, shape[1]), xs(box.x1, box.x2, width, shape[2]);
  const auto last_y = static_cast<float>(shape[1] - 1), last_x = static_cast<float>(shape[2] - 1);
  const float ratio_y = height > 1 ? last_y / static_cast<float>(height - 1) : 0;
  const float ratio_x = width > 1 ? last_x / static_cast<float>(width - 1) : 0;
  std::fill_n(out, 4, 0.0f);
  for (int64_t y = 0; y < height; ++y) {
    const float at_y = ys.at(y);
    if (!ys.inside(at_y)) continue;
    const Between rows(at_y);
    const float share_y = static_cast<float>(y) * ratio_y;
    for (int64_t x = 0; x < width; ++x) {
      const float at_x = xs.at(x);
      if (!xs.inside(at_x)) continue;
      const Between columns(at_x);
      const T *top = image + rows.lower * row, *bottom = image + rows.upper * row;
      const int64_t left = columns.lower * depth, right = columns.upper * depth;
      const float share_x = static_cast<float>(x) * ratio_x;
      for (int64_t i = 0; i < depth; ++i) {
        const auto top_left = static_cast<float>(top[left + i]), top_right = static_cast<float>(top[right + i]);
        const auto bottom_left = static_cast<float>(bottom[left + i]),
                   bottom_right = static_cast<float>(bottom[right + i]);
        const float grad = grads[(y * width + x) * depth + i];
        const float by_y =
            ((1 - columns.fraction) * (bottom_left - top_left) + columns.fraction * (bottom_right - top_right)) * grad;
        const float by_x =
            ((1 - rows.fraction) * (top_right - top_left) + rows.fraction * (bottom_right - bottom_left)) * grad;
        out[0] += by_y * (height > 1 ? last_y - share_y : 0.5f * last_y);
        out[2] += by_y * (height > 1 ? share_y : 0.5f * last_y);
        out[1] += by_x * (width > 1 ? last_x - share_x : 0.5f * last_x);
        out[3] += by_x * (width > 1 ? share_x : 0.5f * last_x);
      }
    }
  }
}

struct BoxesCpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape &crops = c.shape(0), &shape = c.shape(1);
    const int64_t crop = crops[1] * crops[2] * crops[3], image = shape[1] * shape[2] * shape[3];
    const auto* boxes = c.input<Box>(2);
    const auto* indices = c.input<int32_t>(3);
    for (int64_t i = 0; i < crops[0]; ++i) box_image(indices[i], shape[0]);
    c.pool().parallel_for(crops[0], rows_of_a_block(crop), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        box_grad(boxes[i], c.input<float>(0) + i * crop, crops, shape, c.input<T>(1) + indices[i] * image,
                 c.output<float>() + i * 4);
      }
    });
  }
};

}  // namespace

OpDef crop_and_resize_grad_image_op() {
  return {.name = "CropAndResizeGradImage",
          .inputs = "grads:float; boxes:float; box_ind:int32; image_size:int32",
          .outputs = "output:T",
          .attrs = "T:type{float,half,double}; method:string{bilinear,nearest}='bilinear'",
          .host = "image_size",
          .infer = infer_image,
          .cpu = {.select = kernel_for<Types<float, Half, double>, ImageCpu>}};
}

OpDef crop_and_resize_grad_boxes_op() {
  return {.name = "CropAndResizeGradBoxes",
          .inputs = "grads:float; image:T; boxes:float; box_ind:int32",
          .outputs = "output:float",
          .attrs = "T:type{uint8,uint16,int8,int16,int32,int64,half,float,double}; method:string{bilinear}='bilinear'",
          .infer = infer_box,
          .cpu = {.select = kernel_for<ImageTypes, BoxesCpu>}};
}

}  // namespace weir::ops
