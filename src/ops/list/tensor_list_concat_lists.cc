#include "base/errors.h"
#include "graph/op_def.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"

// Whole lists: one behind the other, and many that grow at once. Both take tensors of lists.
namespace weir::ops {
namespace {

const TensorList& list_at(const KernelContext& c, int input, int64_t i) {
  const auto* list = dynamic_cast<const TensorList*>(static_cast<const Variant*>(c.raw_input(input))[i].get());
  if (!list) throw invalid_argument("input {} is not a list at index {}", input, i);
  if (const DType wanted = c.node().type("element_dtype"); list->dtype() != wanted) {
    throw invalid_argument("Invalid data types; op elements {} but list elements {}", dtype_name(wanted),
                           dtype_name(list->dtype()));
  }
  return *list;
}

void infer_concat(InferContext& c) { infer::merged(c); }

void concat_cpu(KernelContext& c) {
  if (c.shape(0) != c.shape(1)) {
    throw invalid_argument("input_a and input_b have shapes {} and {}", c.shape(0).str(), c.shape(1).str());
  }
  Tensor all(DType::Variant, c.shape(0));
  for (int64_t i = 0; i < all.elements(); ++i) {
    const TensorList &a = list_at(c, 0, i), &b = list_at(c, 1, i);
    if (!a.element_shape().compatible(b.element_shape())) {
      throw invalid_argument("input_a and input_b TensorList element shapes are not identical at index {}: {} vs. {}",
                             i, a.element_shape().str(), b.element_shape().str());
    }
    ListPtr joined = a.resized(a.length() + b.length());
    b.visit([&](int64_t at, const Tensor& tensor) { joined = joined->with(a.length() + at, tensor); });
    static_cast<Variant*>(all.mutable_raw())[i] = joined;
  }
  c.set_output(0, std::move(all));
}

void infer_push(InferContext& c) {
  const Shape &lists = c.input(0), &rows = c.input(1);
  c.require_rank(0, 1);
  c.require_min_rank(1, 1);
  if (lists.has_rank() && rows.has_rank() && lists[0] != kUnknown && rows[0] != kUnknown && lists[0] != rows[0]) {
    throw invalid_argument("batch dimension sizes do not match: {} lists and {} rows", lists[0], rows[0]);
  }
  c.set_output(0, lists);
}

void push_cpu(KernelContext& c) {
  if (c.shape(0).rank() != 1 || c.shape(1).rank() < 1 || c.shape(0)[0] != c.shape(1)[0]) {
    throw invalid_argument("batch dimension sizes do not match: lists {} and rows {}", c.shape(0).str(),
                           c.shape(1).str());
  }
  Tensor all(DType::Variant, c.shape(0));
  const RowsInput rows(c, 1, all.elements());
  for (int64_t i = 0; i < all.elements(); ++i) {
    const TensorList& list = list_at(c, 0, i);
    Tensor row = rows.row(i);
    require_fit(row.shape(), list);
    static_cast<Variant*>(all.mutable_raw())[i] = list.pushed(std::move(row));
  }
  c.set_output(0, std::move(all));
}

}  // namespace

OpDef tensor_list_concat_lists_op() {
  return {.name = "TensorListConcatLists",
          .inputs = "input_a:variant; input_b:variant",
          .outputs = "output:variant",
          .attrs = "element_dtype:type",
          .infer = infer_concat,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<concat_cpu>, .gives_outputs = true}};
}

OpDef tensor_list_push_back_batch_op() {
  return {.name = "TensorListPushBackBatch",
          .inputs = "input_handles:variant; tensor:element_dtype",
          .outputs = "output_handles:variant",
          .attrs = "element_dtype:type",
          .infer = infer_push,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<push_cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
