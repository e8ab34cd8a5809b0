#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/ragged.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

int ragged_rank(const AttrMap& attrs) { return static_cast<int>(attrs.get<int64_t>("RAGGED_RANK")); }

void infer(InferContext& c) {
  const int rank = ragged_rank(c.attrs());
  for (int i = 0; i < rank; ++i) c.require_rank(i, 1);
  const Shape& values = c.input(rank);
  int64_t dims = kUnknown;
  if (values.has_rank()) {
    if (values.rank() < 1) throw invalid_argument("Shape must be at least rank 1 but is rank 0");
    dims = rank + values.rank();
  }
  c.set_output(0, Shape{kUnknown, dims});
  c.set_output(1, Shape{kUnknown});
  c.set_output(2, Shape{dims});
}

void gradient(GradContext& c) {
  const int values = ragged_rank(c.op().attrs());
  c.set_input_grad(values, reshape(c.output_grad(1), shape(c.input(values))));
}

void cpu(KernelContext& c) {
  const int rank = ragged_rank(c.node().attrs());
  const Tensor values = c.input_tensor(rank);
  const Shape& shape = values.shape();
  const auto nested = read_nested_splits(c, 0, rank, shape[0]);
  if (nested.back().back() != shape[0]) {
    throw invalid_argument(
        "Final value of the last element in rt_nested_splits must equal the number of rows, {}; got {}", shape[0],
        nested.back().back());
  }
  const int dims = rank + shape.rank();
  Tensor indices(DType::Int64, Shape{values.elements(), dims}), sizes(DType::Int64, Shape{dims});
  auto* size = sizes.mutable_data<int64_t>();
  size[0] = static_cast<int64_t>(nested[0].size()) - 1;
  for (int i = 0; i < rank; ++i) {
    size[i + 1] = 0;
    const auto& splits = nested[static_cast<size_t>(i)];
    for (size_t r = 0; r + 1 < splits.size(); ++r) size[i + 1] = std::max(size[i + 1], splits[r + 1] - splits[r]);
  }
  for (int i = 1; i < shape.rank(); ++i) size[rank + i] = shape[i];
  auto* out = indices.mutable_data<int64_t>();
  std::vector<int64_t> row(static_cast<size_t>(rank), 0);
  const int64_t width = shape[0] == 0 ? 0 : values.elements() / shape[0];
  std::vector<int64_t> at(static_cast<size_t>(rank + 1));
  for (int64_t i = 0; i < shape[0]; ++i) {
    // From the innermost dimension out: the row that holds the element, and its place there.
    int64_t element = i;
    for (int d = rank - 1; d >= 0; --d) {
      auto& current = row[static_cast<size_t>(d)];
      const auto& splits = nested[static_cast<size_t>(d)];
      while (splits[static_cast<size_t>(current + 1)] <= element) ++current;
      at[static_cast<size_t>(d + 1)] = element - splits[static_cast<size_t>(current)];
      element = current;
    }
    at[0] = element;
    for (int64_t j = 0; j < width; ++j) {
      for (int64_t index : at) *out++ = index;
      int64_t rest = j;
      for (int d = shape.rank() - 1; d >= 1; --d) {
        out[d - 1] = rest % shape[d];
        rest /= shape[d];
      }
      out += shape.rank() - 1;
    }
  }
  c.set_output(0, std::move(indices));
  c.set_output(1, values.reshaped(Shape{values.elements()}));
  c.set_output(2, std::move(sizes));
}

}  // namespace

OpDef ragged_tensor_to_sparse_op() {
  return {.name = "RaggedTensorToSparse",
          .inputs = "rt_nested_splits:RAGGED_RANK*Tsplits; rt_dense_values:T",
          .outputs = "sparse_indices:int64; sparse_values:T; sparse_dense_shape:int64",
          .attrs = "RAGGED_RANK:int>=1; T:type; Tsplits:type{int32,int64}=int64",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .gives_outputs = true}};
}

}  // namespace weir::ops
