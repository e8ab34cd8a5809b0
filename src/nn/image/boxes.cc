#include "nn/image/checks.h"
#include "weir/image.h"

namespace weir::image {

using nn::as_output;
using nn::graph_of;

SampledBox sample_distorted_bounding_box(const In& image_size, const In& bounding_boxes,
                                         const SampleBoxOptions& options, std::string_view name) {
  Graph& g = graph_of(image_size, bounding_boxes);
  LineScope line(g, source_line(image_size.where()));
  Scope scope = g.name_scope(name.empty() ? "sample_distorted_bounding_box" : name);
  Operation node = NodeBuilder("SampleDistortedBoundingBoxV2", name)
                       .input(image_size)
                       .input(bounding_boxes)
                       .input(options.min_object_covered)
                       .attr("seed", options.seed)
                       .attr("seed2", options.seed2)
                       .attr("aspect_ratio_range", options.aspect_ratio_range)
                       .attr("area_range", options.area_range)
                       .attr("max_attempts", options.max_attempts)
                       .attr("use_image_if_no_bounding_boxes", options.use_image_if_no_bounding_boxes)
                       .build();
  return {node.output(0), node.output(1), node.output(2)};
}

Output non_max_suppression(const In& boxes, const In& scores, const In& max_output_size,
                           const SuppressionOptions& options, std::string_view name) {
  Graph& g = graph_of(boxes, scores);
  LineScope line(g, source_line(boxes.where()));
  Scope scope = g.name_scope(name.empty() ? "non_max_suppression" : name);
  Output iou = as_output(g, options.iou_threshold, float32, "iou_threshold");
  Output least = as_output(g, options.score_threshold, float32, "score_threshold");
  return NodeBuilder("NonMaxSuppressionV3")
      .input(boxes)
      .input(scores)
      .input(max_output_size)
      .input(iou)
      .input(least)
      .output();
}

}  // namespace weir::image
