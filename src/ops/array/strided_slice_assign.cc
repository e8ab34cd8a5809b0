#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_slice_spec.h"
#include "ops/state/update.h"

// x[begin:end:strides] = value: for variables of both spellings, and for tensors.
namespace weir::ops {
namespace {

SliceEntries entries(const Tensor& t) { return {t.valid() ? t.raw() : nullptr, t.dtype() == DType::Int32}; }

// Nothing is written into such a slice, whatever the value is.
bool is_empty(const Shape& shape) { return std::ranges::find(shape.dims(), 0) != shape.dims().end(); }

// What has been found of the slice of a shape must take the value, which may be a scalar.
void check(InferContext& c, const Shape& into) {
  for (int i : {1, 2, 3}) c.require_rank(i, 1);
  if (!c.input(1).compatible(c.input(2)) || !c.input(1).merged(c.input(2)).compatible(c.input(3))) {
    throw invalid_argument("begin, end and strides must have equal lengths; they have shapes {}, {} and {}",
                           c.input(1).str(), c.input(2).str(), c.input(3).str());
  }
  const Tensor begin = c.value(1), end = c.value(2), strides = c.value(3);
  if (!into.has_rank() || !begin.valid() || !end.valid() || !strides.valid()) return;
  const StridedSliceSpec spec(into, static_cast<int>(strides.elements()), entries(begin), entries(end),
                              entries(strides), SliceMasks(c.attrs()));
  if (!is_empty(spec.result_shape()) && !spec.result_shape().compatible(c.input(4))) {
    throw invalid_argument("Assign requires shapes to match: the slice has {}, the value {}", spec.result_shape().str(),
                           c.input(4).str());
  }
}

void infer_ref(InferContext& c) {
  check(c, c.input(0));
  c.set_output(0, c.input(0));
}

void infer_resource(InferContext& c) {
  c.require_scalar(0);
  check(c, c.handle_shape(0));
}

SliceMasks prepare(PrepareContext& c) { return SliceMasks(c.node().attrs()); }

// Writes input 4 into the slice of `data`, which has that shape.
void assign_slice(KernelContext& c, const Shape& shape, DType dtype, void* data) {
  auto given = [&](int input) { return SliceEntries{c.raw_input(input), c.dtype(input) == DType::Int32}; };
  const StridedSliceSpec spec(shape, static_cast<int>(c.elements(1)), given(1), given(2), given(3),
                              c.state<SliceMasks>());
  if (is_empty(spec.result_shape())) return;
  if (spec.result_shape() != c.shape(4)) {
    throw invalid_argument("Assign requires shapes to match: the slice has {}, the value {}", spec.result_shape().str(),
                           c.shape(4).str());
  }
  if (c.elements(4) == 0) return;
  const Strides strides(shape);
  int64_t start = 0, from_stride = c.elements(4);
  StridedBox box;
  for (int i = 0; i < spec.rank; ++i) {
    from_stride /= spec.size[i];
    start += spec.begin[i] * strides[i];
    box.add(spec.size[i], spec.stride[i] * strides[i], from_stride);
  }
  copy_box(dtype, box, offset(dtype, data, start), c.raw_input(4), c.pool());
}

void variable_cpu(KernelContext& c) {
  const DType dtype = c.node().type();
  variable_of(c, 0, dtype).update([&](Tensor& value) { assign_slice(c, value.shape(), dtype, value.mutable_raw()); });
  if (c.outputs() > 0) c.forward_ref(0, 0);
}

void tensor_cpu(KernelContext& c) {
  if (c.raw_output() != c.raw_input(0)) {
    copy_elements(c.dtype(0), c.raw_output(), c.raw_input(0), c.elements(0), c.pool());
  }
  assign_slice(c, c.shape(0), c.dtype(0), c.raw_output());
}

constexpr std::string_view kAttrs =
    "T:type; Index:type{int32,int64}; begin_mask:int=0; end_mask:int=0; ellipsis_mask:int=0; new_axis_mask:int=0; "
    "shrink_axis_mask:int=0";

}  // namespace

OpDef strided_slice_assign_op() {
  return {.name = "StridedSliceAssign",
          .inputs = "ref:Ref(T); begin:Index; end:Index; strides:Index; value:T",
          .outputs = "output_ref:Ref(T)",
          .attrs = kAttrs,
          .host = "begin, end, strides",
          .infer = infer_ref,
          .cpu = {.select = kernel_moving<variable_cpu>, .prepare = prepared<prepare>}};
}

OpDef resource_strided_slice_assign_op() {
  return {.name = "ResourceStridedSliceAssign",
          .inputs = "ref:resource; begin:Index; end:Index; strides:Index; value:T",
          .attrs = kAttrs,
          .flags = "stateful",
          .host = "begin, end, strides",
          .infer = infer_resource,
          .cpu = {.select = kernel_moving<variable_cpu>, .prepare = prepared<prepare>}};
}

OpDef tensor_strided_slice_update_op() {
  return {.name = "TensorStridedSliceUpdate",
          .inputs = "input:T; begin:Index; end:Index; strides:Index; value:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .host = "begin, end, strides",
          .infer = infer_ref,
          .cpu = {.select = kernel_moving<tensor_cpu>, .prepare = prepared<prepare>, .in_place = 0b1}};
}

}  // namespace weir::ops
