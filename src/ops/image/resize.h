#pragma once

#include <vector>

#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/types.h"

// What the operations that change the size of pictures share. Their arithmetic is TensorFlow's, operation by operation,
// so that pixels have its bits.
namespace weir::ops {

// All types of pictures. Bfloat16 is for those rows that have it.
using ImageTypes = Types<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>;

// Where a pixel of the output lies in the input.
struct Scaling {
  float scale;
  bool half_pixel_centers;

  float at(int64_t out) const {
    const auto x = static_cast<float>(out);
    return half_pixel_centers ? (x + 0.5f) * scale - 0.5f : x * scale;
  }
};
float resize_scale(int64_t in, int64_t out, bool align_corners);

// The sizes of a resize: [batch, in_height, in_width, channels] becomes [batch, out_height, out_width, channels].
struct ResizeGeometry {
  int64_t batch, in_height, in_width, out_height, out_width, channels;
  Scaling height, width;

  int64_t in_row() const { return in_width * channels; }
  int64_t out_row() const { return out_width * channels; }
};
ResizeGeometry resize_geometry(const Shape& in, const Shape& out, const AttrMap& attrs);

// Output 0 is input 0 with the height and width that input 1 gives.
void infer_resize(InferContext& c);
// The gradient of a resize of input 1: input 0 has its batch and channels.
void infer_resize_grad(InferContext& c);

// `out` is the input's sizes for a gradient whose row keeps them in an input `size`.
void infer_resize_to_size(InferContext& c);

// Elements as float32. Null for float32, which needs none.
using ToFloat = void (*)(const void* from, int64_t first, int64_t count, float* to);
ToFloat to_float(DType dtype);
// Elements `first` .. of an input: in place, or converted into `buffer`.
inline const float* float_elements(const void* from, ToFloat convert, int64_t first, int64_t count, float* buffer) {
  if (!convert) return static_cast<const float*>(from) + first;
  convert(from, first, count, buffer);
  return buffer;
}

// Rows of the output that are worth a block of a parallel loop.
int64_t rows_of_a_block(int64_t row_elements);

// For gradients, which add rows of the output onto rows of the input: the rows of the output that touch row i of the
// input, [first, last). `touched` says which each touches; it must not step back.
struct RowRange {
  int64_t first = 0, last = 0;
};
template <class Touched>
std::vector<RowRange> rows_that_touch(int64_t in_rows, int64_t out_rows, Touched touched) {
  std::vector<RowRange> ranges(static_cast<size_t>(in_rows));
  for (int64_t y = 0; y < out_rows; ++y) {
    for (int64_t row : touched(y)) {
      RowRange& range = ranges[static_cast<size_t>(row)];
      if (range.first == range.last) range.first = y;
      range.last = y + 1;
    }
  }
  return ranges;
}

}  // namespace weir::ops
