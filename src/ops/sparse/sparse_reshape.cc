#include "base/errors.h"
#include "ops/sparse/sparse.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 2);
  c.require_rank(1, 1);
  c.require_rank(2, 1);
  const Shape &indices = c.input(0), &from = c.input(1), &to = c.input(2);
  if (indices.has_rank() && from.has_rank() && indices[1] != kUnknown && from[0] != kUnknown && indices[1] != from[0]) {
    throw invalid_argument("indices of shape {} for a tensor of rank {}", indices.str(), from[0]);
  }
  const int64_t rank = to.has_rank() ? to[0] : kUnknown;
  c.set_output(0, Shape{indices.has_rank() ? indices[0] : kUnknown, rank});
  c.set_output(1, Shape{rank});
}

// The wanted sizes, -1 filled in.
std::vector<int64_t> target(KernelContext& c, const Coordinates& from) {
  const int64_t dense = from.checked_elements(), rank = c.elements(2);
  const int64_t* wanted = c.input<int64_t>(2);
  std::vector<int64_t> dims(wanted, wanted + rank);
  int64_t product = 1, unknown = -1;
  for (int64_t d = 0; d < rank; ++d) {
    if (wanted[d] == -1) {
      if (unknown >= 0) throw invalid_argument("only one output dimension may be -1, not both {} and {}", unknown, d);
      unknown = d;
      continue;
    }
    if (wanted[d] < 0) throw invalid_argument("size {} must be non-negative, not {}", d, wanted[d]);
    product = checked_multiply(product, wanted[d]);
  }
  const std::string shape = shape_text(from.dims, from.rank), asked = shape_text(wanted, rank);
  if (unknown >= 0) {
    if (product <= 0) {
      throw invalid_argument(
          "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are "
          "non-zero");
    }
    if (dense % product != 0) {
      throw invalid_argument(
          "Input to reshape is a SparseTensor with {} dense values, but the requested shape requires a multiple of {}. "
          "input_shape={} output_shape={}",
          dense, product, shape, asked);
    }
    dims[static_cast<size_t>(unknown)] = dense / product;
  } else if (product != dense) {
    throw invalid_argument(
        "Input to reshape is a tensor with {} dense values, but the requested shape has {}. input_shape={} "
        "output_shape={}",
        dense, product, shape, asked);
  }
  return dims;
}

void cpu(KernelContext& c) {
  const Coordinates from(c, 0, 1, Coordinates::Rows::kAny);
  const std::vector<int64_t> dims = target(c, from);
  std::copy(dims.begin(), dims.end(), c.output<int64_t>(1));
  const auto rank = static_cast<int64_t>(dims.size());
  // Rows outside of the shape stay outside, as in TensorFlow: unchanged in the same shape, else somewhere in the first
  // dimension.
  if (std::equal(dims.begin(), dims.end(), from.dims, from.dims + from.rank)) {
    std::copy_n(from.rows, from.count * rank, c.output<int64_t>(0));
    return;
  }
  if (from.count > 0 && from.checked_elements() == 0) {
    throw invalid_argument("a tensor of shape {} has no elements, and {} indices", shape_text(from.dims, from.rank),
                           from.count);
  }
  for (int64_t i = 0; i < from.count; ++i) {
    uint64_t place = 0;  // may wrap around
    for (int64_t d = 0; d < from.rank; ++d) {
      place = place * static_cast<uint64_t>(from.dims[d]) + static_cast<uint64_t>(from.row(i)[d]);
    }
    auto at = static_cast<int64_t>(place);
    int64_t* row = c.output<int64_t>(0) + i * rank;
    for (int64_t d = rank - 1; d > 0; --d) {
      row[d] = at % dims[static_cast<size_t>(d)];
      at /= dims[static_cast<size_t>(d)];
    }
    if (rank > 0) row[0] = at;
  }
}

}  // namespace

OpDef sparse_reshape_op() {
  return {.name = "SparseReshape",
          .inputs = "input_indices:int64; input_shape:int64; new_shape:int64",
          .outputs = "output_indices:int64; output_shape:int64",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>}};
}

}  // namespace weir::ops
