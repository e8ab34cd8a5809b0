#include <algorithm>
#include <cmath>

#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(1, 3);
  const Shape images = c.input(0).merged(Shape::unknown_dims(4)), boxes = c.input(1).merged(Shape::unknown_dims(3));
  if (images[3] != kUnknown && images[3] != 1 && images[3] != 3 && images[3] != 4) {
    c.fail("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
  }
  if (boxes[2] != kUnknown && boxes[2] != 4) c.fail("boxes must have 4 coordinates, got shape " + boxes.str());
  if (images[0] != kUnknown && boxes[0] != kUnknown && images[0] != boxes[0]) {
    c.fail("The batch sizes should be the same");
  }
  // There is nowhere to draw them, which nobody else would say: a result without elements is never computed.
  if (images[0] > 0 && boxes[1] > 0 && (images[1] == 0 || images[2] == 0)) {
    c.fail(images[1] == 0 ? "Max box row clamp is less than 0." : "Max box col clamp is less than 0.");
  }
  c.set_output(0, images);
}

void infer_v2(InferContext& c) {
  infer(c);
  c.require_rank(2, 2);
  const Shape colours = c.input(2).merged(Shape::unknown_dims(2));
  if (colours[1] != kUnknown && c.output(0)[3] != kUnknown && colours[1] < c.output(0)[3]) {
    c.fail("colors must have equal or more channels than the image provided: " + colours.str());
  }
}

// Rows of four channels; box i has colour i modulo the number of them.
struct Colours {
  const float* values;
  int64_t count, channels;
};

constexpr float kColours[10][4] = {{1, 1, 0, 1},       {0, 0, 1, 1},       {1, 0, 0, 1},    {0, 1, 0, 1},
                                   {0.5f, 0, 0.5f, 1}, {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1},
                                   {0, 1, 1, 1},       {1, 0, 1, 1}};  // yellow, blue, red, lime, purple, olive,
                                                                       // maroon, navy, aqua, fuchsia
constexpr float kWhite[4] = {1, 1, 1, 1};

Colours colours_of(KernelContext& c, int64_t depth) {
  if (c.inputs() == 3 && c.elements(2) > 0) return {c.input<float>(2), c.shape(2)[0], c.shape(2)[1]};
  if (depth == 1) return {kWhite, 1, 4};
  return {kColours[0], 10, 4};
}

// The rows or columns between which a box lies; perhaps outside.
struct Side {
  int64_t low, high;
  bool drawn;
  Side(float from, float to, int64_t size) : low(0), high(-1), drawn(false) {
    const float last = static_cast<float>(size - 1), first = from * last, second = to * last;
    // Numbers beyond these are as far outside, and NaN is nowhere.
    if (!(std::abs(first) < 1e9f && std::abs(second) < 1e9f)) return;
    low = static_cast<int64_t>(first);
    high = static_cast<int64_t>(second);
    drawn = low <= high && low < size && high >= 0;
  }
};

template <class T>
void draw(const float* box, const float* colour, int64_t height, int64_t width, int64_t depth, T* image) {
  const Side rows(box[0], box[2], height), columns(box[1], box[3], width);
  if (!rows.drawn || !columns.drawn) return;
  auto put = [&](int64_t y, int64_t x) {
    for (int64_t i = 0; i < depth; ++i) image[(y * width + x) * depth + i] = static_cast<T>(colour[i]);
  };
  const int64_t top = std::max<int64_t>(rows.low, 0), bottom = std::min(rows.high, height - 1);
  const int64_t left = std::max<int64_t>(columns.low, 0), right = std::min(columns.high, width - 1);
  for (int64_t y : {rows.low, rows.high}) {
    if (y < 0 || y >= height) continue;
    for (int64_t x = left; x <= right; ++x) put(y, x);
  }
  for (int64_t x : {columns.low, columns.high}) {
    if (x < 0 || x >= width) continue;
    for (int64_t y = top; y <= bottom; ++y) put(y, x);
  }
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const Shape& shape = c.shape(0);
    const int64_t boxes = c.shape(1)[1], image = shape[1] * shape[2] * shape[3];
    const Colours colours = colours_of(c, shape[3]);
    T* out = c.output<T>();
    if (out != c.input<T>(0)) std::copy_n(c.input<T>(0), c.output_elements(), out);
    c.pool().parallel_for(shape[0], 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t box = 0; box < boxes; ++box) {
          draw(c.input<float>(1) + (i * boxes + box) * 4, colours.values + box % colours.count * colours.channels,
               shape[1], shape[2], shape[3], out + i * image);
        }
      }
    });
  }
};

}  // namespace

OpDef draw_bounding_boxes_op() {
  return {.name = "DrawBoundingBoxes",
          .inputs = "images:T; boxes:float",
          .outputs = "output:T",
          .attrs = "T:type{float,half}=float",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<float, Half>, Cpu>, .in_place = 0b1}};
}

OpDef draw_bounding_boxes_v2_op() {
  return {.name = "DrawBoundingBoxesV2",
          .inputs = "images:T; boxes:float; colors:float",
          .outputs = "output:T",
          .attrs = "T:type{float,half}=float",
          .infer = infer_v2,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<float, Half>, Cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops

namespace weir::image {

Output draw_bounding_boxes(const In& images, const In& boxes, const std::optional<In>& colors, std::string_view name) {
  NodeBuilder node(colors ? "DrawBoundingBoxesV2" : "DrawBoundingBoxes",
                   name.empty() && colors ? "DrawBoundingBoxesV2" : name);
  node.input(images).input(boxes);
  if (colors) node.input(*colors);
  return node.output();
}

}  // namespace weir::image
