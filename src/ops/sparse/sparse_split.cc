#include "base/errors.h"
#include "ops/array/element_type.h"
#include "ops/sparse/sparse.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  const int64_t rank = infer_sparse_input(c, 1);
  const int n = c.outputs() / 3;
  for (int i = 0; i < n; ++i) {
    c.set_output(i, Shape{kUnknown, rank});
    c.set_output(n + i, Shape{kUnknown});
    c.set_output(2 * n + i, Shape{rank});
  }
}

// The first parts are longer by one when the dimension cannot be split evenly.
void cpu(KernelContext& c) {
  const Coordinates from(c, 1, 3);
  const int n = c.outputs() / 3;
  int64_t axis = c.scalar<int64_t>(0);
  if (axis < -from.rank || axis >= from.rank) {
    throw invalid_argument("Input split_dim should be between 0 and rank ({}), got {}", from.rank, axis);
  }
  if (axis < 0) axis += from.rank;
  from.checked_elements();
  const int64_t size = from.dims[axis];
  if (n > size)
    throw invalid_argument("Input num_split should be between 1 and the splitting dimension size ({}), got {}", size,
                           n);
  const int64_t length = size / n, longer = size % n;
  const auto part_of = [&](int64_t x) {
    return x < longer * (length + 1) ? x / (length + 1) : longer + (x - longer * (length + 1)) / length;
  };
  const auto begin_of = [&](int64_t part) { return part * length + std::min(part, longer); };
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(n)), kept(static_cast<size_t>(n));
  for (int64_t i = 0; i < from.count; ++i) {
    const int64_t part = part_of(from.row(i)[axis]);
    auto& to = rows[static_cast<size_t>(part)];
    to.insert(to.end(), from.row(i), from.row(i) + from.rank);
    to[to.size() - static_cast<size_t>(from.rank - axis)] -= begin_of(part);
    kept[static_cast<size_t>(part)].push_back(i);
  }
  for (int part = 0; part < n; ++part) {
    const auto& values_of = kept[static_cast<size_t>(part)];
    const auto count = static_cast<int64_t>(values_of.size());
    Tensor values(c.dtype(2), Shape{count});
    with_element_type(c.dtype(2), [&]<class T>(T) {
      auto* to = static_cast<T*>(values.mutable_raw());
      for (int64_t i : values_of) *to++ = c.input<T>(2)[i];
    });
    c.set_output(part, index_tensor(rows[static_cast<size_t>(part)], count, from.rank));
    c.set_output(n + part, std::move(values));
    std::copy_n(from.dims, from.rank, c.output<int64_t>(2 * n + part));
    c.output<int64_t>(2 * n + part)[axis] = part < longer ? length + 1 : length;
  }
}

}  // namespace

OpDef sparse_split_op() {
  return {.name = "SparseSplit",
          .inputs = "split_dim:int64; indices:int64; values:T; shape:int64",
          .outputs = "output_indices:num_split*int64; output_values:num_split*T; output_shape:num_split*int64",
          .attrs = "num_split:int>=1; T:type",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_moving<cpu>}};
}

}  // namespace weir::ops
