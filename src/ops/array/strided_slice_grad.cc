#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_slice_spec.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  for (int i = 1; i <= 3; ++i) c.require_rank(i, 1);
  if (!c.input(1).compatible(c.input(2)) || !c.input(1).merged(c.input(2)).compatible(c.input(3))) {
    throw invalid_argument("begin, end and strides must have equal lengths; they have shapes {}, {} and {}",
                           c.input(1).str(), c.input(2).str(), c.input(3).str());
  }
  c.set_output(0, shape_argument(c, 0));
}

void gradient(GradContext& c) {
  SliceMasks masks(c.op().attrs());
  c.set_input_grad(4, strided_slice(c.output_grad(), c.input(1), c.input(2), c.input(3),
                                    {masks.begin, masks.end, masks.ellipsis, masks.new_axis, masks.shrink_axis}));
}

SliceMasks prepare(PrepareContext& c) { return SliceMasks(c.node().attrs()); }

void cpu(KernelContext& c) {
  const Shape& to = c.output_shape();
  DType dtype = c.dtype(4);
  auto entries = [&](int input) { return SliceEntries{c.raw_input(input), c.dtype(input) == DType::Int32}; };
  StridedSliceSpec spec(to, static_cast<int>(c.elements(1)), entries(1), entries(2), entries(3), c.state<SliceMasks>());
  if (Shape result = spec.result_shape(); result != c.shape(4)) {
    throw invalid_argument("'dy' has shape {}; the slice of shape {} has shape {}", c.shape(4).str(), to.str(),
                           result.str());
  }
  Strides strides(to);
  int64_t start = 0, from_stride = c.elements(4);
  StridedBox box;
  for (int i = 0; i < spec.rank; ++i) {
    if (from_stride > 0) from_stride /= spec.size[i];
    start += spec.begin[i] * strides[i];
    box.add(spec.size[i], spec.stride[i] * strides[i], from_stride);
  }
  zero_elements(dtype, c.raw_output(), c.output_elements(), c.pool());
  copy_box(dtype, box, offset(dtype, c.raw_output(), start), c.raw_input(4), c.pool());
}

}  // namespace

OpDef strided_slice_grad_op() {
  return {.name = "StridedSliceGrad",
          .inputs = "shape:Index; begin:Index; end:Index; strides:Index; dy:T",
          .outputs = "output:T",
          .attrs =
              "T:type; Index:type{int32,int64}; begin_mask:int=0; end_mask:int=0; ellipsis_mask:int=0; "
              "new_axis_mask:int=0; shrink_axis_mask:int=0",
          .host = "shape, begin, end, strides",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>},
          .source = Source::Unslice};
}

}  // namespace weir::ops

namespace weir {

Output strided_slice_grad(const In& shape, const In& begin, const In& end, const In& strides, const In& dy,
                          const StridedSliceOptions& options, std::string_view name) {
  return NodeBuilder("StridedSliceGrad", name)
      .input(shape)
      .input(begin)
      .input(end)
      .input(strides)
      .input(dy)
      .attr("begin_mask", options.begin_mask)
      .attr("end_mask", options.end_mask)
      .attr("ellipsis_mask", options.ellipsis_mask)
      .attr("new_axis_mask", options.new_axis_mask)
      .attr("shrink_axis_mask", options.shrink_axis_mask)
      .output();
}

}  // namespace weir
