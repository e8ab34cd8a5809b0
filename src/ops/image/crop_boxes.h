#pragma once

#include <cmath>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

// What CropAndResize and its gradients share.
namespace weir::ops {

// Where the rows (or columns) of a crop lie among those of its image. Arithmetic as TensorFlow's.
class CropAxis {
 public:
  CropAxis(float begin, float end, int64_t crop, int64_t image)
      : begin_(begin), end_(end), crop_(crop), last_(static_cast<float>(image - 1)) {
    if (crop > 1) scale_ = (end - begin) * last_ / static_cast<float>(crop - 1);
  }
  float at(int64_t i) const {
    if (crop_ > 1) return begin_ * last_ + static_cast<float>(i) * scale_;
    return static_cast<float>(0.5 * static_cast<double>(begin_ + end_) * static_cast<double>(last_));
  }
  // False for NaN too.
  bool inside(float at) const { return at >= 0 && at <= last_; }

 private:
  float begin_, end_;
  int64_t crop_;
  float last_, scale_ = 0;
};

// A place between two pixels.
struct Between {
  int64_t lower, upper;
  float fraction;
  explicit Between(float at)
      : lower(static_cast<int64_t>(std::floor(at))),
        upper(static_cast<int64_t>(std::ceil(at))),
        fraction(at - static_cast<float>(lower)) {}
};

struct Box {
  float y1, x1, y2, x2;
};

// The image that a box is cut from. Throws OutOfRange.
inline int64_t box_image(int32_t index, int64_t images) {
  if (index < 0 || index >= images) throw error(Code::OutOfRange, "box_index has values outside [0, batch_size)");
  return index;
}

// Checks boxes [n, 4] and the indices [n]; gives n, as far as it is known.
int64_t infer_boxes(const InferContext& c, int boxes, int indices);

}  // namespace weir::ops
