#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "graph/node.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_slice_spec.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& from = c.input(0);
  int64_t count = kUnknown;
  for (int i : {1, 2, 3}) {
    c.require_rank(i, 1);
    if (!c.input(i).has_rank() || c.input(i)[0] == kUnknown) continue;
    if (count != kUnknown && c.input(i)[0] != count) {
      throw invalid_argument("begin, end and strides must have equal lengths; they have shapes {}, {} and {}",
                             c.input(1).str(), c.input(2).str(), c.input(3).str());
    }
    count = c.input(i)[0];
  }
  Tensor begin = c.value(1), end = c.value(2), strides = c.value(3);
  if (!from.has_rank() || count == kUnknown || !strides.valid()) return;
  auto entries = [](const Tensor& t) { return SliceEntries{t.valid() ? t.raw() : nullptr, t.dtype() == DType::Int32}; };
  StridedSliceSpec spec(from, static_cast<int>(count), entries(begin), entries(end), entries(strides),
                        SliceMasks(c.attrs()));
  c.set_output(0, spec.result_shape());
}

// Part of a shape, shape(x)[1:]: the sizes that are known stay so.
Shape as_shape(InferContext& c) {
  const Shape whole = c.value_as_shape(0);
  const SliceMasks masks(c.attrs());
  Tensor begin = c.value(1), end = c.value(2), strides = c.value(3);
  if (!whole.has_rank() || masks.ellipsis || masks.new_axis || masks.shrink_axis) return Shape::unknown();
  if (!begin.valid() || !end.valid() || !strides.valid() || strides.elements() != 1) return Shape::unknown();
  auto entries = [](const Tensor& t) { return SliceEntries{t.raw(), t.dtype() == DType::Int32}; };
  const StridedSliceSpec spec(Shape{whole.rank()}, 1, entries(begin), entries(end), entries(strides), masks);
  Shape part;
  for (int64_t i = 0; i < spec.size[0]; ++i) part.append(whole[static_cast<int>(spec.begin[0] + i * spec.stride[0])]);
  return part;
}

StridedSliceOptions options_of(const AttrMap& attrs) {
  SliceMasks masks(attrs);
  return {masks.begin, masks.end, masks.ellipsis, masks.new_axis, masks.shrink_axis};
}

void gradient(GradContext& c) {
  Output x_shape = shape(c.input(0), c.input(1).dtype());
  c.set_input_grad(
      0, strided_slice_grad(x_shape, c.input(1), c.input(2), c.input(3), c.output_grad(), options_of(c.op().attrs())));
}

SliceMasks prepare(PrepareContext& c) { return SliceMasks(c.node().attrs()); }

void cpu(KernelContext& c) {
  const Shape& from = c.shape(0);
  DType dtype = c.dtype(0);
  auto entries = [&](int input) { return SliceEntries{c.raw_input(input), c.dtype(input) == DType::Int32}; };
  StridedSliceSpec spec(from, static_cast<int>(c.elements(1)), entries(1), entries(2), entries(3),
                        c.state<SliceMasks>());
  Strides strides(from);
  int64_t start = 0, to_stride = c.output_elements();
  StridedBox box;
  for (int i = 0; i < spec.rank; ++i) {
    if (to_stride > 0) to_stride /= spec.size[i];
    start += spec.begin[i] * strides[i];
    box.add(spec.size[i], to_stride, spec.stride[i] * strides[i]);
  }
  copy_box(dtype, box, c.raw_output(), offset(dtype, c.raw_input(0), start), c.pool());
}

}  // namespace

OpDef strided_slice_op() {
  return {.name = "StridedSlice",
          .inputs = "input:T; begin:Index; end:Index; strides:Index",
          .outputs = "output:T",
          .attrs =
              "T:type; Index:type{int32,int64}; begin_mask:int=0; end_mask:int=0; ellipsis_mask:int=0; "
              "new_axis_mask:int=0; shrink_axis_mask:int=0",
          .host = "begin, end, strides",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>},
          .source = Source::Slice,
          .as_shape = as_shape};
}

}  // namespace weir::ops

namespace weir {

Output strided_slice(const In& input, const In& begin, const In& end, const In& strides,
                     const StridedSliceOptions& options, std::string_view name) {
  return NodeBuilder("StridedSlice", name)
      .input(input)
      .input(begin)
      .input(end)
      .input(strides)
      .attr("begin_mask", options.begin_mask)
      .attr("end_mask", options.end_mask)
      .attr("ellipsis_mask", options.ellipsis_mask)
      .attr("new_axis_mask", options.new_axis_mask)
      .attr("shrink_axis_mask", options.shrink_axis_mask)
      .output();
}

}  // namespace weir
