#include <numeric>

#include "base/errors.h"
#include "ops/list/tensor_array_versions.h"
#include "ops/list/tensor_list.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape& value = c.input(1);
  if (value.has_rank() && value.rank() == 0) {
    throw invalid_argument("Expected value to be at least a vector, but received shape: []");
  }
  if (c.input(2).has_rank() && c.input(2).rank() != 1) {
    throw invalid_argument("Expected lengths to be a vector, received shape: {}", c.input(2).str());
  }
  c.require_scalar(3);
  c.set_output(0, Shape{});
}

void gradient(GradContext& c) {
  const Output flow = c.output_grad();
  const GradientArray grads = gradient_array(c, flow);
  c.set_input_grad(1, NodeBuilder(same_version(c, "TensorArrayConcat"))
                          .input(grads.handle)
                          .input(grads.flow)
                          .attr("dtype", c.input(1).dtype())
                          .output());
  c.set_input_grad(3, flow);
}

void cpu(KernelContext& c) {
  TensorArrayState& array = tensor_array(c);
  array.require_dtype(c.dtype(1), true);
  std::span<const int64_t> lengths(c.input<int64_t>(2), static_cast<size_t>(c.elements(2)));
  int64_t total = 0;
  for (int64_t length : lengths) {
    if (length < 0) throw invalid_argument("Expected lengths to be non-negative; one is {}", length);
    total = checked_add(total, length);
  }
  if (total != c.shape(1)[0]) {
    throw invalid_argument(
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and value's shape is: {}",
        total, c.shape(1).str());
  }
  const auto count = static_cast<int64_t>(lengths.size());
  const int32_t size = array.size();
  if (count != size && !(array.grows() && count > size)) {
    throw invalid_argument(
        "TensorArray's size is not equal to the size of lengths ({} vs. {}), and the TensorArray is "
        "not marked as dynamically resizeable",
        size, count);
  }
  RowsInput rows(c, 1, count);
  std::vector<Tensor> pieces;
  int64_t begin = 0;
  for (int64_t length : lengths) {
    pieces.push_back(rows.rows(begin, length));
    begin += length;
  }
  std::vector<int32_t> all(lengths.size());
  std::iota(all.begin(), all.end(), 0);
  array.write(all, pieces);
  array.mark_size(static_cast<int32_t>(count));
  *c.output<float>() = c.scalar<float>(3);
}

OpDef row(const ArrayVersion& version) {
  return array_row(version, {.name = version.name,
                             .outputs = "flow_out:float",
                             .attrs = "T:type",
                             .host = "lengths",
                             .infer = infer,
                             .gradient = gradient,
                             .cpu = {.select = kernel_any<cpu>}});
}

}  // namespace

OpDef tensor_array_split_op() {
  return row({"TensorArraySplit", "handle:Ref(string); value:T; lengths:int64; flow_in:float", "deprecated@16"});
}
OpDef tensor_array_split_v2_op() {
  return row({"TensorArraySplitV2", "handle:string; value:T; lengths:int64; flow_in:float", "deprecated@26"});
}
OpDef tensor_array_split_v3_op() {
  return row({"TensorArraySplitV3", "handle:resource; value:T; lengths:int64; flow_in:float", "stateful"});
}

}  // namespace weir::ops
