#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/image/crop_boxes.h"
#include "ops/image/resize.h"
#include "weir/image_ops.h"
#include "weir/ops.h"

namespace weir::ops {

int64_t infer_boxes(const InferContext& c, int boxes, int indices) {
  c.require_rank(boxes, 2);
  c.require_rank(indices, 1);
  const Shape box = c.input(boxes).merged(Shape::unknown_dims(2)), index = c.input(indices).merged(Shape{kUnknown});
  if (box[1] != kUnknown && box[1] != 4) throw invalid_argument("boxes must have 4 columns");
  return Shape{box[0]}.merged(index)[0];
}

namespace {

void infer(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(3, 1);
  const Shape image = c.input(0).merged(Shape::unknown_dims(4));
  if (image[1] == 0 || image[2] == 0) c.fail("image dimensions must be positive");
  if (c.input(3).has_rank() && c.input(3)[0] != kUnknown && c.input(3)[0] != 2) {
    c.fail("crop_size must have two elements, got shape " + c.input(3).str());
  }
  const Shape size = shape_argument(c, 3).merged(Shape::unknown_dims(2));
  if (size[0] == 0 || size[1] == 0) c.fail("crop dimensions must be positive");
  c.set_output(0, Shape{infer_boxes(c, 1, 2), size[0], size[1], image[3]});
}

void gradient(GradContext& c) {
  Output image = c.input(0), boxes = c.input(1), index = c.input(2), grad = c.output_grad();
  if (image.dtype() == float32 || image.dtype() == float64 || image.dtype() == float16) {
    c.set_input_grad(0, NodeBuilder("CropAndResizeGradImage")
                            .input(grad)
                            .input(boxes)
                            .input(index)
                            .input(image.shape().is_known() ? In(image.shape()) : In(shape(image)))
                            .attr("T", image.dtype())
                            .attr("method", c.attr<std::string>("method"))
                            .output());
  }
  c.set_input_grad(1,
                   NodeBuilder("CropAndResizeGradBoxes").input(grad).input(image).input(boxes).input(index).output());
}

struct State {
  bool bilinear;
  float outside;
};

State prepare(PrepareContext& c) {
  return {c.attr<std::string>("method") == "bilinear", c.attr<float>("extrapolation_value")};
}

template <class T>
void crop_row(const T* image, const Shape& shape, float at_y, const CropAxis& xs, int64_t crop_width,
              const State& state, float* out) {
  const int64_t width = shape[2], depth = shape[3];
  const Between y(at_y);
  const T *top = image + y.lower * width * depth, *bottom = image + y.upper * width * depth;
  const T* nearest = image + static_cast<int64_t>(std::round(at_y)) * width * depth;
  for (int64_t x = 0; x < crop_width; ++x, out += depth) {
    const float at_x = xs.at(x);
    if (!xs.inside(at_x)) {
      std::fill_n(out, depth, state.outside);
    } else if (state.bilinear) {
      const Between between(at_x);
      const int64_t left = between.lower * depth, right = between.upper * depth;
      for (int64_t i = 0; i < depth; ++i) {
        const auto top_left = static_cast<float>(top[left + i]), bottom_left = static_cast<float>(bottom[left + i]);
        const float above = top_left + (static_cast<float>(top[right + i]) - top_left) * between.fraction;
        const float below = bottom_left + (static_cast<float>(bottom[right + i]) - bottom_left) * between.fraction;
        out[i] = above + (below - above) * y.fraction;
      }
    } else {
      const T* pixel = nearest + static_cast<int64_t>(std::round(at_x)) * depth;
      for (int64_t i = 0; i < depth; ++i) out[i] = static_cast<float>(pixel[i]);
    }
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& state = c.state<State>();
    const Shape &shape = c.shape(0), &crops = c.output_shape();
    const auto* boxes = c.input<Box>(1);
    const auto* indices = c.input<int32_t>(2);
    for (int64_t i = 0; i < crops[0]; ++i) box_image(indices[i], shape[0]);
    const int64_t height = crops[1], width = crops[2], row = width * shape[3], image = shape[1] * shape[2] * shape[3];
    auto* out = c.output<float>();
    c.pool().parallel_for(crops[0] * height, rows_of_a_block(row), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const Box& box = boxes[r / height];
        const CropAxis ys(box.y1, box.y2, height, shape[1]), xs(box.x1, box.x2, width, shape[2]);
        const float at = ys.at(r % height);
        if (ys.inside(at)) {
          crop_row(c.input<T>(0) + indices[r / height] * image, shape, at, xs, width, state, out + r * row);
        } else {
          std::fill_n(out + r * row, row, state.outside);
        }
      }
    });
  }
};

}  // namespace

OpDef crop_and_resize_op() {
  return {.name = "CropAndResize",
          .inputs = "image:T; boxes:float; box_ind:int32; crop_size:int32",
          .outputs = "crops:float",
          .attrs =
              "T:type{uint8,uint16,int8,int16,int32,int64,half,float,double}; "
              "method:string{bilinear,nearest}='bilinear'; extrapolation_value:float=0.0",
          .host = "crop_size",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<ImageTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::image {

Output crop_and_resize(const In& image, const In& boxes, const In& box_indices, const In& crop_size,
                       const CropAndResizeOptions& options, std::string_view name) {
  return NodeBuilder("CropAndResize", name)
      .input(image)
      .input(boxes)
      .input(box_indices)
      .input(crop_size)
      .attr("method", options.method)
      .attr("extrapolation_value", options.extrapolation_value)
      .output();
}

}  // namespace weir::image
