#include <algorithm>
#include <array>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/image/non_max_suppression.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

// Detections of each image: at most `max_total_size`, and with pad_per_class no more than all classes can give.
int64_t detections(const AttrMap& attrs, int64_t of_a_class, int64_t total, int64_t classes) {
  if (total <= 0) throw invalid_argument("max_total_size must be > 0, got {}", total);
  if (!attrs.get<bool>("pad_per_class")) return total;
  if (of_a_class <= 0) {
    throw invalid_argument("max_output_size_per_class must be > 0 if pad_per_class is set to true");
  }
  return classes == kUnknown ? kUnknown : std::min(total, checked_multiply(of_a_class, classes));
}

void infer(InferContext& c) {
  c.require_rank(0, 4);
  c.require_rank(1, 3);
  for (int i = 2; i < 6; ++i) c.require_scalar(i);
  const Shape boxes = c.input(0).merged(Shape::unknown_dims(4)), scores = c.input(1).merged(Shape::unknown_dims(3));
  const int64_t batch = Shape{boxes[0]}.merged(Shape{scores[0]})[0];
  if (boxes[1] != kUnknown && scores[1] != kUnknown && boxes[1] != scores[1]) c.fail("scores has incompatible shape");
  if (boxes[2] != kUnknown && boxes[2] != 1 && scores[2] != kUnknown && boxes[2] != scores[2]) {
    c.fail("third dimension of boxes must be either 1 or equal to the third dimension of scores");
  }
  if (boxes[3] != kUnknown && boxes[3] != 4) c.fail("boxes must have 4 columns");
  int64_t size = kUnknown;
  const auto of_a_class = c.value_as_ints(2), total = c.value_as_ints(3);
  if (of_a_class && total) size = detections(c.attrs(), (*of_a_class)[0], (*total)[0], scores[2]);
  c.set_output(0, Shape{batch, size, 4});
  c.set_output(1, Shape{batch, size});
  c.set_output(2, Shape{batch, size});
  c.set_output(3, Shape{batch});
}

struct Detection {
  float score;
  int64_t kind;
  const float* box;
};

struct Image {
  const float *boxes, *scores;
  int64_t count, boxes_of_each, classes;  // boxes, and whether each class has its own
};

// Adds the best boxes of one class.
void detect_class(const Image& image, int64_t kind, int64_t most, float iou, float least,
                  std::vector<Detection>& found) {
  std::vector<Detection> candidates;
  for (int64_t i = 0; i < image.count; ++i) {
    const float score = image.scores[i * image.classes + kind];
    const int64_t own = image.boxes_of_each > 1 ? kind : 0;
    if (score > least) candidates.push_back({score, kind, image.boxes + (i * image.boxes_of_each + own) * 4});
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Detection& a, const Detection& b) { return a.score > b.score; });
  const size_t before = found.size();
  for (const Detection& candidate : candidates) {
    if (static_cast<int64_t>(found.size() - before) >= most) break;
    const bool hidden =
        std::any_of(found.begin() + static_cast<std::ptrdiff_t>(before), found.end(),
                    [&](const Detection& better) { return overlap_of_boxes(candidate.box, better.box) > iou; });
    if (!hidden) found.push_back(candidate);
  }
}

void cpu(KernelContext& c) {
  const Shape &boxes = c.shape(0), &scores = c.shape(1);
  const int64_t of_a_class = c.scalar<int32_t>(2), batch = boxes[0];
  const auto iou = c.scalar<float>(4), least = c.scalar<float>(5);
  if (!(iou >= 0 && iou <= 1)) throw invalid_argument("iou_threshold must be in [0, 1]");
  const int64_t size = detections(c.node().attrs(), of_a_class, c.scalar<int32_t>(3), scores[2]);
  const bool clip = c.node().attr<bool>("clip_boxes");
  Tensor out_boxes = Tensor::zeros(float32, {batch, size, 4}), out_scores = Tensor::zeros(float32, {batch, size});
  Tensor out_classes = Tensor::zeros(float32, {batch, size}), valid(int32, {batch});
  c.pool().parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const Image image{c.input<float>(0) + b * boxes[1] * boxes[2] * 4, c.input<float>(1) + b * scores[1] * scores[2],
                        boxes[1], boxes[2], scores[2]};
      std::vector<Detection> found;
      for (int64_t kind = 0; kind < image.classes; ++kind) {
        detect_class(image, kind, std::min(of_a_class, image.count), iou, least, found);
      }
      std::sort(found.begin(), found.end(), [](const Detection& x, const Detection& y) { return x.score > y.score; });
      const int64_t count = std::min(size, static_cast<int64_t>(found.size()));
      valid.mutable_data<int32_t>()[b] = static_cast<int32_t>(count);
      for (int64_t i = 0; i < count; ++i) {
        const Detection& detection = found[static_cast<size_t>(i)];
        for (int64_t j = 0; j < 4; ++j) {
          const float corner = detection.box[j];
          out_boxes.mutable_data<float>()[(b * size + i) * 4 + j] =
              clip ? std::max(std::min(corner, 1.0f), 0.0f) : corner;
        }
        out_scores.mutable_data<float>()[b * size + i] = detection.score;
        out_classes.mutable_data<float>()[b * size + i] = static_cast<float>(detection.kind);
      }
    }
  });
  c.set_output(0, out_boxes);
  c.set_output(1, out_scores);
  c.set_output(2, out_classes);
  c.set_output(3, valid);
}

}  // namespace

OpDef combined_non_max_suppression_op() {
  return {.name = "CombinedNonMaxSuppression",
          .inputs =
              "boxes:float; scores:float; max_output_size_per_class:int32; max_total_size:int32; iou_threshold:float; "
              "score_threshold:float",
          .outputs = "nmsed_boxes:float; nmsed_scores:float; nmsed_classes:float; valid_detections:int32",
          .attrs = "pad_per_class:bool=False; clip_boxes:bool=True",
          .host = "max_output_size_per_class, max_total_size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
