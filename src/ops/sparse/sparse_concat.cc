#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/element_type.h"
#include "ops/sparse/sparse.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

int parts(int inputs) { return inputs / 3; }

void infer(InferContext& c) {
  const int n = parts(c.inputs());
  int64_t rank = kUnknown, count = 0;
  for (int i = 0; i < n; ++i) {
    c.require_rank(i, 2);
    c.require_rank(n + i, 1);
    c.require_rank(2 * n + i, 1);
    const Shape &indices = c.input(i), &values = c.input(n + i), &shape = c.input(2 * n + i);
    for (const int64_t known : {indices.has_rank() ? indices[1] : kUnknown, shape.has_rank() ? shape[0] : kUnknown}) {
      if (known == kUnknown) continue;
      if (rank != kUnknown && rank != known) {
        throw invalid_argument("Ranks of all input tensors must match: expected {} but got {} at position {}", rank,
                               known, i);
      }
      rank = known;
    }
    const int64_t one = indices.has_rank() ? indices[0] : kUnknown;
    if (one != kUnknown && values.has_rank() && values[0] != kUnknown && values[0] != one) {
      throw invalid_argument("Input {} has {} values at {} indices", i, values[0], one);
    }
    count = one == kUnknown || count == kUnknown ? kUnknown : checked_add(count, one);
  }
  if (rank != kUnknown) {
    const int64_t axis = c.attr<int64_t>("concat_dim");
    if (axis < -rank || axis >= rank) {
      throw invalid_argument("Concat dimension must be in range [{}, {}), got {}", -rank, rank, axis);
    }
  }
  set_sparse_output(c, 0, count, rank);
}

// Values stay in the order of the dense tensor: those of all parts are merged along the dimension.
void cpu(KernelContext& c) {
  const int n = parts(c.inputs());
  const int64_t rank = c.shape(0)[1], axis = wrap_axis(c.node().attr<int64_t>("concat_dim"), static_cast<int>(rank));
  struct Row {
    int part;
    int64_t at;
  };
  std::vector<Row> order;
  std::vector<int64_t> rows, sizes;
  for (int i = 0; i < n; ++i) {
    const Coordinates part(c, i, 2 * n + i);
    if (i == 0) sizes.assign(part.dims, part.dims + rank);
    for (int64_t d = 0; d < rank; ++d) {
      if (i > 0 && d != axis && sizes[static_cast<size_t>(d)] != part.dims[d]) {
        throw invalid_argument("Input shapes must match: expected {} for dimension {} but got {} at position {}",
                               sizes[static_cast<size_t>(d)], d, part.dims[d], i);
      }
    }
    const int64_t before = i == 0 ? 0 : sizes[static_cast<size_t>(axis)];
    if (i > 0) sizes[static_cast<size_t>(axis)] = checked_add(before, part.dims[axis]);
    for (int64_t j = 0; j < part.count; ++j) {
      order.push_back({i, static_cast<int64_t>(order.size())});
      rows.insert(rows.end(), part.row(j), part.row(j) + rank);
      rows[rows.size() - static_cast<size_t>(rank - axis)] += before;
    }
  }
  std::vector<int64_t> first(static_cast<size_t>(n) + 1);
  for (int i = 0; i < n; ++i) first[static_cast<size_t>(i) + 1] = first[static_cast<size_t>(i)] + c.elements(n + i);
  std::stable_sort(order.begin(), order.end(), [&](const Row& a, const Row& b) {
    return Coordinates::compare(rows.data() + a.at * rank, rows.data() + b.at * rank, rank) < 0;
  });
  for (size_t i = 0; i < order.size(); ++i) {
    std::copy_n(rows.data() + order[i].at * rank, rank, c.output<int64_t>(0) + static_cast<int64_t>(i) * rank);
  }
  with_element_type(c.dtype(n), [&]<class T>(T) {
    for (size_t i = 0; i < order.size(); ++i) {
      const auto [part, at] = order[i];
      c.output<T>(1)[i] = c.input<T>(n + part)[at - first[static_cast<size_t>(part)]];
    }
  });
  std::copy(sizes.begin(), sizes.end(), c.output<int64_t>(2));
}

}  // namespace

OpDef sparse_concat_op() {
  return {.name = "SparseConcat",
          .inputs = "indices:N*int64; values:N*T; shapes:N*int64",
          .outputs = "output_indices:int64; output_values:T; output_shape:int64",
          .attrs = "concat_dim:int; N:int>=2; T:type",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops
