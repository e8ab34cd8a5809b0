#include "ops/image/non_max_suppression.h"

#include <limits>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

// The scalars behind the boxes and scores, of which there are as many of one as of the other.
void infer_inputs(InferContext& c, int64_t columns) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  for (int i = 2; i < c.inputs(); ++i) c.require_scalar(i);
  if (const auto most = c.value_as_ints(2); most && (*most)[0] < 0) {
    throw invalid_argument(
        "Dimension size, given by scalar input 2, must be non-negative but is {}: max_output_size must be non-negative",
        (*most)[0]);
  }
  const Shape boxes = c.input(0).merged(Shape::unknown_dims(2)), scores = c.input(1).merged(Shape{kUnknown});
  if (columns == 4 && boxes[1] != kUnknown && boxes[1] != 4) c.fail("boxes must have 4 columns");
  if (columns == 0 && boxes[0] != kUnknown && boxes[1] != kUnknown && boxes[0] != boxes[1]) {
    c.fail("overlaps must be square, got shape " + boxes.str());
  }
  if (boxes[0] != kUnknown && scores[0] != kUnknown && boxes[0] != scores[0]) c.fail("scores has incompatible shape");
}

void infer(InferContext& c) {
  infer_inputs(c, 4);
  c.set_output(0, Shape{kUnknown});
}

void infer_overlaps(InferContext& c) {
  infer_inputs(c, 0);
  c.set_output(0, Shape{kUnknown});
}

void infer_padded(InferContext& c) {
  infer_inputs(c, 4);
  int64_t length = kUnknown;
  if (c.attr<bool>("pad_to_max_output_size")) {
    if (const auto most = c.value_as_ints(2)) length = (*most)[0];
  }
  for (int i = 0; i < c.outputs() - 1; ++i) c.set_output(i, Shape{length});
  c.set_output(c.outputs() - 1, Shape{});
}

// A scalar of T or of another floating type.
template <class T>
T scalar_as(KernelContext& c, int input) {
  return c.dtype(input) == float16 ? static_cast<T>(static_cast<float>(c.scalar<Half>(input)))
                                   : static_cast<T>(c.scalar<float>(input));
}

template <class T>
T iou_threshold(T threshold) {
  if (!(threshold >= T(0.0f) && threshold <= T(1.0f))) throw invalid_argument("iou_threshold must be in [0, 1]");
  return threshold;
}

template <class T>
Selected<T> select_boxes(KernelContext& c, Suppression<T> options) {
  options.most = c.scalar<int32_t>(2);
  const T* boxes = c.input<T>(0);
  return suppress(c.input<T>(1), c.elements(1), options,
                  [boxes](int32_t i, int32_t j) { return overlap_of_boxes(boxes + 4 * i, boxes + 4 * j); });
}

template <class T>
constexpr T kLowest = std::numeric_limits<T>::lowest();
template <>
const Half kLowest<Half> = Half(-65504.0f);

void cpu_v1(KernelContext& c) {
  const float threshold = c.node().attr<float>("iou_threshold");
  c.set_output(0, Tensor(select_boxes<float>(c, {iou_threshold(threshold), kLowest<float>}).indices));
}

struct CpuV2 {
  template <class T>
  static void run(KernelContext& c) {
    c.set_output(0, Tensor(select_boxes<T>(c, {iou_threshold(scalar_as<T>(c, 3)), kLowest<T>}).indices));
  }
};

struct CpuV3 {
  template <class T>
  static void run(KernelContext& c) {
    c.set_output(0, Tensor(select_boxes<T>(c, {iou_threshold(scalar_as<T>(c, 3)), scalar_as<T>(c, 4)}).indices));
  }
};

