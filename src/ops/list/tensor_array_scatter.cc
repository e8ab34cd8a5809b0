#include <algorithm>
#include <numeric>

#include "base/errors.h"
#include "ops/list/tensor_array_versions.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer_scatter(InferContext& c) {
  c.require_rank(1, 1);
  c.require_scalar(3);
  const Shape &indices = c.input(1), &value = c.input(2);
  if (value.has_rank() && value.rank() == 0) {
    throw invalid_argument("Input value for unpack must be at least a vector but received shape: []");
  }
  if (indices.has_rank() && value.has_rank() && indices[0] != kUnknown && value[0] != kUnknown &&
      indices[0] != value[0]) {
    throw invalid_argument("Expected len(indices) == values.shape[0], but saw: {} vs. {}", indices[0], value[0]);
  }
  c.set_output(0, Shape{});
}

void infer_unpack(InferContext& c) {
  c.require_min_rank(1, 1);
  c.require_scalar(2);
  c.set_output(0, Shape{});
}

void scatter_gradient(GradContext& c) {
  const Output flow = c.output_grad();
  const GradientArray grads = gradient_array(c, flow);
  c.set_input_grad(2, NodeBuilder(same_version(c, "TensorArrayGather"))
                          .input(grads.handle)
                          .input(c.input(1))
                          .input(grads.flow)
                          .attr("dtype", c.input(2).dtype())
                          .output());
  c.set_input_grad(3, flow);
}

void unpack_gradient(GradContext& c) {
  const Output flow = c.output_grad();
  const GradientArray grads = gradient_array(c, flow);
  c.set_input_grad(
      1,
      NodeBuilder("TensorArrayPack").input(grads.handle).input(grads.flow).attr("dtype", c.input(1).dtype()).output());
  c.set_input_grad(2, flow);
}

void write_rows(KernelContext& c, TensorArrayState& array, int input, std::span<const int32_t> indices) {
  RowsInput rows(c, input, c.shape(input)[0]);
  std::vector<Tensor> values;
  for (size_t i = 0; i < indices.size(); ++i) values.push_back(rows.row(static_cast<int64_t>(i)));
  array.write(indices, values);
}

void scatter(KernelContext& c) {
  TensorArrayState& array = tensor_array(c);
  array.require_dtype(c.dtype(2), true);
  std::span<const int32_t> indices(c.input<int32_t>(1), static_cast<size_t>(c.elements(1)));
  const int32_t largest = indices.empty() ? -1 : *std::max_element(indices.begin(), indices.end());
  if (const int32_t size = array.size(); largest >= size && !array.grows()) {
    throw invalid_argument("Max scatter index must be < array size ({} vs. {})", largest, size);
  }
  write_rows(c, array, 2, indices);
  *c.output<float>() = c.scalar<float>(3);
}

void unpack(KernelContext& c) {
  TensorArrayState& array = tensor_array(c);
  array.require_dtype(c.dtype(1), true);
  const int64_t count = c.shape(1)[0];
  const int32_t size = array.size();
  if (count != size && !(array.grows() && count > size)) {
    throw invalid_argument("Input value must have first dimension equal to the array size ({} vs. {})", count, size);
  }
  std::vector<int32_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  write_rows(c, array, 1, all);
  array.mark_size(static_cast<int32_t>(count));
  *c.output<float>() = c.scalar<float>(2);
}

OpDef row(const ArrayVersion& version) {
  return array_row(version, {.name = version.name,
                             .outputs = "flow_out:float",
                             .attrs = "T:type",
                             .host = "indices",
                             .infer = infer_scatter,
                             .gradient = scatter_gradient,
                             .cpu = {.select = kernel_any<scatter>}});
}

}  // namespace

OpDef tensor_array_scatter_op() {
  return row({"TensorArrayScatter", "handle:Ref(string); indices:int32; value:T; flow_in:float", "deprecated@19"});
}
OpDef tensor_array_scatter_v2_op() {
  return row({"TensorArrayScatterV2", "handle:string; indices:int32; value:T; flow_in:float", "deprecated@26"});
}
OpDef tensor_array_scatter_v3_op() {
  return row({"TensorArrayScatterV3", "handle:resource; indices:int32; value:T; flow_in:float", "stateful"});
}
OpDef tensor_array_unpack_op() {
  return array_row({"TensorArrayUnpack", "handle:Ref(string); value:T; flow_in:float", "deprecated@20"},
                   {.name = "TensorArrayUnpack",
                    .outputs = "flow_out:float",
                    .attrs = "T:type",
                    .infer = infer_unpack,
                    .gradient = unpack_gradient,
                    .cpu = {.select = kernel_any<unpack>}});
}

}  // namespace weir::ops
