#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/op_def.h"
#include "ops/array/strided_copy.h"
#include "ops/element_mover.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "tensor/elements.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void set_shapes(InferContext& c, const Shape& wanted) {
  const Shape element = shape_of_element(c, 0, wanted);
  if (element.has_rank() && element.rank() == 0) {
    throw invalid_argument("Concat requires elements to be at least vectors, found scalars instead");
  }
  if (element.has_rank()) c.set_output(0, with_leading(kUnknown, Shape(element.dims().subspan(1))));
  c.set_output(1, Shape{kUnknown});
}

void infer(InferContext& c) { set_shapes(c, c.attr<Shape>("element_shape")); }
void infer_v2(InferContext& c) { set_shapes(c, element_shape_input(c, 1)); }

void gradient(GradContext& c) {
  if (!c.has_output_grad()) return;
  const Output grad = c.output_grad();
  Output element = concat({c.graph().constant(Tensor(std::vector<int32_t>{-1})), row_shape(grad)}, 0);
  c.set_input_grad(0, NodeBuilder("TensorListSplit").input(grad).input(element).input(c.output(1)).output());
}

// `leading` says how many rows elements have that were never written; it may be empty.
void join(KernelContext& c, const TensorList& list, const Shape& wanted, std::span<const int64_t> leading) {
  Shape element = merged_element_shape(list, wanted);
  if (element.has_rank() && element.rank() == 0) {
    throw invalid_argument("Concat requires elements to be at least vectors, found scalars instead");
  }
  const int64_t length = list.length();
  if (!leading.empty() && static_cast<int64_t>(leading.size()) != length) {
    throw invalid_argument("{} leading_dims are given for a list of {} elements", leading.size(), length);
  }
  int64_t written = 0, first = 0;
  Shape row = element.has_rank() ? Shape(element.dims().subspan(1)) : Shape::unknown();
  for (int64_t i = 0; i < length; ++i) {
    const Tensor* tensor = list.at(i);
    if (!tensor || !tensor->valid() || tensor->shape().rank() > 0) continue;
    throw invalid_argument("Concat saw a scalar shape at index {} but requires at least vectors.", i);
  }
  list.visit([&](int64_t i, const Tensor& tensor) {
    if (!tensor.valid() || tensor.shape().rank() < 1 || !tensor.shape().compatible(element)) {
      throw invalid_argument("Concat requires elements of shape {} with at least one dimension; element {} has {}",
                             element.str(), i, tensor.valid() ? tensor.shape().str() : "no value");
    }
    const Shape here(tensor.shape().dims().subspan(1));
    if (!here.compatible(row)) {
      throw invalid_argument(
          "TensorArray has inconsistent shapes.  Index {} has (excepting dimension 0) shape: {} but index {} has (excepting "
          "dimension 0) shape: {}",
          first, row.str(), i, here.str());
    }
    if (written++ == 0) first = i;
    row = here;
  });
  const int64_t unwritten_rows = element.has_rank() ? element[0] : kUnknown;
  if (!row.is_known() || (written < length && leading.empty() && unwritten_rows == kUnknown)) {
    throw invalid_argument("Trying to concat a list with {} but element_shape is not fully defined: {}",
                           length == 0 ? "no elements" : "uninitialized elements", element.str());
  }
  Tensor lengths(DType::Int64, Shape{length});
  auto* counts = lengths.mutable_data<int64_t>();
  int64_t rows = 0;
  for (int64_t i = 0; i < length; ++i) {
    const Tensor* tensor = list.at(i);
    counts[i] = tensor ? tensor->shape()[0] : leading.empty() ? unwritten_rows : leading[static_cast<size_t>(i)];
    if (counts[i] < 0) throw invalid_argument("leading_dims[{}] is {}", i, counts[i]);
    rows = checked_add(rows, counts[i]);
  }
  Tensor result = place_result(list.dtype(), with_leading(rows, row));
  auto* data = static_cast<char*>(result.mutable_raw());
  const size_t bytes = static_cast<size_t>(row.elements()) * dtype_size(list.dtype());
  for (int64_t i = 0; i < length; ++i) {
    const Tensor* tensor = list.at(i);
    const Tensor part = tensor ? *tensor : Tensor::zeros(list.dtype(), with_leading(counts[i], row));
    copy_elements(list.dtype(), data, part.raw(), part.elements(), c.pool());
    data += static_cast<size_t>(counts[i]) * bytes;
  }
  c.set_output(0, std::move(result));
  c.set_output(1, std::move(lengths));
}

void cpu(KernelContext& c) { join(c, *list_input(c, 0), c.node().attr<Shape>("element_shape"), {}); }
void cpu_v2(KernelContext& c) {
  join(c, *list_input(c, 0), element_shape_value(c, 1), {c.input<int64_t>(2), static_cast<size_t>(c.elements(2))});
}

template <ComputeFn kFn>
ComputeFn select(const NodeView& node) {
  return dtype_size(node.type("element_dtype")) > 0 ? kFn : nullptr;
}

}  // namespace

OpDef tensor_list_concat_op() {
  return {.name = "TensorListConcat",
          .inputs = "input_handle:variant",
          .outputs = "tensor:element_dtype; lengths:int64",
          .attrs = "element_dtype:type; element_shape:shape=unknown",
          .host = "lengths",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select<cpu>, .gives_outputs = true}};
}

OpDef tensor_list_concat_v2_op() {
  return {.name = "TensorListConcatV2",
          .inputs = "input_handle:variant; element_shape:shape_type; leading_dims:int64",
          .outputs = "tensor:element_dtype; lengths:int64",
          .attrs = "element_dtype:type; shape_type:type{int32,int64}",
          .host = "element_shape, leading_dims, lengths",
          .infer = infer_v2,
          .gradient = gradient,
          .cpu = {.select = select<cpu_v2>, .gives_outputs = true}};
}

}  // namespace weir::ops