// V4 gives the indices, V5 also the scores; then how many of them there are, without what fills them up.
struct CpuPadded {
  template <class T>
  static void run(KernelContext& c) {
    const bool soft = c.inputs() == 6;
    const T sigma = soft ? scalar_as<T>(c, 5) : T(0.0f);
    if (!(sigma >= T(0.0f))) throw invalid_argument("soft_nms_sigma_val must be >= 0");
    Selected<T> selected = select_boxes<T>(c, {iou_threshold(scalar_as<T>(c, 3)), scalar_as<T>(c, 4), sigma});
    const auto count = static_cast<int32_t>(selected.indices.size());
    if (c.node().attr<bool>("pad_to_max_output_size")) {
      const auto length = static_cast<size_t>(std::max(c.scalar<int32_t>(2), 0));
      selected.indices.resize(length);
      selected.scores.resize(length);
    }
    c.set_output(0, Tensor(selected.indices));
    if (soft) c.set_output(1, Tensor(selected.scores));
    c.set_output(soft ? 2 : 1, Tensor(count));
  }
};

void cpu_overlaps(KernelContext& c) {
  const auto* overlaps = c.input<float>(0);
  const int64_t boxes = c.elements(1);
  const Suppression<float> options{
      .threshold = c.scalar<float>(3), .score_threshold = c.scalar<float>(4), .most = c.scalar<int32_t>(2)};
  c.set_output(0, Tensor(suppress(c.input<float>(1), boxes, options, [=](int32_t i, int32_t j) {
                           return overlaps[i * boxes + j];
                         }).indices));
}

using BoxTypes = Types<float, Half>;

}  // namespace

OpDef non_max_suppression_op() {
  return {.name = "NonMaxSuppression",
          .inputs = "boxes:float; scores:float; max_output_size:int32",
          .outputs = "selected_indices:int32",
          .attrs = "iou_threshold:float=0.5",
          .host = "max_output_size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_v1>, .gives_outputs = true}};
}

OpDef non_max_suppression_v2_op() {
  return {.name = "NonMaxSuppressionV2",
          .inputs = "boxes:T; scores:T; max_output_size:int32; iou_threshold:T_threshold",
          .outputs = "selected_indices:int32",
          .attrs = "T:type{half,float}=float; T_threshold:type{half,float}=float",
          .host = "max_output_size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<BoxTypes, CpuV2>, .gives_outputs = true}};
}

OpDef non_max_suppression_v3_op() {
  return {.name = "NonMaxSuppressionV3",
          .inputs = "boxes:T; scores:T; max_output_size:int32; iou_threshold:T_threshold; score_threshold:T_threshold",
          .outputs = "selected_indices:int32",
          .attrs = "T:type{half,float}=float; T_threshold:type{half,float}=float",
          .host = "max_output_size",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<BoxTypes, CpuV3>, .gives_outputs = true}};
}

OpDef non_max_suppression_v4_op() {
  return {.name = "NonMaxSuppressionV4",
          .inputs = "boxes:T; scores:T; max_output_size:int32; iou_threshold:T_threshold; score_threshold:T_threshold",
          .outputs = "selected_indices:int32; valid_outputs:int32",
          .attrs = "T:type{half,float}=float; T_threshold:type{half,float}=float; pad_to_max_output_size:bool=False",
          .host = "max_output_size",
          .infer = infer_padded,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<BoxTypes, CpuPadded>, .gives_outputs = true}};
}

OpDef non_max_suppression_v5_op() {
  return {.name = "NonMaxSuppressionV5",
          .inputs = "boxes:T; scores:T; max_output_size:int32; iou_threshold:T; score_threshold:T; soft_nms_sigma:T",
          .outputs = "selected_indices:int32; selected_scores:T; valid_outputs:int32",
          .attrs = "T:type{half,float}=float; pad_to_max_output_size:bool=False",
          .host = "max_output_size",
          .infer = infer_padded,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<BoxTypes, CpuPadded>, .gives_outputs = true}};
}

OpDef non_max_suppression_with_overlaps_op() {
  return {
      .name = "NonMaxSuppressionWithOverlaps",
      .inputs = "overlaps:float; scores:float; max_output_size:int32; overlap_threshold:float; score_threshold:float",
      .outputs = "selected_indices:int32",
      .host = "max_output_size",
      .infer = infer_overlaps,
      .gradient = not_differentiable,
      .cpu = {.select = kernel_any<cpu_overlaps>, .gives_outputs = true}};
}

}  // namespace weir::ops
